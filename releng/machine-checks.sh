# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What the checks of a package on a bare machine have in common; read by them with ".".
#
# check WHAT COMMAND...   says whether the command ends well, with its last lines when it does not
# user COMMAND...         as an ordinary user, at home in $user_home (/tmp/user), which is made here
# checks_end              the closing line; false when one check failed
passed=0 failed=0
check() {
	local what=$1
	shift
	if "$@" >/tmp/last 2>&1; then
		passed=$((passed + 1))
		echo "ok $what"
	else
		failed=$((failed + 1))
		echo "FAILED $what"
		tail -n 20 /tmp/last
	fi
}
user() { setpriv --reuid 1234 --regid 1234 --clear-groups env HOME="$user_home" "$@"; }
checks_end() {
	echo "$passed passed, $failed failed"
	[ $failed = 0 ]
}
export LC_ALL=C.UTF-8
user_home=${user_home:-/tmp/user}
mkdir -m 777 "$user_home"
