package runtime

import (
	"errors"

	"github.com/loomc/loomc/hip"
)

// The messages between Process and the child that serves it. Both are of one
// program, so their form is nobody else's business.

type request struct {
	Op string // "load" or "launch"

	// load: the payload is the image.
	Symbol string  `json:",omitempty"`
	Params []Param `json:",omitempty"`

	// launch: the payload is the contents of the memory that is sent.
	Kernel   int        `json:",omitempty"`
	Geometry Geometry   `json:",omitzero"`
	Memory   []place    `json:",omitempty"`
	Args     []argument `json:",omitempty"`
	Measure  *Measure   `json:",omitempty"`
}

// place is memory that a launch uses.
type place struct {
	Size   int
	Send   bool `json:",omitempty"` // its contents are in the payload
	Random bool `json:",omitempty"`
	Seed   uint64
	Return bool `json:",omitempty"` // its contents are wanted back
}

type argument struct {
	Memory int    // index; -1 for a value
	Offset int    `json:",omitempty"`
	Need   int    `json:",omitempty"`
	Why    string `json:",omitempty"`
	Value  []byte `json:",omitempty"`
}

type response struct {
	Error    *wireError `json:",omitempty"`
	Hello    *hello     `json:",omitempty"`
	Kernel   int        `json:",omitempty"`
	Measured *Measured  `json:",omitempty"`
}

// hello is what the child says about itself when it has opened the device.
type hello struct {
	Library, Version, Override string
	Device                     DeviceInfo
}

// wireError carries an error over the connection: its text, and the typed error at
// its end, for those who ask.
type wireError struct {
	Text     string
	Missing  *hip.MissingError  `json:",omitempty"`
	Mismatch *hip.MismatchError `json:",omitempty"`
	Driver   *Error             `json:",omitempty"`
	Argument *ArgumentError     `json:",omitempty"`
}

func packError(err error) *wireError {
	if err == nil {
		return nil
	}
	w := &wireError{Text: err.Error()}
	errors.As(err, &w.Missing)
	errors.As(err, &w.Mismatch)
	errors.As(err, &w.Driver)
	errors.As(err, &w.Argument)
	return w
}

// unpack returns the error as it was on the other side, as far as it goes.
func (w *wireError) unpack() error {
	if w == nil {
		return nil
	}
	e := &relayed{text: w.Text}
	switch {
	case w.Missing != nil:
		e.cause = w.Missing
	case w.Mismatch != nil:
		e.cause = w.Mismatch
	case w.Argument != nil:
		e.cause = w.Argument
	case w.Driver != nil:
		e.cause = w.Driver
	}
	return e
}

// relayed is an error of the child.
type relayed struct {
	text  string
	cause error
}

func (e *relayed) Error() string { return e.text }
func (e *relayed) Unwrap() error { return e.cause }
