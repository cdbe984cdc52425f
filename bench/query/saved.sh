#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# CPU and wall time of what is answered from the sums that are saved with a
# trace (docs/measured/import.md, "saved sums and first picture"):
#
#   saved.sh DATABASE...
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
[ -d build/classes ] || releng/dev-compile.sh
for database; do
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx1536m -cp 'build/classes:build/lib/*' bench/query/SavedBench.java "$database"
done
