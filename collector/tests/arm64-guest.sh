# shellcheck shell=sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Inside of the machine of arm64.sh, by busybox: records programs, and puts the traces into the folder "out" of the host.
for m in $(cat /modules/order); do insmod "/modules/$m.ko"; done
mkdir -p /out
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /out || echo "FAILED the shared folder"
. /settings
echo -1 > /proc/sys/kernel/perf_event_paranoid
ip link set lo up 2> /dev/null
/mt/memtrace check > /out/check 2>&1
cat /out/check
budget=0
# record NAME RECORD-OPTIONS -- PROGRAM...: LOG in its arguments is where a log goes
record() {
	name=$1
	shift
	mkdir -p "/tmp/$name"
	if /mt/memtrace record --quiet --max-overhead "$budget" -o "/tmp/$name/trace" "$@" > "/tmp/$name/output" 2>&1; then echo "ok recorded $name"
	else echo "FAILED $name"; tail -n 5 "/tmp/$name/output"; fi
	cp -r "/tmp/$name" /out/
	rm -rf "/tmp/$name"
}
visits() {
	name=$1 interval=$2 subphases=$3
	shift 3
	record "$name" --interval "$interval" --subphases "$subphases" -- /mt/visits "$@" "/tmp/$name/log"
}
visits plain 200ms 1 -d 4000 -p 300
visits subphases 400ms 5 -d 4000 -p 100
visits system-calls 200ms 1 -d 3000 -p 300 -y 25
visits mappings 200ms 1 -d 3000 -p 100 -m churn,mremap,madvise,brk
visits fork-exec 200ms 2 -d 4000 -p 300 -m fork,exec
budget=1	# as users have it
record matmul --interval 200ms -- /examples/matmul naive -n 192 -t 2
record stencil --interval 200ms -- /examples/stencil parallel -n 48 -s 10 -t 2
record bucketsort --interval 200ms -- /examples/bucketsort dynamic -t 2 -i 1
record falsesharing --interval 200ms -- /examples/falsesharing packed -m 2 -t 2
record listwalk --interval 200ms -- /examples/listwalk random -n 8192 -t 2 -p 2 -w 20
sync
umount /out
