#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Coverage-guided fuzzing of the importer with Jazzer (from Maven Central):
#
#   bench/fuzz/run.sh [SECONDS]                     default: 60
#
# Starts from testdata/fuzz/import. The corpus and inputs that fail are in
# build/fuzz; a failing input belongs into the seeds, with the fix.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
. releng/tools.sh
find_jdk || exit 1
mkdir -p build/fuzz/corpus
for part in jazzer jazzer-api; do
	[ -f build/fuzz/$part.jar ] && continue
	find_maven || exit 1
	run_maven build/fuzz/maven.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
		-Dartifact=com.code-intelligence:$part:0.24.0 -DoutputDirectory="$PWD"/build/fuzz \
		-Dmdep.stripVersion=true || exit 1
done
releng/dev-compile.sh build/fuzz/classes
libs=$(ls build/lib/*.jar | grep -v '/org\.memtrace\.' | tr '\n' ':')
"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d build/fuzz/classes \
	-cp "build/fuzz/classes:$libs" \
	tests/org.memtrace.unit.tests/src/test/java/org/memtrace/importer/ImportFuzzer.java
exec "$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx1g \
	-cp "build/fuzz/classes:build/fuzz/jazzer.jar:build/fuzz/jazzer-api.jar:$libs" com.code_intelligence.jazzer.Jazzer \
	--target_class=org.memtrace.importer.ImportFuzzer \
	--instrumentation_includes='org.memtrace.importer.**' \
	-max_total_time="${1:-60}" -max_len=4096 -artifact_prefix=build/fuzz/ \
	-print_final_stats=1 build/fuzz/corpus testdata/fuzz/import
