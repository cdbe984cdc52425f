#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Compiles the headless bundles into one class folder in seconds, for quick
# loops without Maven:
#
#   releng/dev-compile.sh [OUTDIR]                 (default build/classes)
#   java -cp 'build/classes:build/lib/*' org.memtrace.cli.Main ...
#
# With --tests the unit tests are compiled too (OUTDIR-tests) and run with the
# JUnit console; further arguments select classes:
#
#   releng/dev-compile.sh --tests org.memtrace.aggregation.HierarchyTest
#
# --compile-tests compiles them only. TEST_JVM_OPTIONS are further options of
# the JVM of the tests. The libraries are fetched once into build/lib.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. releng/tools.sh
tests=no
case ${1:-} in
--tests) tests=yes && shift ;;
--compile-tests) tests=compile && shift ;;
esac
out=build/classes
[ $tests != no ] || out=${1:-$out}
find_jdk || exit 1
if [ releng/org.memtrace.libraries/pom.xml -nt build/lib ]; then
	find_maven || exit 1
	mkdir -p build
	run_maven build/libraries.log -f releng/org.memtrace.libraries/pom.xml generate-resources || exit 1
	touch build/lib
fi
libs=$(ls build/lib/*.jar | grep -v '/org\.memtrace\.' | tr '\n' ':')
rm -rf "$out"
mkdir -p "$out"
bundles=$(printf 'org.memtrace.%s ' $HEADLESS)
sources=build/dev-sources
for b in $bundles; do
	[ ! -d $b/src ] || find $b/src -name '*.java'
done >$sources
"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d "$out" -cp "$libs" @$sources
for b in $bundles; do
	[ ! -d $b/src ] || (cd $b/src && find . -type f ! -name '*.java' -exec cp --parents {} "$root/$out" \;)
done
cp -r org.memtrace.cli/commands "$out"
[ $tests != no ] || exit 0

unit=tests/org.memtrace.unit.tests
junit=build/test-lib/junit-platform-console-standalone.jar
if [ ! -f $junit ]; then
	find_maven || exit 1
	run_maven build/junit.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
		-Dartifact=org.junit.platform:junit-platform-console-standalone:1.14.4 \
		-DoutputDirectory="$root"/build/test-lib -Dmdep.stripVersion=true || exit 1
	# FrameSoc's SQLite, see FrameSocCompatibilityTest
	run_maven build/junit.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
		-Dartifact=org.xerial:sqlite-jdbc:3.7.2 -DoutputDirectory="$root"/build/test-lib
fi
fetch_duckdb build/test-lib || exit 1
rm -rf "$out-tests"
mkdir -p "$out-tests"
[ ! -d $unit/src/test/resources ] || cp -r $unit/src/test/resources/. "$out-tests"
find $unit/src/test/java -name '*.java' >$sources
"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d "$out-tests" -cp "$out:$libs$junit" @$sources
[ $tests = yes ] || exit 0
cp="$root/$out:$root/$out-tests:$(printf %s "$libs" | sed "s|build/lib|$root/build/lib|g")"
select=
for class; do
	select="$select --select-class $class"
done
# in the folder of the test module, as surefire does
cd $unit
# shellcheck disable=SC2086
exec "$JAVA_HOME"/bin/java ${TEST_JVM_OPTIONS:-} --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true \
	-Duser.language=en -Duser.country=US -Duser.timezone=UTC -Dmemtrace.root="$root" \
	-jar "$root"/$junit execute -cp "$cp" --disable-banner --details=tree \
	${select:---scan-class-path "$root/$out-tests"}
