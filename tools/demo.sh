#!/bin/sh
# The main job, end to end: tools/demo.sh LOOMC ARCH OUT links the bundled corpus
# at HEAD (the embedded copy when this tree is no git checkout), builds it for
# ARCH into OUT and prints the table.
set -eu
loomc=$1 arch=$2 out=$3

if git -C . rev-parse -q --verify HEAD >/dev/null 2>&1 && [ "$(git rev-parse --show-prefix)" = "" ] &&
	git cat-file -e HEAD:corpus/kernels/manifest.json 2>/dev/null; then
	pin=$(git rev-parse HEAD)
	echo "== loomc link --pin $pin --corpus corpus/kernels"
	"$loomc" link --pin "$pin" --corpus corpus/kernels
	set -- --pin "$pin" --corpus corpus/kernels
else
	echo "== loomc link (the embedded corpus; this tree is no git checkout)"
	"$loomc" link
	set --
fi
echo
echo "== loomc build --arch $arch -o $out"
"$loomc" build "$@" --arch "$arch" -o "$out"
