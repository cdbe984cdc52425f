#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Tests that need OSGi or a workbench, with all bundles and nothing else; a display of its own. Maven cannot tell which bundles they need:
# Tycho resolves manifests only after modules are chosen.
#
#   releng/maven-tests.sh integration|views [CLASS[#METHOD]]...
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
case ${1:-} in
integration) module=org.memtrace.integration.tests without=views ;;
views) module=org.memtrace.views.tests without=integration ;;
*)
	sed -n 's/^#   //p' "$0" >&2
	exit 2
	;;
esac
shift
find_jdk || exit 4
find_maven || exit 4
classes=$(echo "$*" | tr ' ' ',')
log=build/maven-$module.log
NO_AT_BRIDGE=1 xvfb-run -a -s '-screen 0 1280x1024x24 -r' "$MVN" -B -ntp verify \
	-pl "!:org.memtrace.unit.tests,!:org.memtrace.$without.tests,!:org.memtrace.product" \
	${classes:+-Dtest="$classes" -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false} </dev/null >"$log" 2>&1
rc=$?
grep -E 'Tests run:|^\[ERROR\]|BUILD' "$log" | head -n 60
[ $rc = 0 ] || tools_say "all of Maven's output is in $log"
exit $rc
