#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The engine of this checkout beside that of older commits, in turns, in CPU
# time: figures of docs/measured/aggregation.md, "Old and new".
#   compare.sh [-n TURNS] [-r ROUNDS] [COMMIT ...] [-- MODEL:LEAVES:SLICES ...]
#   compare.sh … -- FILE:type|thread:SLICES ...   of the database of a trace, which
#       run.sh model 10000000 250000 FILE or memtrace import writes
# The last number of a row is the same where all partitions are.
# Each turn is one JVM for each build and model. Median of the rounds of a JVM.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
turns=2
rounds=3
commits=
cases=
while [ $# -gt 0 ]; do
	case $1 in
	-n) turns=$2; shift 2 ;;
	-r) rounds=$2; shift 2 ;;
	--) shift; cases="$*"; break ;;
	*) commits="$commits $1"; shift ;;
	esac
done
cases=${cases:-phases:4096:50 band:512:200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# build NAME SOURCES: the engine of these sources with their benchmark; for traces also what reads one
build() {
	bundles='model aggregation' bench=EngineBench.java
	case $cases in
	*:type:* | *:thread:*) bundles=$HEADLESS bench='EngineBench.java TraceBench.java' ;;
	esac
	mkdir -p "$work/$1"
	# shellcheck disable=SC2046,SC2086
	"$JAVA_HOME"/bin/javac -proc:none -nowarn --release 21 -d "$work/$1" -cp "build/lib/*" \
		$(for b in $bundles; do find "$2/org.memtrace.$b/src" -name '*.java'; done) $(printf "$2/bench/aggregation/%s " $bench)
}
case $cases in
*:type:* | *:thread:*) releng/dev-compile.sh ;; # fetches the libraries
esac
for c in $commits; do
	mkdir "$work/src-$c"
	# shellcheck disable=SC2046
	git archive "$c" bench/aggregation $(printf "org.memtrace.%s/src " $HEADLESS) | tar x -C "$work/src-$c"
	build "$c" "$work/src-$c"
done
build now .
for turn in $(seq "$turns"); do
	for x in $cases; do
		case $x in
		*:type:* | *:thread:*) main=TraceBench ;;
		*) main=EngineBench ;;
		esac
		for b in $commits now; do
			printf '%s, turn %s: ' "$b" "$turn"
			# shellcheck disable=SC2086
			"$JAVA_HOME"/bin/java -Xmx${BENCH_HEAP:-3g} -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED \
				-cp "$work/$b:build/lib/*" "$main" $(echo "$x" | tr : ' ') "$rounds"
		done
	done
done
