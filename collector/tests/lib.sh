# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Sourced by the test scripts of the collector: counting, time limits, work
# directory. Expects $tests (this directory) to be set.

export LC_ALL=C TZ=UTC OMP_WAIT_POLICY=passive
set -u
BUILD=${BUILD:-$(cd "$tests/../.." && pwd)/build}
MEMTRACE=${MEMTRACE:-$BUILD/collector/memtrace}
bin=$BUILD/collector/tests
passed=0 failed=0 skipped=0

work=$(mktemp -d "${TMPDIR:-/tmp}/memtrace-test.XXXXXX") || exit 2
# KEEP=1 leaves traces and outputs for a look
cleanup() {
	if [ -n "${KEEP:-}" ]; then
		echo "kept: $work"
	else
		rm -rf "$work"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

pass() {
	passed=$((passed + 1))
	[ -z "${VERBOSE:-}" ] || echo "ok: $*"
}

fail() {
	failed=$((failed + 1))
	echo "FAILED: $*"
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIPPED: $*"
}

# What ran and gives no answer, as on a machine that is busy; ./test.sh repeats all of these at its end.
not_judged() {
	skipped=$((skipped + 1))
	echo "NOT JUDGED: $*"
}

# summary NAME: the closing line of a suite, and its status; a suite that has tried nothing fails
summary() {
	[ $((passed + failed + skipped)) -gt 0 ] || fail "$1: there was nothing to try"
	echo "$1: $passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

# cases SUITE "$0": what follows in the script are cases. Each begins with a line "## NAME: what is tested" and is a shell of its own
# in a folder of its own, which is $work there: it can be run alone. ONLY=PATTERN runs those whose names match (behind a slash may stand
# what wanted() is to look at inside of one), LIST=1 names them. A function begin_case is called in each before it begins, end_case when
# it ends in whatever way. Their times are in build/test-times/SUITE. Ends the script with the status of the suite.
cases() {
	local suite=$1 script=$2 name said case_counts begin p f s ran=0 only=${ONLY:-}
	local parts=$work/.cases only_case=${only%%/*}
	mkdir -p "$parts" "$BUILD/test-times"
	# empty lines before it, so that messages of the shell name the line of the script
	awk -v dir="$parts" '/^## [a-zA-Z0-9_+-]+: / {
			name = substr($2, 1, length($2) - 1)
			if (name in seen) { print "FAILED: " FILENAME ": two cases " name; exit 1 }
			seen[name] = 1; print name > (dir "/names")
			if (file) close(file)
			file = dir "/" name ".sh"
			for (i = 1; i < NR; i++) print "" > file
		}
		file { print > file }' "$script" || exit 2
	[ -z "${LIST:-}" ] || { sed -n 's/^## \([a-zA-Z0-9_+-]*: .*\)/\1/p' "$script"; exit; }
	[[ $only = */* ]] && ONLY=${only#*/} || ONLY=
	: > "$BUILD/test-times/$suite.new"
	while read -r name <&7; do
		[[ -z $only || $name == $only_case ]] || continue
		ran=$((ran + 1))
		begin=${EPOCHREALTIME/[.,]/}
		case_counts=$parts/$name.counts
		mkdir "$work/$name"
		# shellcheck disable=SC1090
		(
			work=$work/$name
			passed=0 failed=0 skipped=0
			case_over() {
				echo "$passed $failed $skipped ${over:-no}" > "$case_counts"
				[ "$(type -t end_case)" != function ] || end_case
			}
			trap case_over EXIT
			cd "$work" || exit 2
			[ "$(type -t begin_case)" != function ] || begin_case
			. "$parts/$name.sh"
			over=yes
		) 7<&-
		read -r p f s said < "$case_counts"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		[ "$said" = yes ] || fail "$name: it ended before its end"
		# without accesses there is nothing to compare in some
		[ $((p + f + s)) -gt 0 ] || [ "${BACKEND:-}" = none ] || fail "$name: nothing was tried"
		echo "$name $((f > 0)) $(((${EPOCHREALTIME/[.,]/} - begin) / 1000))" >> "$BUILD/test-times/$suite.new"
		[ -n "${KEEP:-}" ] || rm -rf "${work:?}/$name"
	done 7< "$parts/names"
	[ -n "$only" ] || mv "$BUILD/test-times/$suite.new" "$BUILD/test-times/$suite"
	[ $ran -gt 0 ] || fail "$suite: there is no case $only"
	rm -rf "$parts"
	[ $ran -le 1 ] || sort -k3,3nr "$BUILD/test-times/$suite" 2> /dev/null | awk -v suite="$suite" 'NR <= 3 { t = t (NR > 1 ? ", " : "") $1 sprintf(" %.1f s", $3 / 1000) }
		END { if (t) print "note: " suite ": the longest: " t }'
	summary "$suite"
	exit
}

# wanted NAME: is this one to be tried, of several in a case?
wanted() {
	[[ -z "${ONLY:-}" || $1 == $ONLY ]]
}

# need_programs NAME...: the programs that tests/Makefile builds
need_programs() {
	local p
	for p; do
		[ -x "$bin/$p" ] || { echo "there is no $bin/$p; run make -C collector/tests first"; exit 2; }
	done
}

# The directory listing with the contents, for comparisons.
fingerprint() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum && find . ! -type f | sort)
}

# Does this machine let the zap backend attribute threads? 0 yes
perf_works() {
	local p
	p=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 4)
	[ "$(id -u)" = 0 ] || [ "$p" -le 2 ]
}

# await COMMAND...: waits until it succeeds. The limit is for what hangs, not for slow machines.
await() {
	local end=$((SECONDS + 120))
	until "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

need_memtrace() {
	[ -x "$MEMTRACE" ] || { echo "there is no $MEMTRACE; run make -C collector first"; exit 2; }
}
