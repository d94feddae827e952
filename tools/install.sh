#!/bin/sh
# Installs the compiler that building code objects needs, where that is possible:
# Debian's or Ubuntu's clang-19 and lld-19, as root or with password-less sudo.
# Otherwise it says what to install and goes on: linking, checking, emitting and
# running on the CPU need none of it.
set -u

have() { command -v "$1" >/dev/null 2>&1; }

need=""
have clang-19 || have amdclang++ || have hipcc || need="$need clang-19"
have ld.lld-19 || have ld.lld || [ -x /usr/lib/llvm-19/bin/ld.lld ] || have hipcc || need="$need lld-19"
have git || need="$need git"
[ -z "$need" ] && exit 0

if ! have apt-get; then
	echo "loomc: missing:$need. Install a clang 19 with the AMDGPU target and lld to build code objects." >&2
	exit 0
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	if have sudo && sudo -n true 2>/dev/null; then
		sudo="sudo -n"
	else
		echo "loomc: missing:$need. Run as root: apt-get install$need" >&2
		exit 0
	fi
fi
echo "loomc: installing$need"
log=$(mktemp)
if ! { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $need; } >"$log" 2>&1; then
	tail -n 5 "$log" >&2
	echo "loomc: could not install$need; building code objects will not work here" >&2
fi
rm -f "$log"
