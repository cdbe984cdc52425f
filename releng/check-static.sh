#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# clang-tidy on the collector, the kernel's checkers on the module where they are installed, and the length of
# lines in Java, C and documents; a part of collector/tests/run.sh.
#
#   releng/check-static.sh [--all | FILE...]     all sources in C that git knows but tests and those below, each
#                                                with its reason; default: those of them whose contents are not in
#                                                releng/recorded.txt (releng/unchanged.py)
set -u
all=
[ "${1:-}" != --all ] || { all=yes; shift; }
cd "$(dirname "$(readlink -f "$0")")/../collector" || exit 1
top=$PWD/..
mkdir -p "$top"/build
# Left out of bugprone-*: what is a matter of style in a kernel's C (strcmp() as a truth value, int and size_t in one
# expression, assignments in conditions, _names, parameters of one type, the size of a pointer in an array of pointers), branches that are alike on purpose,
# macros that take a declaration, i-- before [i] behind &&. Of the analyzer: memcpy() and strcpy() as such, padding, arguments that only POSIX forbids (getcwd(NULL)).
checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-optin.performance.Padding,-clang-analyzer-unix.StdCLibraryFunctions,bugprone-*,-bugprone-suspicious-string-compare,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-assignment-in-if-condition,-bugprone-branch-clone,-bugprone-sizeof-expression,-bugprone-macro-parentheses,-bugprone-inc-dec-in-conditions,-bugprone-multi-level-implicit-pointer-conversion,-bugprone-switch-missing-default-case,misc-redundant-expression,misc-misplaced-const'
# Need headers that a checkout does not have: those of a kernel, of Valgrind, of DynamoRIO.
left_out='module/access.c
module/fault.c
module/main.c
module/monitor.c
module/session.c
module/sweep.c
module/task.c
engines/valgrind/tool.c
engines/dynamorio/client.c
engines/dynamorio/plan.c'
(cd "$top" && releng/check-lines.py "$@") || exit 1
command -v clang-tidy >/dev/null || {
	echo "check-static needs clang-tidy" >&2
	exit 4
}
if [ $# -gt 0 ]; then
	for f; do
		readlink -f "$top/$f" | sed "s,^$PWD/,,"
	done
else
	for f in $left_out; do
		[ -e "$f" ] || {
			echo "check-static: collector/$f is left out and does not exist" >&2
			exit 1
		}
	done
	# those that are new and not yet added, too
	{ git ls-files '*.c' && git ls-files --others --exclude-standard '*.c'; } | grep -v '^tests/' | grep -vxF "$left_out"
fi >"$top"/build/static-files
known=
if [ $# = 0 ]; then
	[ -s "$top"/build/static-files ] || exit 1
	salt="$(clang-tidy --version | grep -i version) $checks"
	mv "$top"/build/static-files "$top"/build/static-all
	# shellcheck disable=SC2046
	"$top"/releng/unchanged.py left static "$salt" $(make -s language) <"$top"/build/static-all >"$top"/build/static-files || exit 1
	known=$(($(grep -c . <"$top"/build/static-all) - $(grep -c . <"$top"/build/static-files)))
	[ -z "$all" ] || { mv "$top"/build/static-all "$top"/build/static-files; known=; }
	[ -z "$known" ] || known=", $known as recorded"
fi
out=$top/build/static.txt
# one at a time on each processor; what it says on stderr is a count
xargs -r -P "$(nproc)" -I{} clang-tidy --quiet --warnings-as-errors='*' "--checks=$checks" {} -- \
	$(make -s language) '-DMT_GIT_COMMIT=\"\"' <"$top"/build/static-files >"$out" 2>"$out.err"
rc=$?
cat "$out"
[ $rc = 0 ] || [ -s "$out" ] || tail -n 20 "$out.err" >&2
files=$(grep -c . <"$top"/build/static-files)
findings=$(grep -c -E ': (error|warning): ' "$out")
module=0
[ $# -gt 0 ] || tests/kmod/static.sh || module=1
echo "static: $((files)) files, $findings findings$known"
[ $rc = 0 ] && [ "$findings" = 0 ] && { [ "$files" -gt 0 ] || [ -n "$known" ]; } && [ $module = 0 ] || exit 1
[ $# -gt 0 ] || "$top"/releng/unchanged.py passed static
