package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A repeated build leaves equal files alone and replaces all others.
func TestWriteChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.co")
	stat := func() os.FileInfo {
		t.Helper()
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	write := func(text string) os.FileInfo {
		t.Helper()
		if err := writeChanged(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("file holds %q, %v; want %q", got, err, text)
		}
		return stat()
	}
	first := write("one")
	if !os.SameFile(first, write("one")) {
		t.Error("a file that holds these bytes already was written again")
	}
	if os.SameFile(first, write("two")) {
		t.Error("a file of the same length and other bytes was not replaced by rename")
	}
	write("longer")
}
