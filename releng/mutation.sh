#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Small faults that no unit test notices; not part of ./test.sh.
#
#   releng/mutation.sh java CLASSES [TESTS]     PIT on the classes, with these tests
#   releng/mutation.sh native FILE [OPTIONS]    releng/mutate-c.py on one C source
#
# CLASSES and TESTS are patterns of PIT, separated by commas, for example
#   releng/mutation.sh java 'org.memtrace.aggregation.build.ModelBuilder*' 'org.memtrace.aggregation.*'
# The default of TESTS are the tests of the same package. Survivors are printed;
# with their source in build/mutation/java/index.html.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
. releng/tools.sh
top=$PWD
PIT=1.22.0
usage() {
	sed -n '/^#   /s/^# *//p' "$0" >&2
	exit 2
}
[ $# -ge 2 ] || usage

java() {
	classes=$1
	tests=${2:-$(printf %s "$1" | sed 's/\.[^.,]*\(,\|$\)/.*\1/g')}
	find_jdk
	find_maven
	pit=build/tools/pit-$PIT
	if [ ! -d $pit/lib ]; then
		mkdir -p $pit
		cat >$pit/pom.xml <<EOF
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.memtrace</groupId>
  <artifactId>pit</artifactId>
  <version>$PIT</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.pitest</groupId><artifactId>pitest-command-line</artifactId><version>$PIT</version></dependency>
    <dependency><groupId>org.pitest</groupId><artifactId>pitest-junit5-plugin</artifactId><version>1.2.3</version></dependency>
  </dependencies>
</project>
EOF
		run_maven build/pit.log -f $pit/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
			-DoutputDirectory="$top"/$pit/lib
	fi
	releng/dev-compile.sh --compile-tests
	out=build/mutation/java
	rm -rf $out
	mkdir -p $out
	libs=$(ls build/lib/*.jar | grep -v '/org\.memtrace\.' | sed "s,^,$top/," | tr '\n' ',')
	sources=
	for b in $HEADLESS; do
		sources="$sources$top/org.memtrace.$b/src,"
	done
	# in the folder of the test module, as surefire does
	(cd tests/org.memtrace.unit.tests && "$JAVA_HOME"/bin/java -cp "$top/$pit/lib/*:$top/build/test-lib/junit-platform-console-standalone.jar" \
		org.pitest.mutationtest.commandline.MutationCoverageReport \
		--reportDir "$top/$out" --targetClasses "$classes" --targetTests "$tests" --sourceDirs "$sources" \
		--mutableCodePaths "$top/build/classes" \
		--classPath "$top/build/classes,$top/build/classes-tests,$libs$top/build/test-lib/junit-platform-console-standalone.jar" \
		--jvmArgs "--enable-native-access=ALL-UNNAMED,-Djava.awt.headless=true,-Duser.language=en,-Duser.country=US,-Duser.timezone=UTC,-Dmemtrace.root=$top,-Xmx1g" \
		--threads "${PIT_THREADS:-2}" --timeoutConst 10000 --timestampedReports false --outputFormats HTML,CSV --verbosity NO_SPINNER \
		</dev/null) >$out/log 2>&1 || {
		tail -n 20 $out/log >&2
		tools_say "PIT failed, see $out/log"
		exit 1
	}
	# file,class,mutator,method,line,status,test
	awk -F, -v roots="$(echo "$sources" | tr ',' ' ')" '{ n[$6]++ }
		$6 == "SURVIVED" || $6 == "NO_COVERAGE" {
			class = $2; sub(/\$.*/, "", class); gsub(/\./, "/", class)
			text = ""
			k = split(roots, r, " ")
			for (i = 1; i <= k; i++) {
				file = r[i] "/" class ".java"
				if (!(file in lines)) { lines[file] = 0; while ((getline t < file) > 0) source[file, ++lines[file]] = t }
				if (lines[file]) text = source[file, $5]
			}
			gsub(/^[ \t]+/, "", text)
			mutator = $3; sub(/.*\./, "", mutator)
			printf "%-11s %s.%s:%d %s    | %s\n", $6, $2, $4, $5, mutator, text
		}
		END { for (s in n) { all += n[s]; printf "%d %s, ", n[s], s }; print all " in all" }' $out/mutations.csv
}

kind=$1
shift
case $kind in
java) java "$@" ;;
native) exec python3 releng/mutate-c.py "$@" ;;
*) usage ;;
esac
