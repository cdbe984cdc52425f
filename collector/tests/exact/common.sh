# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What exact.sh, valgrind.sh and dynamorio.sh have in common; sourced by them, in a folder of its own. $exact is the option of record.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity quirks
here=$tests/exact
exact=
cd "$work" || exit 2

record() {
	timeout 300 "$MEMTRACE" record --quiet $exact "$@"
}

# told NAME COMPARE SAID [OPTIONS]: ends a case; what a program said of itself against its trace, by COMPARE.py
told() {
	local name=$1 compare=$2 said=$3
	shift 3
	if ! python3 "$here/$compare.py" "$@" "$said" "$said.trace" > "$said.check"; then
		fail "$name"
		sed 's/^/    /' "$said.check"
	elif ! "$bin/fidelity" --format "$said.trace" > "$said.format" 2>&1; then
		fail "$name: the trace does not follow the format"
		grep -v 'records$' "$said.format" | head -5 | sed 's/^/    /'
	else
		pass "$name: $(tail -n 1 "$said.check")"
	fi
}

# truth NAME SCENARIO [--some] [OPTIONS OF RECORD...]: what ./truth says about itself, compared
truth() {
	local name=$1 scenario=$2 some=
	shift 2
	[ "${1:-}" != --some ] || { some=--some; shift; }
	if record "$@" -o said.trace ./truth "$scenario" > said 2> said.err; then
		told "$name" check said $some
	else
		fail "$name: exit code"
		sed 's/^/    /' said.err | head -5
	fi
	rm -rf said.trace
}

# sites NAME SCENARIO ROUTINES [OPTIONS OF RECORD...]: what ./sites says about its instructions, compared
sites() {
	local name=$1 scenario=$2 routines=$3
	shift 3
	if record --instructions "$@" -o said.trace ./sites "$scenario" $routines > said 2> said.err; then
		told "$name" sites said
	else
		fail "$name: exit code"
		sed 's/^/    /' said.err | head -5
	fi
	rm -rf said.trace
}

# odd PROGRAM OPTIONS NAME...: quirks of PROGRAM: the same output and exit code, recorded
odd() {
	local program=$1 options=$2 name want got
	shift 2
	for name; do
		mkdir -p q && cd q || exit 2
		{
			timeout 100 "$bin/quirks" "$name" > ../plain.out 2> ../plain.err < /dev/null
			want=$?
			(exec timeout 300 "$MEMTRACE" record --quiet $exact $options -o ../q.trace "$program" "$name" > ../exact.out 2> ../exact.err < /dev/null)
			got=$?
		} 2> /dev/null
		cd ..
		if [ $got != $want ]; then
			fail "quirk $name $options: status $got instead of $want"
		elif ! cmp -s plain.out exact.out || ! cmp -s plain.err exact.err; then
			fail "quirk $name $options: other output"
			diff -a plain.out exact.out | head -5 | sed 's/^/    /'
			diff -a plain.err exact.err | head -5 | sed 's/^/    /'
		else
			pass "quirk $name $options"
		fi
		rm -rf q q.trace
	done
}
