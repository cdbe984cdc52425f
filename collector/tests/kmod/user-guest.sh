# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs in the machine of user.sh: root, bash, the tools of the host, no network.
# Variables: WORK, TOP (of the checkout), V (kernel), PARTS (all or quick: without
# building, the module that the host has built is as if DKMS had installed it).
ok() { echo "ok $*"; }
bad() { echo "FAILED $*"; }
now() { cut -d. -f1 /proc/uptime; }
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C SYSTEMD_IGNORE_CHROOT=1
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
release=$(uname -r)
# an ordinary user may not look into the home of root, where the checkout may be
mkdir -p /usr/local/bin
cp "$TOP/build/examples/matmul" /usr/local/bin/
program=/usr/local/bin/matmul
mkdir -p /tmp/t /lib/modules
cd /tmp/t || exit

# the kernel's modules and headers, where packages put them
rm -rf /lib/modules/"$release" 2> /dev/null
mkdir /lib/modules/"$release"
ln -s "$WORK/$V/lib/modules/$release/kernel" /lib/modules/"$release"/kernel
cp "$WORK/$V/lib/modules/$release"/modules.* /lib/modules/"$release"/
ln -sfn "$WORK/$V/usr/src/linux-headers-$release" /lib/modules/"$release"/build
ln -sfn "$WORK/$V/usr/src/linux-headers-$release" /lib/modules/"$release"/source
rm -rf /var/cache/memtrace /usr/src/memtrace-* /var/lib/dkms/memtrace
grep -q '^memtrace:' /etc/group || echo 'memtrace:x:990:' >> /etc/group

# says NAME PATTERN COMMAND...: it fails with one sentence that has the pattern
says() {
	local name=$1 pattern=$2 rc
	shift 2
	"$@" > out 2> err < /dev/null
	rc=$?
	grep -v '^memtrace: building' err > sentence
	if [ $rc != 0 ] && grep -q -- "$pattern" sentence && [ "$(wc -l < sentence)" = 1 ]; then ok "$name: $(cat sentence)"
	else bad "$name: exit code $rc"; cat out err; fi
	rm -rf ./*.memtrace*
}
record() { memtrace record --backend kmod -i 20ms "$@"; }
as() { local who=$1 group=$2; shift 2; setpriv --reuid "$who" --regid "$who" --groups "$group" "$@"; }
loaded() { [ -d /sys/module/memtrace ]; }
checks() { # WORKS PATTERN WHAT
	memtrace check > check.out
	if grep -q "^kmod *$1" check.out && sed -n '/^kmod/,/^none/p' check.out | grep -q -- "$2"; then ok "check, $3: $(sed -n 's/^kmod *//p' check.out)"
	else bad "check, $3"; cat check.out; fi
}

echo "-- user, $(now) s"
checks yes 'built when needed' "nothing is built"
loaded && bad "check has loaded the module"
says "an ordinary user" 'only root can load it' as 1234 1234 memtrace record --backend kmod -o /tmp/t/none -- "$program" naive -n 64 -t 2
mv /lib/modules/"$release"/build /root/build
says "no headers" "headers of this kernel are not installed.*apt install linux-headers-$release" record -- "$program" naive -n 64 -t 2
checks no 'headers of this kernel are not installed' "no headers"
mv /root/build /lib/modules/"$release"/build
mv /usr/bin/make /usr/bin/make.away
says "no make" 'make is not installed.*apt install make' record -- "$program" naive -n 64 -t 2
mv /usr/bin/make.away /usr/bin/make
if [ "$PARTS" = all ]; then
compiler=$(sed -n 's/^CC.*:\{0,1\}= *\(gcc[^ ]*\) *$/\1/p; s/.*KERNEL_GCC_VERSION.*:= *\(gcc[^ ]*\) *$/\1/p' "$WORK/$V/usr/src/linux-headers-$release/.kernelvariables" | head -n 1)
compiler=${compiler:-gcc-12}
for c in gcc "$compiler"; do [ ! -e /usr/bin/$c ] || mv /usr/bin/$c /usr/bin/$c.away; done
says "no compiler" "gcc[-0-9]* is not installed.*apt install gcc" record -- "$program" naive -n 64 -t 2
for c in gcc "$compiler"; do [ ! -e /usr/bin/$c.away ] || mv /usr/bin/$c.away /usr/bin/$c; done

