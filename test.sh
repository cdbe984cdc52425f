#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# All tests of memtrace. Installs the Debian packages that are missing (asks
# when a person is at the terminal, --yes answers), builds, tests; the closing
# lines of each runner are theirs; what failed is repeated at the end. Ends
# with the exit code 1 when any failed.
#
#   ./test.sh --list [NAME...]        parts, suites and cases, each with a sentence
#   ./test.sh --only NAME...          suites, or cases of any suite
#   ./test.sh --changed [BASE] [-n]   the suites that depend on what differs from BASE (where this branch left main); -n names them
#   ./test.sh [--yes] [PART...]       default: native java planted quiet fixes cli python report demo install kmod; others: nightly r spark docs
#
# Of the C sources clang-tidy looks at those whose contents were not recorded as clean, and all kernels are emulated when the module
# or what belongs to it is not as recorded (releng/unchanged.py). The part nightly does both for all that there is.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. releng/tools.sh
case ${1:-} in
--list | --only | --changed)
	word=${1#--}
	shift
	exec releng/suites.py "$word" "$@"
	;;
esac
parts=
for arg; do
	case $arg in
	--yes | -y) ASSUME_YES=yes ;;
	native | java | cli | python | planted | quiet | fixes | report | demo | install | kmod | nightly | r | spark | docs) parts="$parts $arg" ;;
	*)
		tools_say "test.sh: unknown argument $arg; usage:"
		sed -n 's/^#   //p' test.sh >&2
		exit 2
		;;
	esac
done
: "${parts:= native java planted quiet fixes cli python report demo install kmod}"

export LC_ALL=C.UTF-8 TZ=UTC NO_AT_BRIDGE=1
begin=$(date +%s)
results=
failed=
names=

# run NAME COMMAND...: one part, its output also in build/test-NAME.log;
# remembers how it ended.
run() {
	name=$1
	names="$names $name"
	shift
	log=build/test-$name.log
	printf '\n===== %s\n' "$name"
	t=$(date +%s)
	{
		"$@" 2>&1
		echo $? >"$log.rc"
	} | tee "$log"
	if [ "$(cat "$log.rc")" = 0 ]; then
		verdict=passed
	else
		verdict=FAILED
		failed="$failed $name"
	fi
	rm -f "$log.rc"
	results="$results
$(printf '  %-8s %s, %d s' "$name" $verdict $(($(date +%s) - t)))"
}

# digest NAME: what failed in a part, for a reader who has only the end of the output.
digest() {
	printf '\n===== failed: %s\n' "$1"
	case $1 in
	java) grep -a -A 15 -e '<<< FAILURE' -e '<<< ERROR' -e 'COMPILATION ERROR' -e '^\[ERROR\]' build/maven.log ;;
	*) grep -a -B 4 -A 3 -e FAILED "build/test-$1.log" || tail -n 30 "build/test-$1.log" ;;
	esac | head -n 80
}

# told TITLE PATTERN: what stands behind the pattern in the logs of the parts, each once.
told() {
	ran=
	for name in $names; do
		ran="$ran build/test-$name.log"
	done
	# shellcheck disable=SC2086
	lines=$(sed -n "s/^ *$2[: ]*/  /p" $ran /dev/null | awk '!seen[$0]++' | cut -c 1-400)
	[ -z "$lines" ] || printf '\n===== %s\n%s\n' "$1" "$lines"
}

ensure_jdk || exit 4
ensure_packages native java ui test || exit 4
find_maven || exit 4
case $parts in
*report* | *docs*) ensure_packages report || exit 4 ;;
esac
case " $parts " in
*" r "*) ensure_packages r || exit 4 ;;
esac
case $parts in
*kmod* | *nightly*) ensure_packages kmod || exit 4 ;;
esac

