#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# record --host, with an sshd of our own on the loopback address: own keys, own port, own configuration. Run by
# ../run.sh host. Nothing waits for a time: programs go on until a file tells them to end.
# LIST=1 names the cases, ONLY=NAME runs one. Each has its own sshd, keys and folder on the "node".

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace

sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd)
if [ -z "${LIST:-}" ] && { [ -z "$sshd" ] || ! command -v ssh > /dev/null; }; then
	skip "record --host: there is no ssh or no sshd (Debian: openssh-server)"
	summary host
	exit
fi
daemon=

# The sshd in the foreground, so that its process is known; its sessions are its children.
start_sshd() {
	"$sshd" -D -e -f "$work/sshd_config" 2>> "$work/sshd.log" &
	daemon=$!
	await reachable && return
	kill $daemon 2> /dev/null
	wait $daemon 2> /dev/null
	daemon=
	return 1
}
reachable() {
	# shellcheck disable=SC2086
	$MEMTRACE_SSH node true
}
# Ends the daemon and what serves connections, not what runs for them: as a network that is cut
cut() {
	local children
	children=$(pgrep -P "$daemon")
	# with separation of privileges the one that speaks to the network is the child's child
	for c in $children; do pgrep -P "$c" -x sshd; pgrep -P "$c" -x sshd-session; done > "$work/sessions"
	# shellcheck disable=SC2046,SC2086
	kill -KILL "$daemon" $children $(cat "$work/sessions") 2> /dev/null
	wait "$daemon" 2> /dev/null
	daemon=
}
end_case() {
	# what a failed case has left running
	for f in node/*/pid; do [ ! -e "$f" ] || { kill -KILL "$(cat "$f")"; touch go; }; done
	[ -z "$daemon" ] || cut
	! mountpoint -q "$work/small" || umount "$work/small"
}

begin_case() {
	mkdir node bin there fake
	ssh-keygen -q -t ed25519 -N '' -f key
	ssh-keygen -q -t ed25519 -N '' -f host_key
	cp key.pub authorized
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	# a port that nobody has: sshd says when it cannot have it
	for try in 1 2 3 4 5 6 7 8 9 10; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 30000))
		cat > sshd_config << END
Port $port
ListenAddress 127.0.0.1
HostKey $work/host_key
AuthorizedKeysFile $work/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv TMPDIR=$work/node PATH=$work/fake:/usr/bin:/bin
END
		cat > ssh_config << END
Host node
	HostName 127.0.0.1
	Port $port
	User $(id -un)
	IdentityFile $work/key
	IdentitiesOnly yes
	UserKnownHostsFile $work/known
	StrictHostKeyChecking accept-new
	LogLevel ERROR
END
		export MEMTRACE_SSH="ssh -F $work/ssh_config"
		! start_sshd || break
	done
	# not ours to judge: an account that is locked, no loopback
	[ -n "$daemon" ] || { tail -n 5 sshd.log; skip "record --host: sshd does not start, or lets nobody in"; over=yes; exit; }
	# says that it has begun, and ends when it is told to
	cat > there/waits << 'END'
$| = 1;
print "first\n";
open(my $begun, ">", "$ENV{WORK}/begun");
select(undef, undef, undef, 0.02) until -e "$ENV{WORK}/go";
print "second\n";
print STDERR "third\n";
exit 9;
END
}

# told NAME PATTERN: that standard error of the case has it
told() {
	grep -q -- "$2" "$1.err" && return
	fail "$1: it does not say: $2"
	sed 's/^/    /' "$1.err" | head -8
}
# code NAME EXPECTED ACTUAL
code() {
	[ "$3" = "$2" ] && return
	fail "$1: exit code $3, not $2"
	sed 's/^/    /' "$1.err" | head -8
}
# nothing is left on the node
bare() {
	[ -z "$(ls -A node)" ] || fail "$1: left on the node: $(ls -A node)"
}
whole() {
	"$MEMTRACE" info "$2" > "$1.info" 2>&1 || fail "$1: $2 is no trace"
	[ ! -e "$2/host.json" ] || fail "$1: host.json is still there"
}
record() {
	"$MEMTRACE" record --host node "$@"
}
# ends PID: waits for it; its exit code
gone() { ! kill -0 "$1"; }
ends() {
	await gone "$1" || { fail "process $1 does not end"; kill -KILL "$1"; }
	wait "$1"
}
running() { [ -e "$work/begun" ]; }

cases host "$0"

## args: arguments, input, output, exit code
cat > there/args << 'END'
#!/bin/bash
printf '%s\0' "$PWD" "$@"
cat
echo "an error" >&2
exit 7
END
chmod +x there/args
strange=('' ' ' "it's" '"two  words"' $'a\nb' '*' '$HOME `id` \' -x --host '' 'ä!#~;&|<>()' $'\t' '')
printf 'in\0put\n' | record -o args -i 5ms --min-process 0 --purpose "a 'purpose' of
two lines" -- "$work/there/args" "${strange[@]}" > args.out 2> args.err
code args 7 $?
{ printf '%s\0' "$work" "${strange[@]}"; printf 'in\0put\n'; } | cmp - args.out ||
	fail "args: not the arguments, the folder or the input"
told args '^an error$'
told args 'memtrace import args$'
whole args args
bare args
python3 -c 'import json, sys
m = json.load(open("args/manifest.json"))
sys.exit(m["purpose"] != "a \x27purpose\x27 of\ntwo lines" or m["command"][1:] != sys.argv[1:] or
	m["parameters"]["interval_ns"] != 5000000)' \
	"${strange[@]}" || fail "args: the manifest has other options or arguments"
pass args

## none: a program that is not there: its code, no trace
record -o none -- "$work/there/missing" > none.out 2> none.err
code none 127 $?
told none 'program not found'
[ ! -e none ] || fail "none: there is a folder for it"
bare none
pass none

## ctrlc: Ctrl-C: the whole group here; the program there has a child that must get it, too, and gets it once
cat > there/interrupted << 'END'
my ($times, $child) = (0, 0);
sub got { open(my $f, ">>", "$ENV{WORK}/got"); print $f "@_\n"; }
$SIG{INT} = sub { $times++ };
if (!($child = fork)) {
	open(my $begun, ">", "$ENV{WORK}/begun");
	select(undef, undef, undef, 0.02) until $times;
	got("child");
	exit 0;
}
waitpid($child, 0) until !kill(0, $child);
select(undef, undef, undef, 0.02) until $times;
got("parent", $times);
$SIG{INT} = "DEFAULT";
kill(INT => $$);
END
rm -f begun got
setsid bash -c 'trap - INT; exec "$@"' sh "$MEMTRACE" record --host node -o ctrlc -- \
	env WORK="$work" perl "$work/there/interrupted" > ctrlc.out 2> ctrlc.err < /dev/null &
group=$!
await running || fail "ctrlc: it does not begin"
python3 - $group << 'END'
import os, signal, sys
os.killpg(int(sys.argv[1]), signal.SIGINT)
END
ends $group
code ctrlc 130 $?
[ "$(sort got | tr '\n' ' ')" = 'child parent 1 ' ] || fail "ctrlc: got it: $(tr '\n' ' ' < got)"
whole ctrlc ctrlc
bare ctrlc
pass ctrlc

## term: SIGTERM to the command alone reaches the program alone
rm -f begun go
{ exec "$MEMTRACE" record --host node -o term -- \
	env WORK="$work" perl -e '$SIG{TERM} = sub { exit 5 };
		open(B, ">", "$ENV{WORK}/begun"); select(undef, undef, undef, 0.02) while 1' > term.out 2> term.err < /dev/null; } &
pid=$!
await running || fail "term: it does not begin"
kill -TERM $pid
ends $pid
code term 5 $?
whole term term
bare term
pass term

## head: a reader that goes away
record -o head -- bash -c 'yes; exit 0' 2> head.err < /dev/null | head -n 1 > head.out
[ "$(cat head.out)" = y ] || fail "head: not the output"
whole head head
bare head
pass head

## cut: the connection is cut while the program runs; there is no node for a while; then the rest is fetched
rm -f begun go
record -o cut -- env WORK="$work" perl "$work/there/waits" > cut.out 2> cut.err < /dev/null &
pid=$!
await running || fail "cut: it does not begin"
await grep -q first cut.out || fail "cut: its first output does not come"
cut
ends $pid
code cut 4 $?
told cut 'memtrace record --resume cut'
"$MEMTRACE" info cut > cut.info 2>&1 && fail "cut: a part of a trace is taken for one"
grep -q "memtrace record --resume cut" cut.info || fail "cut: info does not say how to go on: $(cat cut.info)"
"$MEMTRACE" summary cut > cut.info 2>&1
code "summary of a part" 3 $?
grep -q "memtrace record --resume cut" cut.info || fail "cut: summary does not say how to go on: $(cat cut.info)"
[ "$(ls node | wc -l)" = 1 ] || fail "cut: the node has not kept it"
start_sshd || fail "cut: sshd does not start again"
"$MEMTRACE" record --resume cut > resume.out 2> resume.err < /dev/null &
pid=$!
touch go
ends $pid
code resume 9 $?
told resume '^third$'
[ "$(cat resume.out)" = second ] || fail "resume: not the output of meanwhile: $(cat resume.out)"
whole resume cut
bare resume
pass "cut and resumed"

## left: a process that outlives the program and writes on: its trace stays until it has ended
cat > there/leaves << 'END'
if (!fork) {
	@memory = map { "x" x 4096 } 1 .. 1000;
	open(my $begun, ">", "$ENV{WORK}/begun");
	select(undef, undef, undef, 0.02) until -e "$ENV{WORK}/go";
	exit 0;
}
select(undef, undef, undef, 0.02) until -e "$ENV{WORK}/begun";
exit 6;
END
rm -f begun go
record -o left -- env WORK="$work" perl "$work/there/leaves" > left.out 2> left.err < /dev/null
code left 6 $?
told left 'memtrace record --resume left'
child=$(pgrep -f "^perl $work/there/leaves")
touch go
await gone "$child"
"$MEMTRACE" record --resume left > left.out 2> left.err
code left 6 $?
whole left left
[ -e left/p0001/image.json ] || fail "left: the process is not in the trace"
bare left
pass "a process that is left"

## killed: the recording is killed there, with all that it is: what was written comes here, and it is said
rm -f begun go
record -o killed -- env WORK="$work" perl -e '@memory = map { "x" x 4096 } 1 .. 1000; open(B, ">", "$ENV{WORK}/begun");
	select(undef, undef, undef, 0.02) while 1' > killed.out 2> killed.err < /dev/null &
pid=$!
await running || fail "killed: it does not begin"
# shellcheck disable=SC2046
kill -KILL $(pgrep -f "$work/node/memtrace.*on-node run") $(pgrep -f "^memtrace record -o $work/node") $(pgrep -f '^perl -e @memory')
ends $pid
code killed 1 $?
told killed 'the recording was killed on node; the trace has what came before'
whole killed killed
grep -q '^Result *aborted' killed.info || fail "killed: info: $(cat killed.info)"
bare killed
pass "a recording that is killed"

## send: cut while the trace is sent: only the rest is sent again
cat > bin/ssh-cut << END
#!/bin/bash
# the first send ends after some bytes, as if the connection did
case "\$*" in
*" on-node send "*)
	if mkdir "$work/cut-once" 2> /dev/null; then
		ssh -F $work/ssh_config "\$@" | head -c 20000
		exit 255
	fi
	ssh -F $work/ssh_config "\$@" | tee "$work/second-send"
	;;
*) exec ssh -F $work/ssh_config "\$@" ;;
esac
END
chmod +x bin/ssh-cut
MEMTRACE_SSH=$work/bin/ssh-cut record -o send -- perl -e '@a = (1 .. 200000); print scalar(@a)' > send.out 2> send.err < /dev/null
code send 0 $?
told send 'trying again'
told send 'compared with it; nothing is left there'
[ "$(cat send.out)" = 200000 ] || fail "send: not the output"
whole send send
bare send
# the first entry of the second answer that has bytes goes on in the middle of a file, or behind files that are here
offset=$(tr '\0' '\n' < second-send | sed -n 's/^F \([0-9]*\) [0-9]* trace.*/\1/p' | head -n 1)
total=$(tr '\0' '\n' < second-send | sed -n 's/^T //p' | head -n 1)
bytes=$(find send -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
[ "${offset:-0}" -gt 0 ] || fail "send: the second answer begins anew, at $offset"
[ "$total" -lt $((bytes - 15000)) ] || fail "send: the second answer has $total of $bytes bytes"
pass "cut while it is sent"

## damage: a byte that changed here is found by the sum, and fetched again
cat > bin/ssh-damage << END
#!/bin/bash
case "\$*" in
*" on-node send "*)
	if mkdir "$work/damaged-once" 2> /dev/null; then
		ssh -F $work/ssh_config "\$@" | python3 -c 'import sys
d = sys.stdin.buffer.read()
at = d.index(b"topology.xml\0") + 100
sys.stdout.buffer.write(d[:at] + bytes([d[at] ^ 1]) + d[at + 1:])'
		exit 0
	fi
	;;
esac
exec ssh -F $work/ssh_config "\$@"
END
chmod +x bin/ssh-damage
MEMTRACE_SSH=$work/bin/ssh-damage record -o damage -- true > damage.out 2> damage.err < /dev/null
code damage 0 $?
told damage 'topology.xml is not what node has (size or checksum); trying again'
whole damage damage
bare damage
pass "a damaged byte"

## unfit: a node that does not fit: a machine, a kernel and a C library that the shell of the node tells
# fake NAME COMMAND OUTPUT SENTENCE
fake() {
	rm -f fake/*
	printf '#!/bin/sh\n%s\n' "$3" > "fake/$2"
	chmod +x "fake/$2"
	record -o "$1" -- true > "$1.out" 2> "$1.err" < /dev/null
	code "$1" 4 $?
	told "$1" "$4"
	[ ! -e "$1" ] || fail "$1: there is a folder for it"
	bare "$1"
	rm -f fake/*
	pass "$1"
}
fake machine uname '[ "$1" != -m ] || { echo aarch64; exit; }; exec /bin/uname "$@"' \
	'node is a machine of the kind aarch64; this recorder is for x86_64'
fake kernel uname '[ "$1" != -r ] || { echo 4.18.0-553.el8; exit; }; exec /bin/uname "$@"' \
	'node runs Linux 4.18.0-553.el8; recording needs 5.10'
fake glibc getconf 'echo glibc 2.12' 'node has glibc 2.12, and this recorder needs 2\.[0-9]* or newer'
fake room df 'echo head; echo "/dev/x 100 99 64 99% /"' 'node has 64 KiB left in .* need .* --host-work'

## places: a place that cannot be written, one without room, a node that is not there
record --host-work /proc/nowhere -o place -- true > place.out 2> place.err < /dev/null
code place 4 $?
told place 'node has no place to work in: .*/proc/nowhere.*--host-work'
[ ! -e place ] || fail "place: there is a folder for it"
record --host-work "$work/no de" -o blank -- true > blank.out 2> blank.err < /dev/null
code blank 4 $?
mkdir "$work/no de"
record --host-work "$work/no de" -o blank -- true > blank.out 2> blank.err < /dev/null
code blank 4 $?
told blank 'has characters that LD_PRELOAD or a shell may misread'
[ -z "$(ls -A "$work/no de")" ] || fail "blank: left there"
MEMTRACE_SSH="ssh -F $work/ssh_config -p 1" record -o away -- true > away.out 2> away.err < /dev/null
code away 4 $?
told away "node cannot be asked by ssh (exit code 255)"
[ ! -e away ] || fail "away: there is a folder for it"
mkdir small
if mount -t tmpfs -o size=18m tmpfs small 2> /dev/null; then
	# the recorder has room, the trace has not: what is there comes here, and the loss is told
	record --host-work "$work/small" -o full -- \
		perl -e '@a = map { "x" x 4096 } 1 .. 3000; for $k (1 .. 40) { substr($_, 0, 1) = $k for @a }' > full.out 2> full.err < /dev/null
	rc=$?
	[ $rc = 0 ] || grep -q 'No space left on device\|no room' full.err || fail "full: exit code $rc without the reason"
	[ -z "$(ls -A small)" ] || fail "full: left there: $(ls -A small)"
	umount small
else
	skip "a node without room: no permission to mount a small file system"
fi
bare place
pass "places"

## twice: --repeat, and --resume of what is no such folder
record --repeat 2 -o twice.memtrace -- true > twice.out 2> twice.err < /dev/null
code twice 0 $?
whole twice twice-1.memtrace
whole twice twice-2.memtrace
bare twice
"$MEMTRACE" record --resume twice-1.memtrace > again.out 2> again.err
code again 3 $?
told again 'nothing waits on a node for this trace'
pass twice