echo "-- build, $(now) s"
native=$("$program" naive -n 96 -t 2 2> /dev/null)
t=$(now)
if record -o first -- "$program" naive -n 96 -t 2 > out 2> err && [ -n "$native" ] && [ "$(cat out)" = "$native" ] &&
   grep -q 'building the kernel module for Linux' err && ! loaded &&
   [ "$(cat first/p0000/accesses-*.csv | wc -l)" -gt 100 ] && grep -q '"name": "kmod"' first/manifest.json; then
	ok "built, loaded, recorded and unloaded in $(($(now) - t)) s: $(grep records err)"
else bad "the first recording"; cat out err /var/cache/memtrace/"$release"/build.log; ls first; fi
t=$(now)
if record -o second -- "$program" naive -n 96 -t 2 > out 2> err && ! grep -q building err && ! loaded; then
	ok "the second time nothing is built: $(($(now) - t)) s"
else bad "the second recording"; cat out err; fi
checks yes '/var/cache/memtrace' "after a build"
fi

insmod "$WORK/user/other/memtrace.ko" || bad "insmod of another version"
says "a module of another version" 'speaks version 99\.[0-9]* of its interface, this program 1.*rmmod memtrace' record -- "$program" naive -n 64 -t 2
loaded && ok "it stays loaded, somebody may use it" || bad "the module of another version was unloaded"
rmmod memtrace

if [ "$PARTS" = all ]; then
echo "-- dkms, $(now) s"
rm -rf /var/cache/memtrace
# dkms is unpacked only, dpkg does not know of it
if DEBIAN_FRONTEND=noninteractive dpkg --force-depends -i "$WORK"/user/deb/memtrace-dkms_*.deb > dkms.log 2>&1 < /dev/null &&
   dkms status memtrace 2> /dev/null | grep -q "$release.*installed" && ! grep -q 'bad exit status' dkms.log; then
	ok "the package memtrace-dkms adds, builds, installs: $(dkms status memtrace)"