# Xvfb -r: keys do not repeat. On a machine that stands still between the press and the release of a key,
# the server would make many of it.
# What comes out of it is what build_workbench makes: the parts demo and install take it. A shell lets its jobs in the background ignore
# SIGINT, which tests send.
java_tests() {
	touch build/.workbench.tested
	for name in cli linux; do
		releng/sbom.sh $name || return 1
	done
	# shellcheck disable=SC2046
	env --default-signal=INT,QUIT xvfb-run -a -s '-screen 0 1280x1024x24 -r' "$MVN" -B -ntp --fail-at-end clean verify \
		$(maven_source_date) </dev/null >build/maven.log 2>&1
	rc=$?
	if [ $rc = 0 ]; then
		ln -sfn ../releng/org.memtrace.product/target/products/org.memtrace.product/linux/gtk/x86_64 build/workbench
		mv build/.workbench.tested build/.workbench
	fi
	grep -E '^\[?(INFO|ERROR|WARNING)?\]? ?Tests run:|^\[ERROR\]|BUILD|Total time' build/maven.log
	sed -n 's/^\[WARNING\] Tests run: .*, Skipped: \([1-9][0-9]*\),.* -* in \(.*\)/SKIPPED: \1 of \2/p' build/maven.log
	[ $rc = 0 ] || tools_say "all of Maven's output is in build/maven.log"
	return $rc
}

# The workbench's tests wait for it, as the native suites wait for their programs: they run beside each other, but for the suite
# fidelity, where times matter.
java=
start_java() {
	[ -z "$java" ] || return 0
	{
		t=$(date +%s)
		java_tests
		rc=$?
		echo "java: $(($(date +%s) - t)) s"
		exit $rc
	} >build/java-tests.log 2>&1 &
	java=$!
}

# Virtual machines wait more than they work: they run beside the parts whose tests do not depend on the load.
# whole: what was recorded is not asked for.
machines= user=
start_machines() {
	[ -z "$machines" ] || return 0
	if [ "${1:-}" != whole ] && releng/unchanged.py tree kmod; then
		echo "the kernel module and its tests are as recorded: one kernel; all of them with ./test.sh nightly" >build/kmod-machines.log
		collector/tests/kmod/run.sh --short >>build/kmod-machines.log 2>&1 &
		machines=$!
		return
	fi
	releng/unchanged.py tree kmod
	collector/tests/kmod/user.sh --quick >build/kmod-user.log 2>&1 &
	user=$!
	collector/tests/kmod/run.sh >build/kmod-machines.log 2>&1 &
	machines=$!
}

end_machines() {
	wait $machines
	run kmod sh -c 'cat build/kmod-machines.log; exit "$1"' sh $?
	[ -n "$user" ] || return 0
	wait $user
	run kmod-user sh -c 'cat build/kmod-user.log; exit "$1"' sh $?
	case $failed in
	*kmod*) ;;
	*) releng/unchanged.py passed kmod ;;
	esac
}

mkdir -p build
case $parts in
*native* | *java* | *cli* | *python* | *planted* | *quiet* | *fixes* | *report*) (build_lock && build_native) || exit 1 ;;
esac
case $parts in
*java*) (build_lock && build_examples) || exit 1 ;;
esac
for part in $parts; do
	case "$part $parts " in
	cli*" kmod "* | python*" kmod "* | report*" kmod "* | demo*" kmod "* | install*" kmod "*) start_machines ;;
	esac
	case $part in
	native)
		case " $parts " in *" java "*)
			start_java
			BEFORE_FIDELITY="tail --pid=$java -f /dev/null" && export BEFORE_FIDELITY
			;;
		esac
		run native collector/tests/run.sh all
		;;
	java)
		start_java
		wait $java
		run java sh -c 'cat build/java-tests.log; exit "$1"' sh $?
		;;
	cli)
		run cli releng/check-cli.sh
		run duckdb releng/check-duckdb.sh
		;;
	python) run python releng/check-python.sh ;;
	r) run r releng/check-r.sh ;;
	spark) run spark releng/check-spark.sh ;;
	docs) run docs sh -c 'releng/docs.sh && releng/check-site.py' ;;
	planted) run planted releng/check-planted.sh ;;
	fixes) run fixes releng/check-fixes.sh ;;
	quiet) run quiet sh -c '. releng/tools.sh && find_jdk && (build_lock && build_java) && releng/check-quiet.py --quick' ;;
	report) run report releng/check-report.sh ;;
	demo) run demo releng/check-demo.sh ;;
	install) run install releng/check-install.sh ;;
	kmod)
		start_machines
		end_machines
		;;
	nightly)
		start_machines whole
		run static releng/check-static.sh --all
		end_machines
		;;
	esac
done
for part in $failed; do
	digest "$part"
done
told "not judged: ran, and gives no answer on this machine as it was" "NOT JUDGED"
told "skipped: something is not here" SKIPPED
printf '\n===== %d s%s\n' $(($(date +%s) - begin)) "$results"
[ -z "$failed" ]
