package hip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A code object is a 64-bit little-endian ELF shared object for machine 224. The
// reader takes from it what loomc needs and nothing more: the header, the notes
// and, for the kernel descriptors, the dynamic symbols. It is written out here,
// over a byte slice, because every offset in it may be a lie.

const (
	elfMachineAMDGPU = 224
	elfOSABIHSA      = 64
	elfTypeDyn       = 3

	segmentNote     = 4
	sectionNote     = 7
	sectionDynsym   = 11
	noteMetadata    = 32 // NT_AMDGPU_METADATA, owner "AMDGPU"
	maxHeaders      = 4096
	maxNoteBytes    = 64 << 20
	sectionHeaderSz = 64
	programHeaderSz = 56
	symbolSz        = 24
)

type elfFile struct {
	data       []byte
	typ        uint16
	osabi      byte
	abiVersion byte
	flags      uint32
	segments   []elfRange
	sections   []elfSection
}

type elfRange struct {
	typ  uint32
	data []byte
}

type elfSection struct {
	typ  uint32
	link uint32
	data []byte
}

var le = binary.LittleEndian

// slice returns data[off:off+size] or an error; it never overflows.
func slice(data []byte, off, size uint64, what string) ([]byte, error) {
	if off > uint64(len(data)) || size > uint64(len(data))-off {
		return nil, fmt.Errorf("%s at offset %d, %d bytes, lies outside the file of %d bytes", what, off, size, len(data))
	}
	return data[off : off+size], nil
}

func readELF(data []byte) (*elfFile, error) {
	switch {
	case bytes.HasPrefix(data, []byte("__CLANG_OFFLOAD_BUNDLE__")), bytes.HasPrefix(data, []byte("CCOB")):
		return nil, errors.New("this is an offload bundle, not a code object: compile with --no-gpu-bundle-output, or unpack it with clang-offload-bundler")
	case bytes.HasPrefix(data, []byte("BC\xc0\xde")):
		return nil, errors.New("this is LLVM bitcode, not a code object: compile without -emit-llvm and -fgpu-rdc")
	case !bytes.HasPrefix(data, []byte("\x7fELF")):
		return nil, errors.New("no ELF signature: not a code object")
	case len(data) < 64:
		return nil, fmt.Errorf("file of %d bytes is too short for an ELF header", len(data))
	case data[4] != 2 || data[5] != 1:
		return nil, errors.New("not a 64-bit little-endian ELF file")
	}
	if m := le.Uint16(data[18:]); m != elfMachineAMDGPU {
		return nil, fmt.Errorf("ELF machine is %d, want %d (AMD GPU): the file holds host code", m, elfMachineAMDGPU)
	}
	f := &elfFile{data: data, typ: le.Uint16(data[16:]), osabi: data[7], abiVersion: data[8], flags: le.Uint32(data[48:])}

	phoff, shoff := le.Uint64(data[32:]), le.Uint64(data[40:])
	phsize, phnum := uint64(le.Uint16(data[54:])), uint64(le.Uint16(data[56:]))
	shsize, shnum := uint64(le.Uint16(data[58:])), uint64(le.Uint16(data[60:]))
	if phnum > maxHeaders || shnum > maxHeaders {
		return nil, fmt.Errorf("%d program and %d section headers are more than a code object has", phnum, shnum)
	}
	if phnum > 0 {
		if phsize != programHeaderSz {
			return nil, fmt.Errorf("program headers of %d bytes, want %d", phsize, programHeaderSz)
		}
		table, err := slice(data, phoff, phnum*phsize, "program header table")
		if err != nil {
			return nil, err
		}
		for i := range phnum {
			h := table[i*phsize:]
			r := elfRange{typ: le.Uint32(h)}
			if r.data, err = slice(data, le.Uint64(h[8:]), le.Uint64(h[32:]), fmt.Sprintf("segment %d", i)); err != nil {
				return nil, err
			}
			f.segments = append(f.segments, r)
		}
	}
	if shnum > 0 {
		if shsize != sectionHeaderSz {
			return nil, fmt.Errorf("section headers of %d bytes, want %d", shsize, sectionHeaderSz)
		}
		table, err := slice(data, shoff, shnum*shsize, "section header table")
		if err != nil {
			return nil, err
		}
		for i := range shnum {
			h := table[i*shsize:]
			s := elfSection{typ: le.Uint32(h[4:]), link: le.Uint32(h[40:])}
			if s.typ != 0 && s.typ != 8 { // NULL and NOBITS hold no bytes
				if s.data, err = slice(data, le.Uint64(h[24:]), le.Uint64(h[32:]), fmt.Sprintf("section %d", i)); err != nil {
					return nil, err
				}
			}
			f.sections = append(f.sections, s)
		}
	}
	return f, nil
}

// metadata returns the bytes of the AMDGPU metadata note. Segments are looked at
// first because that is what a loader sees.
func (f *elfFile) metadata() ([]byte, error) {
	var areas [][]byte
	for _, s := range f.segments {
		if s.typ == segmentNote {
			areas = append(areas, s.data)
		}
	}
	for _, s := range f.sections {
		if s.typ == sectionNote {
			areas = append(areas, s.data)
		}
	}
	for _, a := range areas {
		desc, err := findNote(a)
		if err != nil {
			return nil, err
		}
		if desc != nil {
			return desc, nil
		}
	}
	return nil, errors.New("no AMDGPU metadata note: a code object of version 2 or older, or not produced by a compiler")
}

func findNote(b []byte) ([]byte, error) {
	for len(b) >= 12 {
		namesz, descsz, typ := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		nameEnd := 12 + (namesz+3)&^3
		end := nameEnd + (descsz+3)&^3
		if nameEnd > uint64(len(b)) || nameEnd+descsz > uint64(len(b)) || descsz > maxNoteBytes {
			return nil, errors.New("a note runs past the end of its segment")
		}
		name := string(bytes.TrimRight(b[12:12+namesz], "\x00"))
		if typ == noteMetadata && name == "AMDGPU" {
			return b[nameEnd : nameEnd+descsz], nil
		}
		b = b[min(end, uint64(len(b))):]
	}
	return nil, nil
}

// missingSymbol returns one of the wanted names that is not a defined dynamic
// symbol, or "" when all are or when the file has no symbol table to ask.
func (f *elfFile) missingSymbol(wanted []string) (string, error) {
	for _, s := range f.sections {
		if s.typ != sectionDynsym {
			continue
		}
		if uint64(s.link) >= uint64(len(f.sections)) {
			return "", errors.New("the dynamic symbol table names a string table that is not there")
		}
		strs := f.sections[s.link].data
		open := make(map[string]bool, len(wanted))
		longest := 0
		for _, w := range wanted {
			open[w] = true
			longest = max(longest, len(w))
		}
		for b := s.data; len(b) >= symbolSz; b = b[symbolSz:] {
			name, section := le.Uint32(b), le.Uint16(b[6:])
			if section == 0 {
				continue // undefined
			}
			if uint64(name) >= uint64(len(strs)) {
				return "", errors.New("a dynamic symbol's name lies outside its string table")
			}
			rest := strs[name:]
			rest = rest[:min(len(rest), longest+1)]
			if n := bytes.IndexByte(rest, 0); n >= 0 {
				delete(open, string(rest[:n]))
			}
		}
		for _, w := range wanted {
			if open[w] {
				return w, nil
			}
		}
		return "", nil
	}
	return "", nil
}
