#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The zap backend on a kernel older than Linux 5.19: programs that log their own
# accesses are recorded in a virtual machine and compared. By hand.
#   oldzap.sh [SERIES] [WORK]      (5.10; build/kmod)
# The machine boots Debian's kernel with the root file system of this one (9p,
# read only). Needs the packages of run.sh. The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series=${1:-5.10} work=${2:-$top/build/kmod}
mkdir -p "$work/oldzap"
work=$(cd "$work" && pwd)
. "$here/kernels.sh"
v=$(newest_or_exit "$series")
fetch "$v"
nice make -s -C "$top/collector"
nice make -s -C "$top/collector/tests"
root=$work/oldzap/root
host_guest "$root" "$v" "exec 3>&1
	TOP='$top' chroot /new /bin/bash '$here/oldzap-guest.sh'"
log=$work/oldzap/log
prepare_machines
VM_ARGS=$HOST_ARGS \
	VM_CPUS=2 VM_MEMORY=2048 VM_SECONDS=${VM_SECONDS:-900} boot "$log" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /start.sh
passed=$(grep -a -c '^ok ' "$log" || true) failed=$(grep -a -c '^FAILED ' "$log" || true)
grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
