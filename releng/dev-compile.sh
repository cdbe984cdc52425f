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
#
# What was compiled from the same files (names, times, lengths) is taken again. With classes named, of the tests only
# these and what they use are compiled.
#
# Each run compiles into a folder of its own and puts the classes into OUTDIR when they
# are whole; tests run with those of their run. So several may run at once.
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
mkdir -p build
run=$(mktemp -d "$root/build/dev-compile.XXXXXX")
trap 'rm -rf "$run"' EXIT
trap 'exit 130' HUP INT TERM

# publish DIR OUT: a copy of DIR takes the place of OUT
publish() {
	cp -al "$1" "$run/new"
	mkdir -p "$(dirname "$2")"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		! mv -T "$run/new" "$2" 2>/dev/null || return 0
		mv -T "$2" "$run/old" 2>/dev/null || sleep 0.1	# another run was faster
		rm -rf "$run/old"
	done
	mv -T "$run/new" "$2"
}

exec 9>build/.dev-compile.lock	# one run fetches what is missing
flock 9
if [ ! -d build/lib ] || [ releng/org.memtrace.libraries/pom.xml -nt build/lib ]; then	# dash: -nt is false when there is no second file
	find_maven || exit 1
	run_maven build/libraries.log -f releng/org.memtrace.libraries/pom.xml generate-resources || exit 1
	touch build/lib
fi
flock -u 9
libs=$(ls build/lib/*.jar | grep -v '/org\.memtrace\.' | tr '\n' ':')
classes=$run/classes sources=$run/sources

# key PATH...: what classes are made of; a compiler or a library of another version is another key
key() {
	{
		echo "$JAVA_HOME $libs"
		find "$@" -type f -printf '%p %T@ %s\n' | sort
	} | sha256sum | cut -d' ' -f1
}

# again KEY OUT FOLDER: a copy of what was compiled before, if it was from the same
again() {
	[ "$(cat "$2/.made-of" 2>/dev/null)" = "$1" ] || return 1
	cp -al "$2" "$3" 2>/dev/null && [ "$(cat "$3/.made-of" 2>/dev/null)" = "$1" ] && return 0
	rm -rf "$3"	# another run was faster
	return 1
}

# made of: before the compiler reads them
bundles=$(for b in $HEADLESS; do [ ! -d org.memtrace.$b/src ] || echo org.memtrace.$b; done)
# shellcheck disable=SC2046
product=$(key $(echo "$bundles" | sed 's,$,/src,') org.memtrace.cli/commands)
if ! again "$product" "$out" "$classes"; then
	mkdir "$classes"
	for b in $bundles; do
		find $b/src -name '*.java'
	done >"$sources"
	"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d "$classes" -cp "$libs" "@$sources"
	for b in $bundles; do
		(cd $b/src && find . -type f ! -name '*.java' -exec cp --parents {} "$classes" \;)
	done
	cp -r org.memtrace.cli/commands "$classes"
	echo "$product" >"$classes/.made-of"
	publish "$classes" "$out"
fi
[ $tests != no ] || exit 0

unit=tests/org.memtrace.unit.tests
junit=build/test-lib/junit-platform-console-standalone.jar
flock 9
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
exec 9>&-
select=
[ $tests != yes ] || select=$*
whole=$(key $unit/src/test)" $product"
if ! again "$whole" "$out-tests" "$classes-tests"; then
	mkdir "$classes-tests"
	[ ! -d $unit/src/test/resources ] || cp -r $unit/src/test/resources/. "$classes-tests"
	for class in $select; do
		echo "$unit/src/test/java/$(echo "$class" | tr . /).java"
	done >"$sources"
	if [ -s "$sources" ] && xargs ls <"$sources" >/dev/null 2>&1; then
		"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d "$classes-tests" -sourcepath $unit/src/test/java \
			-cp "$classes:$libs$junit" "@$sources"
	else
		find $unit/src/test/java -name '*.java' >"$sources"
		"$JAVA_HOME"/bin/javac -proc:none -nowarn -g --release 21 -d "$classes-tests" -cp "$classes:$libs$junit" "@$sources"
		echo "$whole" >"$classes-tests/.made-of"
		publish "$classes-tests" "$out-tests"
	fi
fi
[ $tests = yes ] || exit 0
cp="$classes:$classes-tests:$(printf %s "$libs" | sed "s|build/lib|$root/build/lib|g")"
select=
for class; do
	select="$select --select-class $class"
done
# in the folder of the test module, as surefire does
cd $unit
# shellcheck disable=SC2086
"$JAVA_HOME"/bin/java ${TEST_JVM_OPTIONS:-} --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true \
	-Duser.language=en -Duser.country=US -Duser.timezone=UTC -Dmemtrace.root="$root" \
	-jar "$root"/$junit execute -cp "$cp" --disable-banner --details=tree \
	${select:---scan-class-path "$classes-tests"}
