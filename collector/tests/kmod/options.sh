# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Options of the scripts that test in virtual machines, and the tools they need.

# options ARGUMENTS...: sets series, parts and work, which have their defaults
options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--series | --parts | --work)
			[ $# -gt 1 ] || { echo "${0##*/}: $1 needs a value" >&2; exit 2; }
			printf -v "${1#--}" %s "$2"
			shift 2
			;;
		*) echo "usage: ${0##*/} [--series LIST] [--parts LIST] [--work DIR]" >&2; exit 2 ;;
		esac
	done
}

# needs GROUPS TOOL...: tools of these groups of releng/packages.txt
needs() {
	local groups=$1 tool
	shift
	for tool; do
		command -v "$tool" > /dev/null ||
			{ echo "${0##*/}: $tool is missing; install the packages of the groups $groups in releng/packages.txt" >&2; exit 2; }
	done
}
