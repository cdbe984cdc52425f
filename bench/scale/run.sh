#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The table of docs/measured/scale.md: one machine against parts of a model, and against
# Spark in this machine, on the same question, whose answer is saved nowhere.
# The answers must be the same bytes.
#
#   run.sh DATABASE [PARTS...]     default: 1 4 16 64 parts
#   SPARK=yes run.sh DATABASE      with Spark, too
#
# A database: bench/import/run.sh makes traces of 1e5 to 1e8 accesses (build/bench-import/t7 and so on);
# ./memtrace import -o t7.db build/bench-import/t7
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
[ $# -gt 0 ] || { sed -n 's/^# \{0,1\}//; 4,13p' "$0" >&2; exit 2; }
database=$1
shift
(build_lock && build_native && build_java) || exit 1
[ "${SPARK:-}" != yes ] || releng/check-spark.sh --jar
exec python3 bench/scale/measure.py "$JAVA_HOME/bin/java" "$database" "${SPARK:-no}" ${*:-1 4 16 64}
