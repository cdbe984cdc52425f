#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What a user installs: the archive of the product, unpacked elsewhere, records,
# imports and opens; the update site, installed into an Eclipse that has nothing
# of memtrace, gives it a perspective that works.
#
#   releng/check-install.sh [product] [site] [--pictures DIR]     default: both
#
# Builds what is missing. The Eclipse is a workbench of the same release made of
# the bundles of the target platform (releng/org.memtrace.stock), because the
# packages of eclipse.org are not on Maven Central. STOCK names the folder of
# another Eclipse: it is copied and the copy is used.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
parts= pictures=
while [ $# -gt 0 ]; do
	case $1 in
	product | site) parts="$parts $1" ;;
	--pictures) pictures=$2 && shift ;;
	*)
		tools_say "check-install: unknown argument $1; usage: releng/check-install.sh [product] [site] [--pictures DIR]"
		exit 2
		;;
	esac
	shift
done
: "${parts:= product site}"
find_jdk || exit 4
find_maven || exit 4
(build_lock && build_native && build_examples && build_workbench) || exit 4
products=$PWD/releng/org.memtrace.product/target/products
tmp=$(mktemp -d)
pids=
trap 'for p in $pids; do kill $p 2>/dev/null; done; rm -rf "$tmp"' EXIT
passed=0 failed=0

check() {
	what=$1
	shift
	if "$@" >"$tmp/last" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
		grep -a FAILED "$tmp/last"
	fi
}

# waits SECONDS COMMAND...: until the command succeeds
waits() {
	local n=$1
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep 1
	done
}

# a display that nobody else has, without anything of the user's
display() {
	local n=90
	while [ -e /tmp/.X11-unix/X$n ] || [ -e /tmp/.X$n-lock ]; do n=$((n + 1)); done
	Xvfb :$n -screen 0 1400x900x24 >/dev/null 2>&1 &
	pids="$pids $!"
	export DISPLAY=:$n NO_AT_BRIDGE=1 LIBGL_ALWAYS_SOFTWARE=1
	export MEMTRACE_HOME=$tmp/home XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache
	waits 60 test -e /tmp/.X11-unix/X$n
}

picture() {
	[ -z "$pictures" ] || { mkdir -p "$pictures" && import -window root "$pictures/$1.png"; }
}

no_errors() {
	# a machine whose name has no address: the workbench of Eclipse says so, memtrace runs
	awk '/^!ENTRY/ { entry = $0; wrong = $3 == 4; n = 0 }
		wrong && /^!MESSAGE Failed to read host name/ && entry ~ /org.eclipse.ui.ide/ { wrong = 0 }
		wrong && /^!MESSAGE/ { print entry }
		wrong && !/^!ENTRY/ && n++ < 12' "$1" 2>/dev/null | tee -a "$tmp/errors" | {
		! grep . >/dev/null
	}
}

product() {
	local m="$tmp/opt/memtrace here/memtrace" t=$tmp/t
	mkdir -p "$tmp/opt/memtrace here"
	tar -xzf "$products"/org.memtrace.product-linux.gtk.x86_64.tar.gz -C "$tmp/opt/memtrace here" || exit 1
	# LD_PRELOAD cannot express a path with a blank: the recorder says so
	"$m" check --json >"$tmp/check" 2>&1
	check "a path with a blank is named as the obstacle" grep -q 'has a blank' "$tmp/check"
	mv "$tmp/opt/memtrace here" "$tmp/opt/memtrace"
	m=$tmp/opt/memtrace/memtrace
	"$m" check --json >"$tmp/check" 2>&1
	check "the papers name what is shipped" python3 releng/check-shipped.py "$tmp/opt/memtrace"
	check "the sources of the kernel module are found" sh -c "! grep -q 'nor are its sources here' $tmp/check"
	check "the installed recorder records the installed example" \
		"$m" record -q -o "$t" -i 20ms -- "$tmp/opt/memtrace/examples/stencil" serial -s 30
	echo 'int a[9999]; int main(void) { for (volatile int i = 0; i < 9999; i++) a[i]++; return 0; }' >"$tmp/count.c"
	check "the installed compiler makes a program that counts" "$m" cc -O1 -o "$tmp/count" "$tmp/count.c"
	check "its accesses are counted" "$m" record -q --exact -o "$tmp/count.memtrace" -- "$tmp/count"
	check "all of them" awk -F, 'FNR > 1 { r += $3; w += $4 } END { exit r < 9999 || w < 9999 }' "$tmp"/count.memtrace/p0000/accesses-000000.csv
	check "its data has names, though it was compiled elsewhere" grep -q ',heap,old_grid,' "$t/p0000/structures.csv"
	check "the installed importer" "$m" import -q -o "$tmp/t.db" "$t"
	"$m" summary "$tmp/t.db" >"$tmp/summary" 2>&1
	check "hwloc is found" "$m" machine "$tmp/t.db"
	check "Parquet is written" "$m" export -q --format parquet -o "$tmp/parquet" "$tmp/t.db"
	check "the summary names the grids" grep -q old_grid "$tmp/summary"
	extensions "$m"
	"$m" open "$t" >"$tmp/open.log" 2>&1 &
	local workbench=$!
	pids="$pids $workbench"
	check "the installed workbench imports and opens a trace" waits 600 xdotool search --name '^stencil'
	sleep 3
	picture product
	kill $workbench 2>/dev/null
	wait $workbench 2>/dev/null
	check "without errors in its log" no_errors "$tmp/state/memtrace/workbench/.metadata/.log"
	for kind in reader rule metric dimension view; do
		# who installs the product may write into it, so that OSGi keeps there what is installed
		check "the $kind of a user is a bundle of the installed workbench" grep -rqa --include='framework.info*' "org.memtrace.example.$kind-" \
			"$tmp/opt/memtrace/configuration"
	done
	check "a catalogue with the trace" sh -c "'$m' list --catalogue '$MEMTRACE_HOME' | grep -q stencil"
}

