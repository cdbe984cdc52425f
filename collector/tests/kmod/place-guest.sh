# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs in the machine of place.sh: root, bash, the tools of the host. NODES; TOP: the checkout; MEMPOLICY: the program.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
cd /tmp || exit
grep -H . /sys/devices/system/node/node*/cpulist
cat /sys/devices/system/node/node*/distance
# the threads stay where they are: what is tried is the place of the pages
export OMP_PROC_BIND=spread OMP_PLACES=cores
# record NAME POLICY NODES VARIANT: POLICY default, interleave or bind
record() {
	local name=$1 policy=$2 nodes=$3 variant=$4
	if timeout 400 "$MEMPOLICY" "$policy" "$nodes" "$TOP/build/collector/memtrace" record --backend zap --quiet --interval 200ms --max-overhead 0 -o "/tmp/$name" -- \
		"$TOP/build/examples/stencil" "$variant" -n 64 -s 60 -t 4 > "$name.out" 2>&1; then
		echo "ok $name: $(cut -d. -f1 /proc/uptime) s; $(tail -n 1 "$name.out")"
	else
		echo "FAILED $name"
		cat "$name.out"
	fi
	cp -r "/tmp/$name" /run/out/
	rm -rf "/tmp/$name"
}
all=$(((1 << NODES) - 1))
record first-touch default 0 serial
record first-touch-again default 0 serial
record interleave interleave "$all" serial
record bind-0 bind 1 serial
record "bind-$((NODES - 1))" bind "$((1 << (NODES - 1)))" serial
record repaired default 0 parallel
