#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# All tests of the collector. Builds what they need.
#
# usage: run.sh [static|unit|decoder|context|fidelity|exact|valgrind|dynamorio|zoom|fine|host|io|robustness|all]...
#
# KEEP=1 keeps the traces, VERBOSE=1 names every case, ONLY=PATTERN runs only
# the cases of the suites fidelity and robustness whose name matches, SEED=N repeats its random instants.
# BEFORE_FIDELITY is a command that is waited for in "all" before the suite whose times matter.

tests=$(cd "$(dirname "$0")" && pwd)
collector=$tests/..
status=0

run() {
	local begin=$SECONDS title=$1
	echo "== $title"
	shift
	# FAILED is what test.sh looks for
	"$@" || { status=1; echo "FAILED: $suite, $title"; }
	echo "== $((SECONDS - begin)) s"
}

[ $# -gt 0 ] || set -- all
make -s -C "$collector" && make -s -C "$tests" || exit 2
for suite; do
	case $suite in
	static)
		run "table of suites" "$collector/../releng/suites.py" check
		run "static analysis" "$collector/../releng/check-static.sh"
		;;
	unit)
		run "unit tests" make -s -C "$collector" test
		# what only a test uses is known when the tests are built
		run "rooms" sh -c '"$1" --self-test && "$1"' rooms "$collector/../releng/check-rooms.py"
		run "one fact, one place" "$collector/../releng/check-facts.py"
		run "an option of the recorder" "$tests/option/option.sh"
		run "unit tests under ASan and UBSan" make -s -C "$collector" asan
		;;
	decoder) run "instruction decoder" "$tests/decoder/decoder.sh" ;;
	fidelity)
		run "fidelity" "$tests/fidelity/fidelity.sh"
		run "what the examples show" "$tests/fidelity/examples.sh"
		;;
	exact)
		run "exact counts" "$tests/exact/exact.sh"
		run "what is not seen" "$tests/exact/unseen.sh"
		;;
	valgrind) run "exact counts under Valgrind" "$tests/exact/valgrind.sh" ;;
	dynamorio) run "exact counts under DynamoRIO" "$tests/exact/dynamorio.sh" ;;
	context)
		run "context and launcher" "$tests/context/context.sh"
		run "names" "$tests/context/names.sh"
		;;
	zoom) run "close look" "$tests/zoom/zoom.sh" ;;
	fine) run "fine clock" "$tests/fine/fine.sh" ;;
	host) run "record --host" "$tests/host/host.sh" ;;
	io) run "record --io" "$tests/io/io.sh" ;;
	robustness)
		run "robustness" "$tests/robustness/robustness.sh"
		run "the monitor beside the program" "$tests/robustness/monitor.sh"
		run "injected errors" "$tests/robustness/injected.sh"
		run "generated programs" "$tests/robustness/generated.py"
		;;
	all)
		# The static analysis is 400 seconds of processor time and waits for nothing, the others mostly wait:
		# it takes the time that they leave (SCHED_IDLE) and is told at the end.
		said=$collector/../build/static-suite.txt
		mkdir -p "${said%/*}"
		chrt -i 0 "$0" static >"$said" 2>&1 &
		static=$!
		# the robustness suite, too, waits for its programs most of the time
		"$0" robustness >"${said%/*}/robustness-suite.txt" 2>&1 &
		robustness=$!
		for s in unit decoder context exact valgrind dynamorio zoom fine host io; do "$0" $s || status=1; done
		wait $robustness || status=1
		cat "${said%/*}/robustness-suite.txt"
		${BEFORE_FIDELITY:-:}
		"$0" fidelity || status=1	# times matter in it: not beside the others
		wait $static || status=1
		cat "$said"
		;;
	*) sed -n '5,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
exit $status
