#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# record --io against fio, whose own numbers say what must be there.
#   io.sh [record DIR | check DIR]      without a word: both, in a folder of its own
# record needs root, tracefs, fio and a folder on ext4 or xfs (IO_FOLDER, by default DIR); check needs Java only.
# ../kmod/io.sh records in an emulated machine. The last line is "N passed, N failed, N skipped".
tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
top=$tests/../..
MEMTRACE_JAVA=${MEMTRACE_JAVA:-$top/memtrace}
what=${1:-both} dir=${2:-$work/io}
mkdir -p "$dir"
folder=${IO_FOLDER:-$dir}
size=4194304 calls=1024

run_fio() { # NAME OPTIONS...
	local name=$1
	shift
	"$MEMTRACE" record --quiet --io --backend none -o "$dir/$name" -- fio --name="$name" --filename="$folder/data.bin" --size=$size --bs=4k \
		--ioengine=psync --thread --invalidate=0 --fallocate=none --output-format=json --output="$dir/$name.json" "$@" ||
		{ fail "$name: record ended with $?"; return; }
	pass "$name was recorded"
}

record() {
	local kind
	command -v fio > /dev/null || { skip "there is no fio (Debian: fio)"; return 1; }
	"$MEMTRACE" check | grep -q '^--io  *yes' || { skip "record --io has no tracefs here"; return 1; }
	kind=$(stat -f -c %T "$folder")
	case $kind in
	ext2/ext3 | xfs) ;;
	*) skip "$folder is on $kind, not on ext4 or xfs"; return 1 ;;
	esac
	run_fio write --rw=write --end_fsync=1
	run_fio buffered --rw=read
	run_fio direct --rw=read --direct=1
	run_fio direct-write --rw=write --direct=1
	rm -f "$folder/data.bin"
}

# sum NAME LEVEL OPERATION: "EVENTS BYTES" of the rows of a level whose operation matches
sum() {
	awk -F, -v level="$2" -v operation="$3" '$1 == level && $2 ~ operation { n += $3; b += $4 } END { print n + 0, b + 0 }' "$dir/$1.csv"
}

expect() { # TEXT WANTED GOT
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$3', not '$2'"; fi
}

check() {
	local name of bytes cache
	for name in write buffered direct direct-write; do
		"$MEMTRACE_JAVA" io --by operation --file data.bin --format csv "$dir/$name/io" > "$dir/$name.csv" 2> "$dir/$name.err" ||
			{ fail "$name: memtrace io"; cat "$dir/$name.err"; continue; }
		"$MEMTRACE_JAVA" io --json "$dir/$name/io" > "$dir/$name.levels.json" 2>> "$dir/$name.err"
		expect "$name: nothing is lost" '"lost_events":0' "$(tr -d ' \n' < "$dir/$name.levels.json" | grep -o '"lost_events":[0-9]*')"
		case $name in *write) of=write ;; *) of=read ;; esac
		bytes=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["jobs"][0][sys.argv[2]]["io_bytes"])' "$dir/$name.json" $of)
		expect "$name: fio itself" $size "$bytes"
		expect "$name: functions of the library" "$calls $bytes" "$(sum $name user "^p$of")"
		expect "$name: system calls" "$calls $bytes" "$(sum $name "system call" "^p$of")"
	done
	expect "a buffered write goes through the file system" "$size" "$(sum write "file system" write | cut -d' ' -f2)"
	expect "its pages become dirty" "$size" "$(sum write "page cache" dirty | cut -d' ' -f2)"
	expect "a buffered write comes to the device at its fsync" "$size" "$(sum write block "^write$" | cut -d' ' -f2)"
	expect "what is in the page cache is not read from the device" "0 0" "$(sum buffered block read)"
	cache=$(sum buffered "page cache" "look up" | cut -d' ' -f2)
	# older kernels have no event of a look-up
	if grep -q get_pages "$dir/buffered/io/formats"; then expect "it is read from the page cache" "$size" "$cache"; fi
	expect "a direct read is one of the device" "$size" "$(sum direct block "^read$" | cut -d' ' -f2)"
	expect "it does not come from the page cache" "0 0" "$(sum direct "page cache" .)"
	expect "a direct write is one of the device" "$size" "$(sum direct-write block "^write$" | cut -d' ' -f2)"
	expect "it does not dirty the page cache" "0 0" "$(sum direct-write "page cache" dirty)"
}

case $what in
record) record ;;
check) check ;;
both) if record; then check; fi ;;
*) echo "usage: io.sh [record DIR | check DIR]" >&2; exit 2 ;;
esac
summary io
