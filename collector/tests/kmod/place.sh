#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Is the placement that 'memtrace place' predicts the one that is recorded? By hand.
#   place.sh [NODES...]      (2 4)      environment: WORK (build/kmod), KERNEL (a version)
# In a virtual machine with so many NUMA nodes (software emulation, Debian's kernel, the root file system of
# this machine by 9p, read only) the stencil that one thread initialises is recorded with the backend zap; then
# again with each policy, by set_mempolicy() as numactl does it, and repaired. From the first recording the
# remote share and the cost of each policy are predicted, and compared with those of the recording of that policy
# (place.py). The nodes are a ring: memory two steps away is farther than that of a neighbour. Needs the packages
# of run.sh, the collector, the examples and the headless Java. A minute or two for each machine. The last line is
# "N passed, N failed"; a prediction fails if what was recorded is not in its interval.
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=${WORK:-$top/build/kmod}
[ $# -gt 0 ] || set -- 2 4
mkdir -p "$work/place"
work=$(cd "$work" && pwd)
. "$here/kernels.sh"
v=${KERNEL:-$(newest_or_exit 6.12)}
fetch "$v"
nice make -s -C "$top/collector"
nice make -s -C "$top/examples"
nice gcc -O1 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -o "$work/place/mempolicy" "$here/mempolicy.c"
root=$work/place/root
prepare_machines
failed=0
for nodes; do
	out=$work/place/$nodes
	rm -rf "$out"
	mkdir -p "$out"
	host_guest "$root" "$v" "mkdir -p /new/run/out
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /new/run/out || echo 'FAILED the results'
		NODES=$nodes TOP='$top' MEMPOLICY='$work/place/mempolicy' chroot /new /bin/bash '$here/place-guest.sh'"
	cpus=4
	args="$HOST_ARGS -virtfs local,path=$out,mount_tag=out,security_model=none"
	for ((n = 0; n < nodes; n++)); do
		args+=" -object memory-backend-ram,id=m$n,size=$((2048 / nodes))M"
		args+=" -numa node,nodeid=$n,memdev=m$n,cpus=$((n * cpus / nodes))-$(((n + 1) * cpus / nodes - 1))"
	done
	# what firmware says: 10 on a node, 21 to a neighbour in the ring, 31 two steps away
	for ((a = 0; a < nodes; a++)); do
		for ((b = 0; b < nodes; b++)); do
			steps=$((a > b ? a - b : b - a))
			[ "$steps" -le $((nodes - steps)) ] || steps=$((nodes - steps))
			[ "$steps" = 0 ] || args+=" -numa dist,src=$a,dst=$b,val=$((11 + 10 * steps))"
		done
	done
	VM_ARGS=$args VM_CPUS=$cpus VM_MEMORY=2048 VM_SECONDS=${VM_SECONDS:-900} \
		boot "$work/place/log-$nodes" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /start.sh
	grep -a -q '^VM-END' "$work/place/log-$nodes" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
	failed=$((failed + $(grep -a -c '^FAILED ' "$work/place/log-$nodes" || true)))
done
python3 "$here/place.py" "$top/memtrace" "$work/place" "$@" > "$work/place/table" || failed=$((failed + 1))
cat "$work/place/table"
passed=$(grep -c ' ok$' "$work/place/table" || true)
failed=$((failed + $(grep -c ' FAILED$' "$work/place/table" || true)))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
