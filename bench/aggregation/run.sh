#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Figures of docs/benchmarks-aggregation.md. Arguments: LEAVES:SLICES:TYPES ..., or "curves".
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
releng/dev-compile.sh
exec "$JAVA_HOME"/bin/java -Xmx2g -cp build/classes bench/aggregation/AggregationBench.java "$@"
