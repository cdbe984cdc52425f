#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# memtrace-spark: makes build/spark/memtrace-spark.jar and runs its tests with
# a local Spark session. By hand (./test.sh spark): Spark is a download of
# 230 MB. With --jar, only the jar is made.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
find_maven || exit 4
(build_lock && build_java) || exit 1
mkdir -p build/spark
if [ ! -s build/spark/classpath ] || [ spark/pom.xml -nt build/spark/classpath ]; then
	tools_say "fetching Spark from the Maven repository"
	run_maven build/spark/maven.log -f spark/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath \
		-DincludeScope=provided -Dmdep.outputFile="$PWD/build/spark/classpath" || {
		rm -f build/spark/classpath
		echo "SKIPPED: memtrace-spark: Spark cannot be fetched"
		exit 0
	}
fi
product=$(ls build/lib/*.jar | sed "s|^|$PWD/|" | tr '\n' ':')
# Spark first, as spark-submit does
classes=$(cat build/spark/classpath):$product
rm -rf build/spark/classes build/spark/test-classes
mkdir -p build/spark/classes build/spark/test-classes
"$JAVA_HOME"/bin/javac -proc:none -Xlint:all,-processing,-classfile,-path -Werror --release 21 -d build/spark/classes -cp "$classes" \
	$(find spark/src/main/java -name '*.java') || exit 1
"$JAVA_HOME"/bin/jar --create --file build/spark/memtrace-spark.jar -C build/spark/classes org || exit 1
[ "${1:-}" != --jar ] || exit 0

junit=$PWD/build/test-lib/junit-platform-console-standalone.jar
[ -f "$junit" ] || run_maven build/junit.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
	-Dartifact=org.junit.platform:junit-platform-console-standalone:1.14.4 -DoutputDirectory="$PWD"/build/test-lib -Dmdep.stripVersion=true ||
	exit 1
"$JAVA_HOME"/bin/javac -proc:none -nowarn --release 21 -d build/spark/test-classes -cp "build/spark/memtrace-spark.jar:$classes:$junit" \
	tests/org.memtrace.unit.tests/src/test/java/org/memtrace/analysis/SyntheticTrace.java $(find spark/src/test/java -name '*.java') || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMTRACE_HOME="$work/home" MEMTRACE_CACHE="$work/cache"
# what Spark's own launcher adds for Java 17 and newer
opens=
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent \
	java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
	opens="$opens --add-opens=java.base/$package=ALL-UNNAMED"
done
# shellcheck disable=SC2086
"$JAVA_HOME"/bin/java $opens --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true -Duser.language=en -Duser.country=US \
	-Duser.timezone=UTC -Dmemtrace.root="$PWD" -jar "$junit" execute \
	-cp "$PWD/build/spark/test-classes:$PWD/build/spark/memtrace-spark.jar:$classes" --disable-banner --details=tree \
	--scan-class-path "$PWD/build/spark/test-classes" >build/spark/test.log 2>&1
rc=$?
grep -vE ' (INFO|WARN) |^$' build/spark/test.log | tail -n 60
exit $rc
