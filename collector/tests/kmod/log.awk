# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The complaints in a kernel's log (awk -f log.awk LOG); nothing: it is clean. Any awk, busybox's too.
#
# Two things look like complaints and are none of the module's:
#   - An allocation that failed (in these tests it does, on demand or in a small cgroup) is told with registers, if its size was
#     not small: "NAME: vmalloc error: ...", "NAME: page allocation failure: ...", up to "</TASK>". Its "RIP: 0033:" is where
#     the program was in user mode. Only that line of only such a block is left out, and only as long as every line is one
#     that such a block has; an RIP of the kernel, and whatever else comes in between, is told.
#   - KCSAN tells races of the whole kernel, each between two lines of "=". Told are those with the module on a stack; the others
#     are counted in the file OTHERS, if that is given (-v others=FILE).
{
	line = $0
	sub(/\r$/, "", line)
	text = line
	sub(/^\[ *[0-9]+\.[0-9]+\](\[ *[TC][0-9]+\])?/, "", text)
	sub(/^ +/, "", text)
}

# what a block of a failed allocation consists of
function of_failure(t) {
	return t ~ /^(CPU: [0-9]+ |Tainted: |Hardware name: |Call Trace:$|<TASK>$|<\/TASK>$|RIP: 0033:|RSP: 002b:|R[A-Z0-9]+: [0-9a-f]+ |Code: |ORIG_RAX:)/ ||
		t ~ /^(\? )?[A-Za-z_][A-Za-z0-9_.]*\+0x[0-9a-f]+\/0x[0-9a-f]+( \[[a-z0-9_]+\])?$/
}

function look(t, whole) {
	if (t ~ /PCI:|IOMMU|8254|report a bug|Spectre|possible_cpus|mitigation/)
		return
	if (t ~ /BUG|WARNING|Bad (page|rss|swap)|rss-counter|KASAN|INFO:|general protection|Oops|RIP:|swap_get|get_swap|segfault|traps:|soft lockup|stall|leak|possible|inconsistent|illegal/)
		print whole
}

function end_of_race(i) {
	if (race_ours)
		for (i = 1; i <= race_lines; i++)
			print race[i]
	else if (race_lines)
		foreign++
	race_lines = race_ours = 0
}

text ~ /^=+$/ { end_of_race(); in_race = 0; next }
text ~ /^BUG: KCSAN: / { end_of_race(); in_race = 1 }
in_race {
	race[++race_lines] = line
	if (text ~ /\[memtrace\]/)
		race_ours = 1
	# somebody else's complaint between its lines
	if (text ~ /^(BUG: |WARNING: |INFO: |Oops|general protection)/ && text !~ /^BUG: KCSAN: /)
		race_ours = 1
	next
}

text ~ /^[^ ].*: (vmalloc error: |page allocation failure: |vmap allocation for size )/ || text ~ /^vmap allocation for size / { failure = 1; look(text, line); next }
failure && of_failure(text) {
	if (text ~ /^<\/TASK>$/)
		failure = 0
	if (text !~ /^RIP: 0033:/)
		look(text, line)
	next
}
{ failure = 0; look(text, line) }

END {
	end_of_race()
	if (others != "" && foreign)
		print foreign > others
}
