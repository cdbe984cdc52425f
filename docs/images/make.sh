#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Records the examples and draws the pictures of docs/start/pictures.md again:
#
#   docs/images/make.sh [NAME ...]        default: all
#
# Needs the built tree. MEMTRACE names another memtrace, KEEP a folder that
# keeps traces and databases (an existing trace is not recorded again).
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
memtrace=${MEMTRACE:-./memtrace}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
make -s -C examples matmul bucketsort stencil
# a thread that waits for the others sleeps: a spinning one uses the processor
# without touching memory
export OMP_WAIT_POLICY=passive

# picture NAME "PROGRAM ARGUMENTS" OPTIONS...
picture() {
	name=$1
	program=$2
	shift 2
	trace=$work/$(echo "$program" | tr ' ' '-').memtrace
	# shellcheck disable=SC2086
	[ -d "$trace" ] || "$memtrace" record -q --interval 20ms --subphases 5 -o "$trace" -- build/examples/$program >/dev/null
	[ -f "$trace.db" ] || "$memtrace" import -q -o "$trace.db" "$trace" >/dev/null
	"$memtrace" render -q --width 1000 --height 620 "$@" -o "docs/images/$name.svg" "$trace.db"
	size=$(wc -c <"docs/images/$name.svg")
	echo "docs/images/$name.svg: $size bytes"
	[ "$size" -le 150000 ] || echo "docs/images/$name.svg is larger than 150,000 bytes" >&2
}

all="matmul-naive matmul-naive-thread matmul-blocked bucketsort stencil-serial stencil-parallel stencil-serial-thread
	stencil-parallel-thread matmul-naive-profile"
for name in ${*:-$all}; do
	case $name in
	matmul-naive) picture $name "matmul naive" --title "Matrix multiplication, naive: sharing" ;;
	matmul-naive-thread) picture $name "matmul naive" --view thread --title "Matrix multiplication, naive: threads" ;;
	matmul-naive-profile) picture $name "matmul naive" --kind profile --slices 100 --height 360 --title "Matrix multiplication, naive: profile" ;;
	matmul-blocked) picture $name "matmul blocked -n 2048" --title "Matrix multiplication, blocked: sharing" ;;
	bucketsort) picture $name "bucketsort dynamic" --view thread --title "Bucket sort, dynamic schedule: threads" ;;
	stencil-serial) picture $name "stencil serial" --title "Stencil, serial initialisation: sharing" ;;
	stencil-serial-thread) picture $name "stencil serial" --view thread --title "Stencil, serial initialisation: threads" ;;
	stencil-parallel) picture $name "stencil parallel" --title "Stencil, parallel initialisation: sharing" ;;
	stencil-parallel-thread) picture $name "stencil parallel" --view thread --title "Stencil, parallel initialisation: threads" ;;
	*)
		echo "$0: no picture is called $name" >&2
		exit 2
		;;
	esac
done
