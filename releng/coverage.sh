#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Which lines the unit tests reach; not part of ./test.sh.
#
#   releng/coverage.sh [java] [native]     default: both
#
# java     the tests on a plain JVM, by JaCoCo: a line for each package; pages and lines
#          of source in build/coverage/java/index.html. What the workbench's and the
#          command line's own tests reach is not in it.
# native   collector/tests/unit, by gcov and gcovr (a Debian package): a line for each
#          file, also for those in no unit test; build/coverage/native/index.html.
#          What is reached by recorded programs (collector/tests/run.sh) is not in it.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
. releng/tools.sh
top=$PWD
JACOCO=0.8.14

java() {
	find_jdk
	find_maven
	for artifact in org.jacoco.cli:$JACOCO:jar:nodeps org.jacoco.agent:$JACOCO:jar:runtime; do
		name=${artifact%%:*}
		[ -f build/tools/$name-$JACOCO.jar ] || run_maven build/jacoco.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
			-Dartifact=org.jacoco:"$artifact" -DoutputDirectory="$top"/build/tools -Dmdep.stripClassifier=true
	done
	rm -rf build/coverage/java build/coverage/java.exec
	mkdir -p build/coverage
	# a failed test is told, its coverage counts nevertheless
	TEST_JVM_OPTIONS="-javaagent:$top/build/tools/org.jacoco.agent-$JACOCO.jar=destfile=$top/build/coverage/java.exec,includes=org.memtrace.*" \
		releng/dev-compile.sh --tests >build/coverage/java.log 2>&1 || tools_say "tests failed, see build/coverage/java.log"
	set --
	for b in $HEADLESS; do
		set -- "$@" --sourcefiles org.memtrace.$b/src
	done
	"$JAVA_HOME"/bin/java -jar build/tools/org.jacoco.cli-$JACOCO.jar report build/coverage/java.exec --quiet --classfiles build/classes \
		"$@" --name memtrace --html build/coverage/java --csv build/coverage/java.csv
	awk -F, 'NR > 1 { m[$2] += $8; c[$2] += $9; bm[$2] += $6; bc[$2] += $7; M += $8; C += $9; BM += $6; BC += $7 }
		function percent(hit, miss) { return hit + miss ? sprintf("%5.1f %%", 100 * hit / (hit + miss)) : "      -" }
		END {
			printf "%-42s %8s %8s %9s\n", "package", "lines", "reached", "branches"
			for (p in m) printf "%-42s %8d %8s %9s\n", p, m[p] + c[p], percent(c[p], m[p]), percent(bc[p], bm[p]) | "sort"
			close("sort")
			printf "%-42s %8d %8s %9s\n", "all", M + C, percent(C, M), percent(BC, BM)
		}' build/coverage/java.csv
}

native() {
	ensure_packages coverage
	out=$top/build/coverage/native
	rm -rf "$out" "$out-build"
	mkdir -p "$out"
	# absolute paths: gcovr looks for the sources
	make -s -C collector BUILD="$out-build" CFLAGS="-O0 -g --coverage -fprofile-update=atomic -fprofile-abs-path" REPRODUCIBLE= unit >"$out.log" 2>&1 ||
		tools_say "tests failed, see build/coverage/native.log"
	gcovr --root collector --exclude 'collector/tests/' "$out-build" --html-details "$out"/index.html --csv "$out.csv" >/dev/null
	awk -F, -v sources="$(cd collector && git ls-files 'common/*.c' 'cli/*.c' 'preload/*.c' 'module/*.c' | tr '\n' ' ')" '
		NR > 1 { lines[$1] = $2; hit[$1] = $3 }
		END {
			printf "%-42s %8s %8s\n", "source", "lines", "reached"
			n = split(sources, s, " ")
			for (i = 1; i <= n; i++) {
				if (!(s[i] in lines)) { printf "%-42s %8s\n", s[i], "in no unit test"; none++; continue }
				printf "%-42s %8d %6.1f %%\n", s[i], lines[s[i]], lines[s[i]] ? 100 * hit[s[i]] / lines[s[i]] : 0
				L += lines[s[i]]; H += hit[s[i]]
			}
			printf "%-42s %8d %6.1f %%; %d of %d sources are in no unit test\n", "all that are in a test", L, L ? 100 * H / L : 0, none, n
		}' "$out.csv"
}

[ $# -gt 0 ] || set -- java native
for part; do
	case $part in
	java | native) $part ;;
	*)
		tools_say "coverage: unknown argument $part; usage: releng/coverage.sh [java] [native]"
		exit 2
		;;
	esac
done
