#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# ./memtrace demo: from a bare machine to a picture. See ./memtrace.
#
#   --yes      install Debian packages without asking
#   --no-open  do not start the workbench at the end, even with a display
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. releng/tools.sh
open=yes
for arg; do
	case $arg in
	--yes | -y) ASSUME_YES=yes ;;
	--no-open) open=no ;;
	-h | --help)
		echo "usage: ./memtrace demo [--yes] [--no-open]"
		exit 0
		;;
	*)
		tools_say "demo: unknown argument $arg; usage: ./memtrace demo [--yes] [--no-open]"
		exit 2
		;;
	esac
done

step_number=0
steps=8
begin=$(date +%s)
step() {
	step_number=$((step_number + 1))
	printf '\n==> %d/%d  %s  (%d s)\n' $step_number $steps "$*" $(($(date +%s) - begin))
}

out=build/demo
memtrace=build/collector/memtrace
mkdir -p build

step "Packages, JDK, Maven"
ensure_jdk || exit 4
ensure_packages native java ui || exit 4
find_maven || exit 4
echo "JDK $JAVA_HOME"
echo "Maven $MVN"

step "Building the collector, the examples and the Java commands"
(
	build_lock
	build_native
	build_examples
	build_java
) || exit 4

step "Recording the example: matrix multiplication, naive, 4 threads"
rm -rf $out
mkdir -p $out
$memtrace record -o $out/matmul.memtrace --interval 20ms -- build/examples/matmul naive

step "Importing the trace into a database"
$memtrace import -o $out/matmul.db $out/matmul.memtrace

step "What the trace shows"
$memtrace summary $out/matmul.db | tee $out/summary.txt

step "Drawing the picture"
$memtrace render -o $out/matmul.svg $out/matmul.db
$memtrace render -o $out/matmul.png $out/matmul.db

step "Building the workbench"
(
	build_lock
	build_workbench
) || exit 4

step "Done"
cat <<END
  trace     $out/matmul.memtrace
  database  $out/matmul.db
  summary   $out/summary.txt
  picture   $out/matmul.svg
            $out/matmul.png

Next:
  ./memtrace open $out/matmul.db         the workbench (needs a display)
  ./memtrace record -- YOUR-PROGRAM      a program of your own
  ./memtrace --help
END
if [ $open = yes ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
	echo
	echo "Opening the workbench."
	exec ./memtrace open $out/matmul.db
fi
