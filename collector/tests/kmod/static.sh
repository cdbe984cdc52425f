#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# static.sh [KERNEL-HEADERS [KERNEL-SOURCE]]: the kernel's own checkers on the module, those that are here:
#   sparse      needs headers: those that are given, of the running kernel, or that run.sh has unpacked
#   checkpatch  needs a source of the kernel: the one that is given, or that debug-kernel.sh has unpacked
#   coccinelle  the same, and spatch; only with --coccinelle in front, some minutes
# The last line is "N findings"; what cannot be asked is a note. A part of releng/check-static.sh.
set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
cocci=
[ "${1:-}" != --coccinelle ] || { cocci=yes; shift; }
# first PATH...: the first that exists
first() {
	local p
	for p; do
		[ -e "$p" ] && { readlink -f "$p"; return; }
	done
}
headers=$(first ${1:+"$1"} build/kmod/*/usr/src/linux-headers-*-amd64 "/lib/modules/$(uname -r)/build")
source=$(first ${2:+"$2"} build/kmod/debug/source)
out=build/static-module.txt
mkdir -p build
: > "$out"

if [ -n "$headers" ] && command -v sparse > /dev/null; then
	# Locks are lockdep's, at run time (debug-kernel.sh): sparse cannot follow one that is taken or not, and 6.18 has given its marks up.
	make -s -C collector/module BUILD="$PWD/build/kmod-sparse" KDIR="$headers" C=2 CF=-Wno-context > build/static-sparse.txt 2>&1 ||
		sed 's/^/error: /' build/static-sparse.txt >> "$out"
	grep -E ': (warning|error): ' build/static-sparse.txt >> "$out"
	echo "note: sparse with $(basename "$headers")"
else
	echo "SKIPPED: sparse on the module: it is not here, or no headers of a kernel"
fi

# Left out, each for a reason: probes stand behind their function without an empty line (LINE_SPACING); one line that sets two
# (MULTIPLE_ASSIGNMENTS); core.c is compiled in user space, too (NEW_TYPEDEFS, PREFER_KERNEL_TYPES); bytes are not bits
# (BIT_MACRO); what a kernel does not have is a macro of the same arguments (MACRO_ARG_UNUSED); a pointer to a lock is no
# lock (UNCOMMENTED_DEFINITION); a loop that ends with a return on one way (UNNECESSARY_ELSE); names that are pasted together (MACRO_ARG_REUSE).
if [ -n "$source" ] && command -v perl > /dev/null; then
	perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types --max-line-length=140 \
		--ignore LINE_SPACING,MULTIPLE_ASSIGNMENTS,NEW_TYPEDEFS,PREFER_KERNEL_TYPES,BIT_MACRO,MACRO_ARG_UNUSED,UNCOMMENTED_DEFINITION,UNNECESSARY_ELSE,MACRO_ARG_REUSE \
		-f collector/module/*.[ch] collector/module/compat/*.h 2>&1 | grep -v '^total: ' >> "$out"
	echo "note: checkpatch of $(make -s -C "$source" kernelversion)"
else
	echo "SKIPPED: checkpatch on the module: debug-kernel.sh unpacks a source of the kernel"
fi

if [ -n "$cocci" ] && [ -n "$source" ] && command -v spatch > /dev/null; then
	n=0
	while read -r c; do
		grep -q 'virtual report' "$c" || continue
		n=$((n + 1))
		# mm_users is the kernel's, and an atomic_t
		spatch -D report --very-quiet --no-show-diff --cocci-file "$c" --dir collector/module --include-headers 2> /dev/null |
			grep -E '^collector.*(WARNING|ERROR)' | grep -v 'sweep.c:.*atomic_add_unless' >> "$out"
	done < <(find "$source/scripts/coccinelle" -name '*.cocci' | sort)
	echo "note: $n scripts of coccinelle"
fi
cat "$out"
echo "module: $(grep -c . "$out") findings"
[ ! -s "$out" ]