else bad "the package memtrace-dkms"; tail -n 30 dkms.log; cat /var/lib/dkms/memtrace/*/build/make.log; fi
else
	rm -rf /var/cache/memtrace
	mkdir -p /lib/modules/"$release"/updates/dkms
	cp "$WORK/user/installed/memtrace.ko" /lib/modules/"$release"/updates/dkms/
	depmod "$release"
	cp "$TOP/collector/module/60-memtrace.rules" /usr/lib/udev/rules.d/
fi
checks yes "$release/updates/dkms/memtrace.ko" "after dkms install"
if record -o third -- "$program" naive -n 96 -t 2 > out 2> err && ! grep -q building err && ! loaded && [ ! -e /var/cache/memtrace ]; then
	ok "record takes the installed module"
else bad "record with dkms's module"; cat out err; fi

echo "-- udev, $(now) s"
udevd=$(ls /usr/lib/systemd/systemd-udevd /lib/systemd/systemd-udevd 2> /dev/null | head -n 1)
mkdir -p /run/udev
"$udevd" --daemon > udev.log 2>&1 || { bad udevd; cat udev.log; }
modprobe memtrace || bad "modprobe"
udevadm settle -t 120
if [ "$(stat -c '%a %G' /dev/memtrace)" = "600 root" ]; then ok "the device is root's: $(stat -c '%A %U %G' /dev/memtrace)"
else bad "device: $(stat -c '%A %U %G' /dev/memtrace)"; fi
# what an administrator does who gives it to a group
mkdir -p /etc/udev/rules.d
echo 'KERNEL=="memtrace", SUBSYSTEM=="misc", GROUP="memtrace", MODE="0660"' > /etc/udev/rules.d/61-memtrace.rules
udevadm control --reload
udevadm trigger --action=add /sys/class/misc/memtrace
udevadm settle -t 120
if [ "$(stat -c '%a %G' /dev/memtrace)" = "660 memtrace" ]; then ok "udev gives the device to the group: $(stat -c '%A %U %G' /dev/memtrace)"
else bad "device: $(stat -c '%A %U %G' /dev/memtrace)"; udevadm test /sys/class/misc/memtrace 2>&1 | tail -n 20; fi
rm -rf /tmp/u	# the machine sees the /tmp of the host
mkdir -m 777 /tmp/u
cd /tmp/u || exit
if as 1234 1234,990 memtrace record -i 20ms -o /tmp/u/mine -- "$program" naive -n 96 -t 2 > out 2> err &&
   grep -q '"name": "kmod"' mine/manifest.json && [ "$(cat mine/p0000/accesses-*.csv | wc -l)" -gt 100 ]; then
	ok "a member of the group records, and auto takes the module: $(grep records err)"
else bad "a member of the group"; cat out err; fi
echo 0 > /sys/module/memtrace/parameters/unprivileged
says "users may not record" 'lets nobody but root record (/sys/module/memtrace/parameters/unprivileged)' as 1234 1234,990 memtrace record --backend kmod -o /tmp/u/none -- "$program" naive -n 64 -t 2
echo 1 > /sys/module/memtrace/parameters/unprivileged
# an administrator ends what runs
as 1234 1234,990 memtrace record --backend kmod -i 20ms -o /tmp/u/ended -- sh -c 'sleep 2; while [ ! -e /tmp/u/stop ]; do :; done; echo done' > out 2> err & recorder=$!
n=0; until [ "$(cat /tmp/u/ended/p0*/accesses-*.csv 2> /dev/null | wc -l)" -gt 100 ] || [ $n -gt 600 ]; do sleep 0.1; n=$((n + 1)); done
echo 0 > /sys/module/memtrace/parameters/unprivileged
sleep 1
touch /tmp/u/stop
wait $recorder
if grep -q '^done' out && grep -q 'an administrator has ended the recordings of users' err; then ok "recordings of users are ended, their programs go on: $(grep administrator err)"
else bad "a recording that an administrator ends"; cat out err; fi
echo 1 > /sys/module/memtrace/parameters/unprivileged
says "somebody else" '/dev/memtrace cannot be opened: Permission denied.*usermod -a -G memtrace' as 1235 1235 memtrace record --backend kmod -o /tmp/u/other -- "$program" naive -n 64 -t 2
sleep 60 & other=$!
says "a process of somebody else" 'cannot be recorded: Operation not permitted' as 1234 1234,990 memtrace record --pid $other --duration 1s -o /tmp/u/pid
kill $other
if as 1235 1235 memtrace record -o /tmp/u/zap -- "$program" naive -n 64 -t 2 > out 2> err && grep -q '"name": "zap"' zap/manifest.json; then ok "without the group, auto takes user space"
else bad "auto without the group"; cat out err; fi
cd /tmp/t || exit

echo "-- lockdown, $(now) s"
echo integrity > /sys/kernel/security/lockdown || bad "lockdown"
if record -o locked -- "$program" naive -n 96 -t 2 > out 2> err; then ok "lockdown (integrity): a module that is loaded records"
else bad "lockdown (integrity) with a loaded module"; cat out err; fi
rmmod memtrace
says "lockdown (integrity), an unsigned module" 'locked down (integrity) and takes signed modules only; the installed one' record -- "$program" naive -n 64 -t 2
if [ "$PARTS" = all ]; then
	if dpkg --force-depends --purge memtrace-dkms > dkms.log 2>&1 < /dev/null && [ -z "$(find /lib/modules -name 'memtrace.ko*')" ] &&
	   [ -z "$(find /usr/src -name "memtrace-*")" ] && [ ! -e /usr/lib/udev/rules.d/60-memtrace.rules ]; then ok "purging the package leaves nothing"
	else bad "purging the package"; cat dkms.log; find /lib/modules /usr/src -name 'memtrace*'; fi
else
	rm /lib/modules/"$release"/updates/dkms/memtrace.ko
fi
says "lockdown (integrity), no module" 'locked down (integrity) and takes signed modules only; none is installed' record -- "$program" naive -n 64 -t 2
checks no 'signed modules only' "lockdown"
echo confidentiality > /sys/kernel/security/lockdown
says "lockdown (confidentiality)" 'refuses kprobes' record -- "$program" naive -n 64 -t 2
pkill -x systemd-udevd 2> /dev/null || killall systemd-udevd 2> /dev/null
dmesg | grep -a -E 'BUG|WARNING|Bad (page|rss|swap)|rss-counter|Oops|RIP:|general protection' > splats
[ -s splats ] && { bad "kernel log"; cat splats; } || ok "kernel log"
echo "-- end, $(now) s"
