#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The instruction decoder against a disassembler, on libraries and programs of
# this machine. Needs python3-capstone and python3-pyelftools.
# Run by ../run.sh decoder.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"

# the interpreter that has the two modules: Debian's own, or another first in PATH
python=
for p in /usr/bin/python3 python3; do
	if "$p" -c 'import capstone, elftools' 2>/dev/null; then
		python=$p
		break
	fi
done
if [ -z "$python" ]; then
	skip "decoder: there is no python3 with capstone and elftools (apt install python3-capstone python3-pyelftools)"
	summary decoder
	exit
fi

libraries=$(ldconfig -p | awk '$1 ~ /^(libc|libm|libcrypto|libstdc\+\+|libgomp)\.so\.[0-9]+$/ { print $NF }' |
	grep -E 'x86_64|lib64|^/lib/' | sort -u)
cc1=$(gcc -print-prog-name=cc1 2>/dev/null)
[ -e "$cc1" ] || { skip "cc1: not found"; cc1=; }
case $libraries in
*libc.so*libm.so*) ;;
*) fail "libc and libm were not found: $libraries" ;;
esac
for name in libcrypto libstdc++; do
	case $libraries in *$name*) ;; *) skip "$name: not found" ;; esac
done

${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -I"$tests/.." \
	-o "$work/x86rw.so" "$tests/../preload/faults/x86rw.c" || { fail "x86rw.c does not build"; summary decoder; exit 1; }
# shellcheck disable=SC2086
if timeout 900 "$python" -B "$tests/decoder/decoder.py" "$work/x86rw.so" $libraries $cc1; then
	pass "decoder"
else
	fail "decoder"
fi

# The lengths of instructions, by which the system call in an old fork() is found
libc=$(echo "$libraries" | grep -m 1 '/libc\.so')
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -shared -fPIC -I"$tests/.." -o "$work/x86code.so" "$tests/../common/x86code.c" -ldl &&
	timeout 900 "$python" -B "$tests/decoder/lengths.py" "$work/x86code.so" "$libc" && pass "lengths of instructions" || fail "lengths of instructions"

# The decoder for arm64 is C that runs anywhere: words of all forms instead of programs. With more instructions and with
# programs: ../arm64.sh.
${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -I"$tests/.." -o "$work/arm64rw.so" "$tests/../preload/faults/arm64rw.c" &&
	timeout 900 "$python" -B "$tests/decoder/arm64.py" "$work/arm64rw.so" && pass "decoder for arm64" || fail "decoder for arm64"
summary decoder
