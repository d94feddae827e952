// Package corpustest measures how far loomc's front end agrees with the test
// corpus of another implementation of the language.
//
// A corpus file (*.loom-test) holds cases separated by lines "// ====". The
// first line of a file, and of a case that differs, names what to do:
//
//	// RUN: roundtrip       parse and print; expected output follows "// ----",
//	                        or is the input itself
//	// RUN: verify          parse and verify; every diagnostic is announced
//
// A diagnostic is announced by a comment relative to its own line, with a
// domain, a code and fragments of the message:
//
//	// ERROR@+1: TYPE/003 "lhs" "index"
//
// The wording of messages is each implementation's own, so only line and code
// are compared. A missing code or domain matches any.
package corpustest
