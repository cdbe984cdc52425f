#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# run.sh - two ranks of a real MPI, recorded, imported, moved and imported again. By hand, after ./memtrace build.
# Needs openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev; what is not installed is skipped, and said.
set -u
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD memtrace=$PWD/memtrace work=$(mktemp -d) bad=0 tried=0
trap 'rm -rf "$work"' EXIT
check() { if [ "$2" = "$3" ]; then echo "ok      $1"; else echo "FAILED  $1: $2, expected $3"; bad=1; fi; }

# name, compiler, launcher with its options
mpi() {
	local name=$1 compiler=$2 rank job
	shift 2
	if ! command -v "$compiler" > /dev/null || ! command -v "$1" > /dev/null; then
		echo "SKIPPED $name: $compiler or $1 is not installed"
		return
	fi
	tried=$((tried + 1))
	mkdir "$work/$name" && cd "$work/$name" || exit 1
	"$compiler" -g -O1 "$root/collector/tests/mpi/ranks.c" -o ranks || { bad=1; return; }
	"$@" "$memtrace" record -q -- ./ranks > out 2> err || { echo "FAILED  $name: $(tail -n 3 err)"; bad=1; return; }
	job=$(echo ranks.job-*)
	check "$name: a directory for each rank" "$(cd "$job" && echo *)" "r0000.memtrace r0001.memtrace"
	for rank in 0 1; do
		check "$name: the manifest of rank $rank" "$(sed -n 's/.*"rank": \([0-9]*\).*/\1/p' "$job/r000$rank.memtrace/manifest.json")" $rank
	done
	"$memtrace" import -q -o one.db "$job" > report || bad=1
	check "$name: one trace of two ranks" "$(sed -n 's/^ranks  *\([0-9]*\) on \([0-9]*\) .*/\1 \2/p' report)" "2 1"
	check "$name: the window of shared memory is one memory" \
		"$("$memtrace" query --what groups --by sharing --format csv one.db | grep -c '^2,')" 1
	"$memtrace" pack -q "$job" && "$memtrace" unpack -q -o elsewhere "$job.zip" > unpacked && mv "$job" away || bad=1
	"$memtrace" import -q -o elsewhere/two.db "elsewhere/$job" > /dev/null || bad=1
	for k in one elsewhere/two; do
		"$memtrace" render -q -o $k.svg $k.db > /dev/null 2>&1 && "$memtrace" query --what sums --format csv $k.db > $k.sums || bad=1
	done
	check "$name: moved, the same picture" "$(sed 's/two/one/g' elsewhere/two.svg | cksum)" "$(cksum < one.svg)"
	check "$name: moved, the same sums" "$(cksum < elsewhere/two.sums)" "$(cksum < one.sums)"
	cd "$root" || exit 1
}

mpi open-mpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe -n 2
mpi mpich mpicc.mpich mpirun.mpich -n 2
[ $tried -gt 0 ] || echo "SKIPPED all: apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev"
exit $bad
