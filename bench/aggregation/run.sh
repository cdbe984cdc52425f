#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Figures of docs/measured/aggregation.md:
#   run.sh [LEAVES:SLICES:TYPES ... | curves]    the engine alone
#   run.sh model [RECORDS PAGES [FILE]]                 from accesses to the picture
#   run.sh gantt [RECORDS PAGES INTERVALS]              frames of the Gantt chart
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
releng/dev-compile.sh
rm -rf build/bench-classes
main=AggregationBench
case ${1:-} in
model) main=ModelBench; shift ;;
gantt) main=GanttBench; shift ;;
esac
"$JAVA_HOME"/bin/javac -d build/bench-classes -cp build/classes bench/aggregation/*.java
exec "$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx${BENCH_HEAP:-6g} -cp "build/bench-classes:build/classes:build/lib/*" $main "$@"
