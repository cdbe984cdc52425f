# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs in the machine of oldzap.sh: root, bash, the tools of the host. TOP: the checkout.
ok() { echo "ok $*"; }
bad() { echo "FAILED $*"; }
now() { cut -d. -f1 /proc/uptime; }
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
memtrace=$TOP/build/collector/memtrace bin=$TOP/build/collector/tests
around=/sys/kernel/debug/fault_around_bytes
cd /tmp || exit

# fidelity NAME comparison-options -- record-options -- options of visits; "as": with these rights
as=()
fidelity() {
	local name=$1 compare=() record=() t
	shift
	while [ "$1" != -- ]; do compare+=("$1"); shift; done; shift
	while [ "$1" != -- ]; do record+=("$1"); shift; done; shift
	rm -rf t
	mkdir -m 777 t
	t=$(now)
	# the machine is slow: what depends on the scheduling of threads (status 3) is not judged
	if ! timeout 240 "${as[@]}" "$memtrace" record --backend zap --quiet --max-overhead 0 -o t/trace "${record[@]}" -- \
		"$bin/visits" "$@" t/log > out 2>&1; then
		bad "$name: the program or the recorder failed"
		cat out t/trace/p0000/image.json
		return
	fi
	"$bin/fidelity" "${compare[@]}" t/trace t/log.* > report 2>&1
	case $? in
	0 | 3) ok "$name, $(($(now) - t)) s" ;;
	*) bad "$name" ;;
	esac
	cat report
}

echo "-- check, $(now) s: $(cat $around)"
"$memtrace" check | sed -n '/^zap/,/^kmod/p'
"$memtrace" check | grep -q '^zap *partly.*writes by page; reads are seen in groups of up to 16 pages' && ok check || bad check
"$memtrace" check | grep -q 'to change it: echo 4096 . sudo tee /sys/kernel/debug/fault_around_bytes' && ok "what makes it exact" || bad "what makes it exact"
# A write after a read is not seen in what was mapped in the running subinterval; here they last long, and are few.
fidelity plain --around --written 95 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
fidelity subphases --around --written 60 -- --interval 500ms --subphases 5 -- -d 3000 -p 200 -n 20000
fidelity read-mostly --around --written 95 -- --interval 200ms --subphases 2 -- -d 3000 -p 200 -n 20000 -w 3
fidelity mappings --around --written 80 -- --interval 200ms --subphases 1 -- -d 3000 -p 100 -n 20000 -y 10 -m churn,mremap,madvise,brk
fidelity fork --around --written 95 -- --interval 200ms --subphases 2 -- -d 3000 -p 200 -n 20000 -m fork,exec -M anonymous
grep -q 'a read stands for a group of 16 pages' t/trace/p0000/image.json && ok "the image tells the granularity" || bad "the image: $(cat t/trace/p0000/image.json)"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
echo 2 > /proc/sys/kernel/perf_event_paranoid
fidelity unprivileged --around --written 90 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
as=()
echo "-- exact, $(now) s"
echo 4096 > $around
"$memtrace" check | grep -q '^zap *yes' && ok "check, fault_around_bytes 4096" || { bad "check, fault_around_bytes 4096"; "$memtrace" check; }
fidelity exact --written 95 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
fidelity exact-fork --written 95 -- --interval 200ms --subphases 2 -- -d 3000 -p 200 -n 20000 -m fork,exec
dmesg | grep -a -E 'BUG|WARNING|Bad (page|rss|swap)|rss-counter|Oops|RIP:|general protection' > splats
[ -s splats ] && { bad "kernel log"; cat splats; } || ok "kernel log"
echo "-- end, $(now) s"