# extensions MEMTRACE: the example bundles, where a user puts his (docs/extend/README.md)
extensions() {
	mkdir -p "$MEMTRACE_HOME/extensions"
	cp examples/extensions/*/target/org.memtrace.example.*-SNAPSHOT.jar "$MEMTRACE_HOME/extensions" || exit 1
	printf 'LINES\n10 a start\n20 b stop\n' >"$tmp/some.log"
	check "the reader of a user" "$1" import -q -o "$tmp/lines.db" "$tmp/some.log"
	check "reads its format" sh -c "'$1' query --what events '$tmp/lines.db' | grep -q start"
	check "the metric of a user" "$1" aggregate --metric read-and-write "$tmp/t.db"
	check "the dimension of a user" "$1" query --what groups --by thread_role "$tmp/t.db"
	check "the rule of a user" sh -c "'$1' advise --explain --rule huge-pages '$tmp/t.db' | grep -q huge-pages"
}

site() {
	local stock=${STOCK:-} profile
	if [ -z "$stock" ]; then
		run_maven build/stock.log verify -DskipTests -Pstock -pl releng/org.memtrace.target,releng/org.memtrace.stock || exit 1
		stock=releng/org.memtrace.stock/target/products/org.memtrace.stock/linux/gtk/x86_64
	fi
	cp -a "$stock" "$tmp/eclipse"
	check "the Eclipse has nothing of memtrace" sh -c "! ls '$tmp/eclipse/plugins' | grep -q org.memtrace"
	profile=$(ls "$tmp"/eclipse/p2/org.eclipse.equinox.p2.engine/profileRegistry | sed -n 's/\.profile$//p' | head -n 1)
	run_maven build/install.log org.eclipse.tycho:tycho-p2-director-plugin:5.0.2:director \
		-Drepositories="file:$PWD/releng/org.memtrace.product/target/repository" \
		-DinstallIUs=org.memtrace.feature.feature.group -Ddestination="$tmp/eclipse" -Dprofile="$profile" || exit 1
	check "memtrace is installed" sh -c "ls '$tmp/eclipse/plugins' | grep -q org.memtrace.views_"
	check "the application of its own is not" sh -c "! ls '$tmp/eclipse/plugins' | grep -q org.memtrace.rcp"
	rm -rf "$MEMTRACE_HOME"
	mkdir -p "$MEMTRACE_HOME"
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -jar "$tmp"/eclipse/plugins/org.eclipse.equinox.launcher_*.jar \
		-application org.eclipse.ui.ide.workbench -data "$tmp/ws" -consoleLog -nosplash \
		-perspective org.memtrace.views.perspective >"$tmp/eclipse.log" 2>&1 &
	local workbench=$!
	pids="$pids $workbench"
	# the list of traces makes the catalogue, with the libraries that came with the site
	check "the views of memtrace work in that Eclipse" waits 600 test -s "$MEMTRACE_HOME/SOCTRACE_SYSTEM_DB"
	sleep 5
	picture site
	check "without errors in its log" no_errors "$tmp/ws/.metadata/.log"
	kill $workbench 2>/dev/null
	wait $workbench 2>/dev/null
}

command -v Xvfb >/dev/null && command -v xdotool >/dev/null || { tools_say "check-install needs xvfb and xdotool"; exit 4; }
display
for part in $parts; do
	$part
done
[ $failed = 0 ] || cat "$tmp"/errors "$tmp"/*.log 2>/dev/null | head -n 100 >&2
echo "install: $passed passed, $failed failed"
[ $failed = 0 ]
