#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Tries the code that `memtrace advise` prints. Its table of cases (fixes.csv
# of the rules) names a program of examples/fixes for each: it is recorded, the
# code of the advice is put at the marked places of its source, and the program
# is built as before and with ASan and UBSan. Nothing may crash, and the output
# must be that of the program as it was. The command of the advice, too, must
# give that output. A program with the text "-" must get no code.
#
#   releng/check-fixes.sh [-m RUNS] [-k DIR] [CASE...]
#
# CASE is a line of the table up to a comma, as "keep,cpp". -m measures CPU and wall time before and after the change, RUNS
# times in turn, and fails where the median is more than 2 % slower; only by
# hand, on a machine with nothing else to do. -k keeps sources and traces in
# DIR. A recording without the finding is made twice more (a machine under load).
set -u
cd "$(dirname "$0")/.." || exit 1
. releng/tools.sh
measure=0 keep=
while getopts m:k: o; do
	case $o in
	m) measure=$OPTARG ;;
	k) keep=$OPTARG ;;
	*) sed -n '5,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
work=${keep:-$tmp}
mkdir -p "$work"
export MEMTRACE_HOME=$tmp/home OMP_WAIT_POLICY=passive LC_ALL=C.UTF-8
python3 releng/check-fixes.py "$work" "$measure" "$@"
