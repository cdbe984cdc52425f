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
