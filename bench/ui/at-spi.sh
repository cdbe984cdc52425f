#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What a screen reader is told of the workbench: starts it on a display and a bus of its own, opens a trace, shows each view, and walks
# the AT-SPI tree of the window. Prints what has no name or no role. Needs at-spi2-core, gir1.2-atspi-2.0, python3-gi, dbus, xvfb, xdotool.
#
# usage: bench/ui/at-spi.sh PRODUCT TRACE [VIEW...]
#   PRODUCT  a folder with memtrace-workbench
#   VIEW     names of views, such as Gantt: shown by Ctrl+K and "show NAME"; the perspective has some anyway
#   AT_SPI_TREE=FILE writes all objects of the last view to FILE

set -eu
export LC_ALL=C.UTF-8
product=$(readlink -f "$1") trace=$(readlink -f "$2")
here=$(dirname "$(readlink -f "$0")")
shift 2
if [ -z "${AT_SPI_INSIDE:-}" ]; then
	unset NO_AT_BRIDGE DBUS_SESSION_BUS_ADDRESS
	AT_SPI_INSIDE=yes exec xvfb-run -a -s '-screen 0 1600x960x24 -r' dbus-run-session -- "$0" "$product" "$trace" "$@"
fi
work=$(mktemp -d)
pids=()
trap '((${#pids[@]} == 0)) || kill "${pids[@]}" 2> /dev/null || :; rm -rf "$work"' EXIT
for launcher in /usr/libexec/at-spi-bus-launcher /usr/lib/at-spi2-core/at-spi-bus-launcher; do
	[ -x "$launcher" ] && break
done
"$launcher" --launch-immediately > "$work/bus.log" 2>&1 &
pids+=($!)
export HOME=$work/home XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state MEMTRACE_HOME=$work/catalogue
mkdir -p "$HOME"
"$product/memtrace-workbench" -data "$work/data" "$trace" > "$work/log" 2>&1 < /dev/null &
pids+=($!)
until xdotool search --onlyvisible --name memtrace > /dev/null 2>&1; do
	kill -0 "${pids[1]}" 2> /dev/null || { cat "$work/log" >&2; exit 1; }
	sleep 1
done
sleep "${AT_SPI_SETTLE:-20}"
rc=0
walk() {
	/usr/bin/python3 "$here/at-spi.py" memtrace --wait 120 || rc=1
	[ -z "${AT_SPI_TREE:-}" ] || /usr/bin/python3 "$here/at-spi.py" memtrace --tree > "$AT_SPI_TREE" || :
}
echo "== as it opens"
walk
for view in "$@"; do
	echo "== $view"
	xdotool search --onlyvisible --name memtrace windowfocus --sync key ctrl+k
	sleep 3
	xdotool type --delay 40 "show $view"
	sleep 3
	xdotool key Return
	sleep "${AT_SPI_SETTLE:-20}"
	walk
done
exit $rc
