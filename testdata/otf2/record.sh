#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Makes the archives of this directory anew, with EZTrace: packages eztrace,
# clang-14 and libomp-14-dev (its runtime tells OpenMP; with libomp-19 eztrace
# is removed), openmpi-bin, libopenmpi-dev, otf2-tools. An archive is a text,
# NAME.base64: a line for each file, its path and its bytes. Beside it
# NAME.regions: how often each location entered each region, by otf2-print.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
gcc -O1 -pthread -o threads "$here/threads.c"
clang-14 -O1 -fopenmp -o loops "$here/loops.c"
mpicc -O1 -o ring "$here/ring.c"
# as_root: mpirun refuses root otherwise
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
timeout 60 eztrace -o io -t posixio ./threads
timeout 60 eztrace -o openmp -t ompt ./loops
timeout 60 mpirun --oversubscribe -np 4 eztrace -o mpi -t openmpi ./ring 4
for name in io openmp mpi; do
	(cd "$name"/*_trace && find . -type f | sed 's,^\./,,' | LC_ALL=C sort | while read -r f; do
		echo "$f $(base64 -w0 "$f")"
	done) > "$here/$name.base64"
	otf2-print "$name"/*_trace/eztrace_log.otf2 2>/dev/null |
		awk '$1 == "ENTER" { match($0, /Region: "[^"]*"/)
			n[$2 "," substr($0, RSTART + 9, RLENGTH - 10)]++ }
		END { for (k in n) print k "," n[k] }' | LC_ALL=C sort > "$here/$name.regions"
done
