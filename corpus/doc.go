// Package corpus answers two questions about a kernel corpus: which bytes is it
// made of, and what do its exports promise.
//
// # Where bytes come from
//
// Open turns Options into a Corpus: the files of a corpus directory, read once
// and kept in memory. They come from a git repository at a commit (a pin, read
// through the installed git without a checkout: git.go, pin.go), from a
// directory on disk, or from the corpus built into this program (embed.go).
// locate.go finds the directory with the manifest when the caller did not name
// it. WithOverride lays an engine's own files over a corpus.
//
// Every file is a diag.Source whose name says where its text was read, such as
// "8f3c2d1:kernels/ops/add.loom" for a pin, so that each later diagnostic names
// the text it talks about and `git show` accepts that name as it stands.
//
// # What exports promise
//
// A corpus carries manifest.json. decode.go reads it into a Manifest in which
// every record, field and list element knows its place in the file; check.go
// compares it with the files. Neither stops at the first problem: an export
// with a problem is marked (Export.Problem) and the rest stay usable.
//
// A Corpus does not change after it was made, and all of its methods are safe
// for concurrent use.
package corpus
