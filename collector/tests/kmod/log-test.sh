#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# log-test.sh: log.awk on logs that are planted here. Prints "ok ..." or "FAILED ..." for each. A part of run.sh.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# says NAME EXPECTED-LINES-OF-OUTPUT: what the log on standard input is said to have; each line without its time
says() {
	local awk got failed=
	cat > "$tmp/log"
	for awk in awk "busybox awk"; do
		got=$($awk -f "$here/log.awk" -v others="$tmp/others" "$tmp/log" | sed -E 's/^\[ *[0-9.]+\](\[ *[TC][0-9]+\])? *//')
		[ "$got" = "$2" ] || { failed=yes; echo "with $awk: ${got:-nothing}"; }
	done
	if [ -z "$failed" ]; then echo "ok log: $1"; else echo "FAILED log: $1"; fi
}

# a failed vmalloc() as 6.12 tells it, $1: another line, in the middle
failure() {
	cat <<-LOG
		[   61.100001] calls: vmalloc error: size 8192, failed to allocate pages, mode:0xdc2(GFP_KERNEL|__GFP_HIGHMEM|__GFP_ZERO), nodemask=(null),cpuset=/,mems_allowed=0
		[   61.100010] CPU: 1 UID: 1000 PID: 412 Comm: calls Tainted: G           O       6.12.117-memtrace-debug #1
		[   61.100011] Tainted: [O]=OOT_MODULE
		[   61.100012] Call Trace:
		[   61.100013]  <TASK>
		[   61.100014]  dump_stack_lvl+0x4d/0x70
		[   61.100015]  ? __pfx_warn_alloc+0x10/0x10
		[   61.100016]  mtr_open+0x1d4/0x360 [memtrace]
		${1:-[   61.100017]  entry_SYSCALL_64_after_hwframe+0x4b/0x53}
		[   61.100018] RIP: 0033:0x41c7ab
		[   61.100019] Code: 00 0f 1f 44 00 00 48 89 44 24 18 31 c0 0f 05 <89> c2 3d 00 f0 ff ff 77 1c
		[   61.100020] RSP: 002b:00007f1e2b7fd0a0 EFLAGS: 00000246 ORIG_RAX: 0000000000000010
		[   61.100021] RAX: ffffffffffffffda RBX: 0000000000000005 RCX: 000000000041c7ab
		[   61.100022] R10: 0000000000000000 R11: 0000000000000246 R12: 0000000000000001
		[   61.100023]  </TASK>
		[   61.100024] Mem-Info:
		[   61.100025] active_anon:27 inactive_anon:3119 isolated_anon:0
	LOG
}

says "a failed vmalloc is no complaint" "" < <(failure)
says "nor a failed allocation of pages, with the task in each line" "" < <(failure |
	sed -e 's/vmalloc error: size 8192, failed to allocate pages/page allocation failure: order:4/' -e 's/^\(\[[^]]*\]\)/\1[  T412]/')
says "a kernel's RIP in it is one, and the rest is not trusted" "RIP: 0010:mtr_open+0x1d4/0x360 [memtrace]
RIP: 0033:0x41c7ab" < <(failure '[   61.100017] RIP: 0010:mtr_open+0x1d4/0x360 [memtrace]')
says "what comes in between is one, and what is behind it" "BUG: sleeping function called from invalid context at mm/vmalloc.c:3412
RIP: 0033:0x41c7ab" < <(failure '[   61.100017] BUG: sleeping function called from invalid context at mm/vmalloc.c:3412')
says "a line that such a block does not have ends it" "RIP: 0033:0x41c7ab" < <(failure '[   61.100017] memtrace: something else')
says "an RIP without a failed allocation is one" "RIP: 0033:0x41c7ab" < <(failure | tail -n +2)
says "a second one behind it is judged for itself" "RIP: 0033:0x401000" < <(failure; echo '[   62.000000] RIP: 0033:0x401000')
says "a user's fault is one" "traps: stress[77] general protection fault ip:401a2c sp:7ffc error:0 in stress[401000+9a000]" <<-LOG
	[   12.500000] traps: stress[77] general protection fault ip:401a2c sp:7ffc error:0 in stress[401000+9a000]
LOG
says "an oops is one" "BUG: kernel NULL pointer dereference, address: 0000000000000000
Oops: Oops: 0010 [#1] PREEMPT SMP
RIP: 0010:0x0" <<-LOG
	[   12.500000] BUG: kernel NULL pointer dereference, address: 0000000000000000
	[   12.500001] #PF: supervisor instruction fetch in kernel mode
	[   12.500002] Oops: Oops: 0010 [#1] PREEMPT SMP
	[   12.500003] RIP: 0010:0x0
LOG
says "what the kernel says about its machine is none" "" <<-LOG
	[    0.100000] PCI: Fatal: No config space access function found, possible
	[    0.100001] Spectre V2 : WARNING: Unprivileged eBPF is enabled
LOG
race() { # FUNCTION-OF-THE-SECOND [LINE]
	cat <<-LOG
		[   20.000000] ==================================================================
		[   20.000001] BUG: KCSAN: data-race in do_fault / $1
		[   20.000002]
		[   20.000003] write to 0xffff88800346c0a8 of 8 bytes by task 210 on cpu 1:
		[   20.000004]  do_fault+0x12b/0x8a0
		${2:-[   20.000005]  handle_mm_fault+0xb4/0x2e0}
		[   20.000006] read to 0xffff88800346c0a8 of 8 bytes by task 211 on cpu 0:
		[   20.000007]  $1
		[   20.000008] ==================================================================
	LOG
}
says "a data race of the kernel's own is none" "" < <(race folio_batch_move_lru)
grep -q '^1$' "$tmp/others" && echo "ok log: but it is counted" || echo "FAILED log: races of others are not counted"
says "a data race of the module is one, with its stacks" "BUG: KCSAN: data-race in do_fault / mtr_sweep_piece [memtrace]

write to 0xffff88800346c0a8 of 8 bytes by task 210 on cpu 1:
do_fault+0x12b/0x8a0
handle_mm_fault+0xb4/0x2e0
read to 0xffff88800346c0a8 of 8 bytes by task 211 on cpu 0:
mtr_sweep_piece [memtrace]" < <(race 'mtr_sweep_piece [memtrace]')
says "what comes behind a race of others is judged" "WARNING: CPU: 0 PID: 1 at mm/gup.c:70" < <(race folio_batch_move_lru; echo '[   21.000000] WARNING: CPU: 0 PID: 1 at mm/gup.c:70')
