#!/bin/sh
# Runs the bundled tests on built gfx1151 code objects, on the CPU: sim.sh LOOMC.
# GFXEMU names the folder of the emulator; a copy beside the checkout is found too.
# Without it, or without a compiler, this says so and passes.
set -eu
loomc=$1
for d in "${GFXEMU:-}" ../shared/tools/gfx-emu; do
	if [ -n "$d" ] && [ -f "$d/gfxemu.py" ]; then
		GFXEMU=$(cd "$d" && pwd)
		export GFXEMU
		break
	fi
	GFXEMU=
done
if [ -z "$GFXEMU" ]; then
	echo "sim: SKIPPED: no gfx-emu (set GFXEMU to its folder)"
	exit 0
fi
for tool in python3 clang-19 llvm-objdump-19; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "sim: SKIPPED: no $tool"
		exit 0
	fi
done
shift
"$loomc" test --device gfxemu "$@"
