#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Draws the pictures of the walks in README.md and docs/start/line.md again: docs/images/walk-*.svg.
# The walks are tests in the real workbench (WalkTest, LineWalkTest), which record programs, such as the stencil
# before and after; WindowPicture writes what its windows show as SVG: the
# widgets by what they say and where they are, the pictures by their shapes.
# On a quiet machine, else intervals are long. Needs what ./test.sh java needs.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
. releng/tools.sh
find_jdk || exit 4
find_maven || exit 4
(build_lock && build_native && build_examples) || exit 4
shots=tests/org.memtrace.views.tests/target/shots
rm -f $shots/walk-*
NO_AT_BRIDGE=1 xvfb-run -a -s '-screen 0 1560x1000x24' "$MVN" -B -ntp verify -Dtest='*WalkTest' -Dsurefire.failIfNoSpecifiedTests=false \
	-pl '!releng/org.memtrace.product,!tests/org.memtrace.unit.tests,!tests/org.memtrace.integration.tests' \
	>build/walk.log 2>&1 </dev/null || { tail -n 40 build/walk.log >&2; exit 1; }
for f in $shots/walk-*.svg; do
	# where it was drawn is nobody's business
	sed -e "s|$PWD|~/memtrace|g" -e 's|[^" >]*/junit-[0-9]*/catalogue[0-9]*|~/.local/share/memtrace|g' -e 's|[^" >]*/junit-[0-9]*|~|g' "$f" >"docs/images/${f##*/}"
	echo "docs/images/${f##*/}: $(wc -c <"docs/images/${f##*/}") bytes"
done
