// Package pin keeps an engine's lock file, loom.lock: which commit of which
// repository its kernel corpus is taken from, and what was accepted when the pin
// moved.
//
//	{
//	  "schema": "loomc-lock-v1",
//	  "repository": "https://example.com/engine-kernels.git",  // where to clone from; for people
//	  "corpus": "kernels/loom-libs",                           // directory inside it
//	  "revision": "8f3c2d1…",                                  // full object id of the commit
//	  "tree": "…",                                             // object id of the directory at that commit
//	  "digest": "…",                                           // loomc's digest of the files
//	  "accepted": [{"rule": "body-changed", "findings": 3, "reason": "compared on gfx1151", "from": "…", "to": "…"}]
//	}
//
// Reading order: lock.go (the file), history.go (what git says about two
// commits), status.go (Check: lock against repository), bump.go (Bump: moving the
// pin).
package pin
