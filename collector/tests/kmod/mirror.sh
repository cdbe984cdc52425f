# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Sourced. debian_mirror [-security]: where this machine takes Debian's packages from, for suites that it does not use
# itself. Without a part of its own for security updates the one beside the mirror.
debian_mirror() {
	local uris
	# shellcheck disable=SC2016
	uris=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed 's|/*$||' | grep -E '/debian(-security)?$' | sort -u)
	grep -m1 "/debian${1:-}\$" <<< "$uris" || grep -m1 '/debian$' <<< "$uris" | sed "s|\$|${1:-}|"
}
