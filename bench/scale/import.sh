#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The table of docs/measured/scale.md about importing: one process against parts, each
# with one processor. The tables of the databases must be the same.
#
#   import.sh TRACE [PARTS...]     default: 1 4 16 parts
#
# A trace: bench/import/run.sh makes some of 1e5 to 1e8 accesses (build/bench-import/t7 and so on). Twice its size must be free beside it.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
[ $# -gt 0 ] || { sed -n 's/^# \{0,1\}//; 4,10p' "$0" >&2; exit 2; }
trace=$1
shift
(build_lock && build_native && build_java) || exit 1
exec python3 bench/scale/measure_import.py "$JAVA_HOME/bin/java" "$trace" ${*:-1 4 16}
