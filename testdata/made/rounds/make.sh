#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Writes the made trace of this directory again, for pictures of marks that the
# short recordings cannot have (docs/images/marks.list): 200 intervals of 100 µs.
# `table`, 128 pages, is used in rounds: each page for one interval out of 20,
# 32 pages in the same one, each by one of 22 threads, six pages each. A wave
# runs once over `grid`, 160 pages, one in an interval, each by one of four.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
printf 'name,addr,size\ntable,65536,524288\ngrid,2097152,655360\n' >structs.csv
awk 'function record(page, reads, t, thread) {
	printf "%x,0,%d,1,%d,%d,%d,%d,0,-1,0\n", 4096 * page, reads, 1 + thread % 2, 100000 * t, 100000 * (t + 1), thread
}
BEGIN {
	print "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags"
	for (t = 0; t < 200; t++) {
		for (page = 0; page < 128; page++)
			if (t % 20 == 5 * int(page / 32))
				record(16 + page, 4, t, 1 + int(page / 6))
		if (t < 160)
			record(512 + t, 2, t, 1 + int(t / 40))
	}
}' >accesses-000000.csv
