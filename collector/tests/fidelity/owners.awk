# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Who uses the pages of the named structures of one image?
#   awk -f owners.awk -v names=A,B,C structures.csv threads.csv accesses-*.csv
# Per structure one line:
#   NAME pages=N first_main=N workers=K:N,... shared_now=N writers=K:N,...
# pages       pages inside the structure (whole pages only) that were touched
# first_main  pages whose first record is the main thread's
# workers     how many pages were touched by K threads other than the main thread
# writers     how many pages were written by K threads other than the main thread
# shared_now  pages with two or more such threads in one and the same interval

function hex(s,   i, v) {
	v = 0
	for (i = 1; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}

BEGIN {
	FS = ","
	count = split(names, wanted, ",")
	for (i = 1; i <= count; i++)
		is_wanted[wanted[i]] = i
}

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}

file == "structures.csv" {
	if ($at["Name"] in is_wanted) {
		k = is_wanted[$at["Name"]]
		first = int((hex($at["Start"]) + 4095) / 4096)
		last = int(hex($at["End"]) / 4096)
		# a name may stand for several allocations: the largest is meant
		if (last - first > to[k] - from[k]) {
			from[k] = first
			to[k] = last
		}
	}
	next
}

file == "threads.csv" {
	if (main == "")
		main = $at["TaskId"]
	next
}

{
	# the key is text: some awks print great numbers with six digits
	page = substr($1, 1, length($1) - 3)
	if (!(page in structure)) {
		value = hex(page)
		for (k = 1; k <= count; k++)
			if (value >= from[k] && value < to[k])
				break
		if (k > count)
			next
	}
	if (!(page in structure)) {
		structure[page] = k
		first_start[page] = $6
	}
	if ($6 == first_start[page] && $8 == main)
		first_main[page] = 1
	if ($8 == main || $8 == -1)
		next
	if (!((page, $8) in worker)) {
		worker[page, $8] = 1
		workers[page]++
	}
	if ($4 > 0 && !((page, $8) in writer)) {
		writer[page, $8] = 1
		writers[page]++
	}
	if (page in last_start && last_start[page] == $6 && last_tid[page] != $8)
		now[page] = 1
	last_start[page] = $6
	last_tid[page] = $8
}

function distribution(name, k,   s, i) {
	s = ""
	for (i = 0; i <= 64; i++)
		if (dist[name, k, i])
			s = s (s == "" ? "" : ",") i ":" dist[name, k, i]
	return s
}

END {
	for (page in structure) {
		k = structure[page]
		pages[k]++
		main_pages[k] += page in first_main
		now_pages[k] += page in now
		dist["workers", k, workers[page] + 0]++
		dist["writers", k, writers[page] + 0]++
	}
	for (k = 1; k <= count; k++)
		printf "%s pages=%d first_main=%d workers=%s shared_now=%d writers=%s\n", wanted[k],
			pages[k], main_pages[k], distribution("workers", k), now_pages[k],
			distribution("writers", k)
}
