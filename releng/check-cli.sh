#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Checks the command line as a whole: native and Java side say the same, the
# generated documents are current, exit codes, finding Java. Needs what
# build_native and build_java of releng/tools.sh make.
set -u
cd "$(dirname "$0")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
memtrace=$PWD/build/collector/memtrace
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

ok() {
	passed=$((passed + 1))
}

bad() {
	failed=$((failed + 1))
	echo "FAILED: $*"
}

# expect CODE ERROR-PATTERN COMMAND...: exit code, and what standard error must say
expect() {
	local code=$1 pattern=$2 rc
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	rc=$?
	if [ $rc != "$code" ]; then
		bad "$*: exit code $rc, expected $code: $(head -c 300 "$tmp/err")"
	elif [ -n "$pattern" ] && ! grep -q -- "$pattern" "$tmp/err"; then
		bad "$*: standard error lacks '$pattern': $(head -c 300 "$tmp/err")"
	elif [ -n "$pattern" ] && [ "$(wc -l <"$tmp/err")" -gt 2 ]; then
		bad "$*: more than a sentence: $(head -c 300 "$tmp/err")"
	else
		ok
	fi
}

java() {
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -cp "build/lib/*" org.memtrace.cli.Main "$@"
}

# --- one table, two programs
commands=$(sed -n 's/^\t//p' org.memtrace.cli/commands/index.txt)
mkdir "$tmp/help"
# one JVM for all of them; `java --help` and the rest of this file start one for each
# shellcheck disable=SC2086
"$JAVA_HOME"/bin/java -cp "build/lib/*" releng/AllHelp.java "$tmp/help" $commands >"$tmp/java" 2>&1 || bad "help of Java: $(tail -n 3 "$tmp/java")"
for c in $commands overview; do
	words=$c
	[ $c != overview ] || words=
	"$memtrace" $words --help >"$tmp/native"
	cmp -s "$tmp/native" "$tmp/help/$c" && ok || bad "help of $c differs between C and Java: $(diff "$tmp/native" "$tmp/help/$c" 2>&1 | head -n 5)"
done
java --help >"$tmp/java"
cmp -s "$tmp/java" "$tmp/help/overview" && ok || bad "the overview differs when it is asked for alone"

# --- generated documents
"$memtrace" help --markdown >"$tmp/cli.md"
if cmp -s "$tmp/cli.md" docs/reference/cli.md; then
	ok
else
	bad "docs/reference/cli.md is not current; accept with: build/collector/memtrace help --markdown >docs/reference/cli.md"
fi
wrong=$(releng/check-docs.py 2>&1) && ok || bad "documents: $wrong"
"$memtrace" help --man "$tmp/man" || bad "help --man"
for c in $commands; do
	[ -s "$tmp/man/memtrace-$c.1" ] && ok || bad "no man page of $c"
done
if command -v groff >/dev/null; then
	for page in "$tmp"/man/*.1; do
		warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
		[ -z "$warnings" ] && ok || bad "${page##*/}: $warnings"
	done
else
	skipped=$((skipped + 1))
	echo "SKIPPED: man pages are not formatted: groff is not installed"
fi
"$memtrace" completion bash >"$tmp/bash" && bash -n "$tmp/bash" && ok || bad "completion for bash"
complete=$(bash -c ". $tmp/bash; COMP_WORDS=(memtrace record --ba); COMP_CWORD=2; _memtrace; echo \"\${COMPREPLY[@]}\"
	COMP_WORDS=(memtrace record --backend z); COMP_CWORD=3; _memtrace; echo \"\${COMPREPLY[@]}\"
	COMP_WORDS=(memtrace agg); COMP_CWORD=1; _memtrace; echo \"\${COMPREPLY[@]}\"")
[ "$complete" = "--backend
zap
aggregate" ] && ok || bad "bash completes to: $complete"
if command -v fish >/dev/null; then
	"$memtrace" completion fish >"$tmp/fish"
	complete=$(fish -c "source $tmp/fish; complete -C 'memtrace record --backend z'; complete -C 'memtrace agg'" | cut -f 1)
	[ "$complete" = "zap
aggregate" ] && ok || bad "fish completes to: $complete"
fi
for shell in zsh fish; do
	"$memtrace" completion $shell >"$tmp/$shell" || bad "completion for $shell"
	if command -v $shell >/dev/null; then
		$shell -n "$tmp/$shell" && ok || bad "completion for $shell is no $shell"
	else
		skipped=$((skipped + 1))
		echo "SKIPPED: completion for $shell is not parsed: $shell is not installed"
	fi
done

# --- exit codes and sentences, the same from C and Java
expect 2 "there is no command 'imort'; did you mean 'import'" "$memtrace" imort
expect 2 "there is no command 'imort'; did you mean 'import'" java imort
for run in "$memtrace" java; do
	expect 2 "memtrace render: unknown option --hight; did you mean --height?" $run render --hight 3 x
	expect 2 "memtrace import: TRACE is missing" $run import
	expect 2 "unexpected argument 'b'" $run summary a b
	expect 3 "memtrace import: .*/no/such/trace" $run import /no/such/trace
done
expect 2 "" "$memtrace"
expect 2 "the first argument must be a command" "$memtrace" --bogus
expect 0 "" "$memtrace" --version
expect 3 "/no/such" "$memtrace" info /no/such
expect 127 "no-such-program" "$memtrace" record -o "$tmp/t1" -- no-such-program
expect 126 "passwd" "$memtrace" record -o "$tmp/t2" -- /etc/passwd
expect 4 "display" env -u DISPLAY -u WAYLAND_DISPLAY "$memtrace" open
expect 4 "MEMTRACE_JAVA is /no/java" env MEMTRACE_JAVA=/no/java "$memtrace" list
expect 4 "Java part of memtrace is not beside" env MEMTRACE_LIB="$tmp" "$memtrace" list
[ ! -e "$tmp/t1" ] && [ ! -e "$tmp/t2" ] && ok || bad "a program that cannot run leaves a trace"

# --- archives of OTF2 have the counts of otf2-print, through the whole command
for text in testdata/otf2/*.base64; do
	name=$(basename "$text" .base64) archive=$tmp/otf2/$(basename "$text" .base64)
	testdata/otf2/unpack.sh "$name" "$archive"
	expect 0 "" "$memtrace" import -q -o "$tmp/$name.db" "$archive"
	states=$(sqlite3 "$tmp/$name.db" "SELECT count(*) FROM EVENT e JOIN EVENT_TYPE t ON t.ID = e.EVENT_TYPE_ID WHERE t.CATEGORY = 1")
	[ "$states" = "$(otf2-print "$archive/eztrace_log.otf2" 2>/dev/null | grep -c '^ENTER')" ] && ok || bad "OTF2 $name: $states states"
done
# and, exported as Pajé and imported again, those of pj_dump
for name in io openmp mpi; do
	expect 0 "" "$memtrace" export -q --format paje -o "$tmp/$name.paje" "$tmp/$name.db"
	expect 0 "" "$memtrace" import -q -o "$tmp/$name-paje.db" "$tmp/$name.paje"
	ours=$(sqlite3 "$tmp/$name-paje.db" "SELECT CASE t.CATEGORY WHEN 0 THEN 'Event' WHEN 1 THEN 'State' WHEN 2 THEN 'Link' ELSE 'Variable' END AS c, count(*)
		FROM EVENT e JOIN EVENT_TYPE t ON t.ID = e.EVENT_TYPE_ID GROUP BY c ORDER BY c")
	theirs=$(pj_dump "$tmp/$name.paje" | awk -F, '$1 != "Container" { n[$1]++ } END { for (k in n) print k "|" n[k] }' | LC_ALL=C sort)
	[ -n "$theirs" ] && [ "$ours" = "$theirs" ] && ok || bad "Pajé $name: ours $ours, pj_dump $theirs"
done
# and, exported as OTF2, the counts of each region at each location are those of the archive; the states come back
for name in io openmp mpi; do
	expect 0 "" "$memtrace" export -q --format otf2 -o "$tmp/$name.otf2" "$tmp/$name.db"
	ours=$(otf2-print "$tmp/$name.otf2/traces.otf2" 2>/dev/null | awk -F '[<>"]+' '/^ENTER/ { split($0, w, " "); n[w[2] "," $2]++ }
		END { for (k in n) { split(k, p, ","); print p[2] "," n[k] } }' | LC_ALL=C sort)
	theirs=$(cut -d, -f2,3 "testdata/otf2/$name.regions" | LC_ALL=C sort)
	[ -n "$ours" ] && [ "$ours" = "$theirs" ] && ok || bad "OTF2 export $name: ours $ours, otf2-print of the archive $theirs"
	expect 0 "" "$memtrace" import -q -o "$tmp/$name-otf2.db" "$tmp/$name.otf2"
	for db in "$name" "$name-otf2"; do
		sqlite3 "$tmp/$db.db" "SELECT t.NAME, e.TIMESTAMP - (SELECT min(TIMESTAMP) FROM EVENT), e.LPAR - e.TIMESTAMP, e.DPAR FROM EVENT e
			JOIN EVENT_TYPE t ON t.ID = e.EVENT_TYPE_ID WHERE t.CATEGORY = 1 ORDER BY 1, 2, 3, 4" >"$tmp/states.$db"
	done
	[ -s "$tmp/states.$name" ] && cmp -s "$tmp/states.$name" "$tmp/states.$name-otf2" && ok || bad "OTF2 export $name: other states"
done
expect 0 "" "$memtrace" export -q --format otf2 -o "$tmp/memory.otf2" testdata/format-example
[ "$(otf2-print "$tmp/memory.otf2/traces.otf2" 2>/dev/null | grep -c '^METRIC')" -gt 9 ] && ok || bad "OTF2 export: no metrics of a memory trace"
# a real trace in Chrome's JSON, where clang is
if command -v clang-14 clang >/dev/null; then
	compiler=$(command -v clang-14 clang | head -n 1)
	"$compiler" -O1 -ftime-trace -ftime-trace-granularity=0 -c -o "$tmp/time.o" testdata/otf2/threads.c
	expect 0 "" "$memtrace" import -q -o "$tmp/time.db" "$tmp/time.json"
	states=$(sqlite3 "$tmp/time.db" "SELECT count(*) FROM EVENT e JOIN EVENT_TYPE t ON t.ID = e.EVENT_TYPE_ID WHERE t.CATEGORY = 1")
	[ "$states" = "$(grep -o '"ph":"X"' "$tmp/time.json" | wc -l)" ] && ok || bad "Chrome JSON of clang: $states states"
else
	skipped=$((skipped + 1))
	echo "SKIPPED: Chrome JSON of clang: clang is not installed"
fi
cp -r "$tmp/otf2/io" "$tmp/cut" && truncate -s 200 "$tmp/cut/eztrace_log/2.evt"
expect 3 "P#0T#2: 1[0-9]* events were read" "$memtrace" import --strict -o "$tmp/cut.db" "$tmp/cut"
expect 0 "" "$memtrace" import -q -o "$tmp/cut.db" "$tmp/cut"
expect 3 "no OTF2 archive\|does not exist" "$memtrace" otf2-stream /no/such.otf2

# --- EZTrace beside the recorder: both traces of one run are joined, or it is said that their clocks do not fit (a busy machine)
expect 2 "there is no tool scorep" "$memtrace" record -o "$tmp/none" --with scorep:all -- /bin/true
expect 2 "which modules" "$memtrace" record -o "$tmp/none" --with eztrace: -- /bin/true
expect 2 "needs --with" "$memtrace" record -o "$tmp/none" --libomp -- /bin/true
expect 2 "works with these backends only: zap, rwp" "$memtrace" record --backend none --zoom 0x1000-0x2000 -- /bin/true
expect 4 "EZTrace is not installed" env PATH=/nowhere "$memtrace" record -o "$tmp/none" --with eztrace:pthread -- /bin/true
if command -v eztrace >/dev/null && gcc -O1 -g -fopenmp -o "$tmp/array" testdata/otf2/array.c 2>/dev/null; then
	expect 4 "no module nothing here, only .*pthread" "$memtrace" record -o "$tmp/none" --with eztrace:nothing -- /bin/true
	expect 4 "standstill" "$memtrace" record -o "$tmp/none" --with eztrace:pthread,posixio -- /bin/true
	expect 4 "has no OMPT.*--libomp" "$memtrace" record -o "$tmp/none" --with eztrace:ompt -- "$tmp/array"
	[ ! -e "$tmp/none" ] && ok || bad "record --with leaves a trace of a program that it did not start"
	joined=no
	for run in 1 2 3 4; do
		MEMTRACE_HOME="$tmp/home" timeout 300 "$memtrace" record -i 5ms --max-overhead 0 -o "$tmp/with-$run" --with eztrace:ompt --libomp -- \
			"$tmp/array" >"$tmp/out" 2>"$tmp/err" && [ "$(wc -l <"$tmp/out")" = 1 ] && ok || bad "record --with: $(tail -n 3 "$tmp/err")"
		grep -q '"tool": "eztrace"' "$tmp/with-$run/manifest.json" && [ -s "$tmp/with-$run/eztrace/array_trace/eztrace_log.otf2" ] && ok ||
			bad "record --with has no archive"
		[ ! -e "$(echo "$tmp/with-$run"/eztrace/.libomp*)" ] && ok || bad "record --with leaves its link to libomp"
		! grep -q "above 1 ms" "$tmp/err" || continue
		grep -q "^Residual .*births of threads" "$tmp/err" && ok || bad "record --with joins nothing: $(tail -n 3 "$tmp/err")"
		joined=yes
		break
	done
	if [ $joined = yes ]; then
		MEMTRACE_HOME="$tmp/home" "$memtrace" query --what groups --by region,structure --format csv "$tmp/with-$run" >"$tmp/groups"
		shares=$(awk -F, '$2 == "a" { all += $3; n[$1] += $3 }
			END { print (all > 1000 && n["OpenMP loop"] >= 0.95 * all && n["OpenMP implicit barrier"] <= 0.01 * all) ? "right" : "wrong" }' "$tmp/groups")
		[ "$shares" = right ] && ok || bad "accesses of the array by OpenMP region: $(grep ',a,' "$tmp/groups")"
	else
		skipped=$((skipped + 1))
		echo "NOT JUDGED: accesses by OpenMP region: on this busy machine the clocks of EZTrace and memtrace never fitted"
	fi
else
	skipped=$((skipped + 1))
	echo "SKIPPED: record --with: eztrace is not installed"
fi

# --- a trace of LTTng in user space has the counts of babeltrace2
lttng_ready=no
if command -v lttng-sessiond babeltrace2 >/dev/null && mkdir "$tmp/lttng" && env HOME="$tmp/lttng" LTTNG_HOME="$tmp/lttng" \
	lttng-sessiond --no-kernel --daemonize --pidfile "$tmp/lttng/pid" >"$tmp/lttng/log" 2>&1; then
	(
		export HOME="$tmp/lttng" LTTNG_HOME="$tmp/lttng" LTTNG_UST_REGISTER_TIMEOUT=-1
		lttng create memtrace-check-$$ --output="$tmp/lttng/session" && lttng enable-event -u 'lttng_ust_libc:*' &&
			lttng add-context -u -t vpid -t vtid -t procname && lttng start &&
			timeout 120 env LD_PRELOAD=liblttng-ust-libc-wrapper.so.1 ls / && lttng destroy memtrace-check-$$
	) >>"$tmp/lttng/log" 2>&1 && lttng_ready=yes
	kill "$(cat "$tmp/lttng/pid")"
fi
if [ $lttng_ready = yes ]; then
	expect 0 "" "$memtrace" import -q -o "$tmp/lttng.db" "$tmp/lttng/session"
	for call in malloc free; do
		ours=$(sqlite3 "$tmp/lttng.db" "SELECT count(*) FROM EVENT e JOIN EVENT_TYPE t ON t.ID = e.EVENT_TYPE_ID
			WHERE t.NAME = 'lttng_ust_libc:$call'")
		theirs=$(babeltrace2 "$tmp/lttng/session" 2>/dev/null | grep -c "lttng_ust_libc:$call:")
		[ "$theirs" -gt 0 ] && [ "$ours" = "$theirs" ] && ok || bad "LTTng: $ours of $call, babeltrace2 has $theirs"
	done
	cut=$(ls -S "$tmp"/lttng/session/ust/uid/*/*/channel0_* | head -n 1)
	truncate -s -100 "$cut"
	expect 3 "is damaged" "$memtrace" import --strict -o "$tmp/lttng-cut.db" "$tmp/lttng/session"
else
	skipped=$((skipped + 1))
	echo "SKIPPED: a trace of LTTng: $(tail -n 1 "$tmp/lttng/log" 2>/dev/null || echo "lttng-tools or babeltrace2 is not installed")"
fi

# --- each library is on the class path that the native program makes
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" machine testdata/format-example
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" place --topology 'pack:2 [numa] core:2 pu:1' testdata/format-example
# the trace of a program is named as the program, which may be a file in the same folder; a damaged database is no name
mkdir "$tmp/beside" && cp /bin/true "$tmp/beside/example" && printf 'SQLite format 3\0damaged' >"$tmp/beside/damaged"
expect 0 "the file example is no trace" env -C "$tmp/beside" MEMTRACE_HOME="$tmp/home" "$memtrace" summary example
expect 3 "damaged" env -C "$tmp/beside" MEMTRACE_HOME="$tmp/home" "$memtrace" summary damaged
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" advise testdata/format-example
# SQL, whose engine is not on the class path
expect 4 "DuckDB, which is not installed" env -u MEMTRACE_DUCKDB MEMTRACE_HOME="$tmp/home" "$memtrace" sql testdata/format-example "select 1"
build_sql || exit 1
expect 0 "" env MEMTRACE_HOME="$tmp/home" MEMTRACE_CACHE="$tmp/cache" MEMTRACE_DUCKDB="$duckdb" "$memtrace" sql testdata/format-example "select count(*) as n from access"
grep -q "^ *[1-9][0-9]*$" "$tmp/out" && ok || bad "no accesses in SQL: $(cat "$tmp/out")"
expect 2 "Table with name nothing does not exist" env MEMTRACE_HOME="$tmp/home" MEMTRACE_CACHE="$tmp/cache" MEMTRACE_DUCKDB="$duckdb" "$memtrace" sql testdata/format-example "from nothing"
# before and after a change; options stand anywhere
example=testdata/format-example
cp -r $example "$tmp/other" && sed -i 's#"executable": *"[^"]*"#"executable": "/bin/another"#' "$tmp/other/manifest.json"
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example $example
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example $example -- $example --format html -o "$tmp/diff.html"
grep -q "</html>" "$tmp/diff.html" && ok || bad "no page of the comparison"
expect 1 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff --fail-if 'pages<+1%' $example $example
expect 2 "before and after" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example
expect 3 "is not a condition" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example $example --fail-if 'speed>3%'
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example "$tmp/other" --force
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" diff $example "$tmp/other"
grep -q "programs have other names" "$tmp/out" && ok || bad "programs of other names are compared without a note"
expect 3 "" "$memtrace" record --repeat 2 -o "$tmp/runs.memtrace" -- sh -c 'exit 3'
[ -d "$tmp/runs-1.memtrace" ] && [ -d "$tmp/runs-2.memtrace" ] && ok || bad "not a trace for each run"
expect 2 "runs-1.memtrace exists" "$memtrace" record --repeat 2 -o "$tmp/runs.memtrace" -- true
expect 2 "exclude each other" "$memtrace" record --repeat 2 --pid 1
# ranks of a job, as a launcher tells them by the environment
for rank in 0 1; do
	expect 0 "" env SLURM_JOB_ID=47 SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_PROCID=$rank "$memtrace" record -o "$tmp/%j" -- /bin/true
done
expect 2 "exists" env SLURM_JOB_ID=47 SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_PROCID=1 "$memtrace" record -o "$tmp/%j" -- /bin/true
expect 0 "" "$memtrace" info "$tmp/47.0"
grep -q "^Job .*: 2 ranks$" "$tmp/out" && ok || bad "info of a job: $(head -n 1 "$tmp/out")"
expect 0 "" "$memtrace" import -o "$tmp/job.db" "$tmp/47.0"
grep -q "^ranks  *2 on 1 machine" "$tmp/out" && ok || bad "two ranks are not one trace: $(cat "$tmp/out")"
expect 0 "" "$memtrace" pack -o "$tmp/job.zip" "$tmp/47.0"
expect 0 "" "$memtrace" unpack -o "$tmp/elsewhere" "$tmp/job.zip"
[ "$(diff -r "$tmp/47.0" "$tmp/elsewhere/47.0" | grep -vc SHA256SUMS)" = 0 ] && ok || bad "what was unpacked is not what was packed"
expect 3 "no archive of memtrace pack" "$memtrace" unpack -o "$tmp/elsewhere" README.md
printf '%s\n' 'name = "t"' 'purpose = "a test"' 'command = ["true"]' 'repetitions = 3' 'seed = 1' >"$tmp/plan.toml"
expect 0 "" "$memtrace" experiment -o "$tmp/experiment" --runs 2 "$tmp/plan.toml"
[ "$(wc -l <"$tmp/experiment/results.csv")" = 3 ] && ok || bad "two runs of an experiment are not two lines of results"
expect 2 "parallel job" "$memtrace" record -o "$tmp/%r" -- /bin/true
expect 127 "no-such-program" "$memtrace" record --repeat 3 -o "$tmp/none" -- no-such-program
[ ! -e "$tmp/none-1" ] && ok || bad "a program that cannot run leaves a trace"
expect 0 "" env MEMTRACE_HOME="$tmp/home" "$memtrace" export --format parquet -o "$tmp/parquet" testdata/format-example

# --- a full disk behind standard output
expect 1 "memtrace query: standard output cannot be written: No space left on device" \
	env MEMTRACE_HOME="$tmp/home" sh -c 'exec "$0" query testdata/format-example >/dev/full' "$memtrace"

# --- a reader that goes away is no error
for run in "$memtrace" java; do
	rc=$(set +o pipefail; { $run help --markdown 2>"$tmp/err" || $run --help 2>>"$tmp/err"; } | head -n 1 >/dev/null; echo ${PIPESTATUS[0]})
	[ ! -s "$tmp/err" ] || [ "$run" = java ] && ok || bad "broken pipe: $rc $(cat "$tmp/err")"
done

# --- a trace whose recorder was killed is completed before it is read
killed=$tmp/killed
cp -r testdata/format-example "$killed"
rm "$killed"/p0000/{structures,stacks,threads}.csv
sed -i 's/"state": *"complete"/"state": "running"/' "$killed/manifest.json"
expect 0 "$killed: completing what the recorder left unfinished" "$memtrace" import -o "$tmp/killed.db" "$killed"
[ -s "$killed/p0000/structures.csv" ] && ! grep -q '"running"' "$killed/manifest.json" && ok || bad "the killed trace is not complete"
expect 0 "" "$memtrace" summary "$tmp/killed.db"

# --- exports, read by others and compared with the CSV
pyarrow=$PWD/build/tools/pyarrow
if [ ! -d "$pyarrow" ]; then
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --only-binary :all: --target "$pyarrow.new" \
		pyarrow==23.0.1 >"$tmp/pip" 2>&1 && mv "$pyarrow.new" "$pyarrow"
fi
java import -q -o "$tmp/e.db" testdata/format-example >/dev/null 2>&1
java export -q -o "$tmp/e.csv" "$tmp/e.db"
java export -q --format pjdump -o "$tmp/e.paje" "$tmp/e.db"
java export -q --format paje -o "$tmp/e.trace" "$tmp/e.db"
if command -v pj_dump >/dev/null; then
	pj_dump "$tmp/e.trace" >"$tmp/e.dump" 2>"$tmp/out" && releng/check-export.py dump "$tmp/e.dump" "$tmp/e.csv" >"$tmp/out" 2>&1 && ok ||
		bad "Paje: $(tail -n 1 "$tmp/out")"
else
	skipped=$((skipped + 1))
	echo "SKIPPED: Paje trace read by pj_dump (package pajeng)"
fi
java export -q --format parquet --window 50ms -o "$tmp/e.parquet" "$tmp/e.db"
java export -q --format parquet -o "$tmp/m.parquet" "$tmp/e.db"
releng/check-export.py pjdump "$tmp/e.paje" "$tmp/e.csv" >"$tmp/out" 2>&1 && ok || bad "Paje dump: $(tail -n 1 "$tmp/out")"
if [ -d "$pyarrow" ]; then
	PYTHONPATH=$pyarrow releng/check-export.py parquet "$tmp/e.parquet" "$tmp/e.csv" >"$tmp/out" 2>&1 && ok ||
		bad "Parquet: $(tail -n 1 "$tmp/out")"
	PYTHONPATH=$pyarrow releng/check-export.py parquet "$tmp/m.parquet" "$tmp/e.csv" >"$tmp/out" 2>&1 && ok ||
		bad "Parquet by memory: $(tail -n 1 "$tmp/out")"
else
	skipped=$((skipped + 1))
	echo "SKIPPED: Parquet read by pyarrow, which cannot be installed: $(tail -n 1 "$tmp/pip")"
fi

# --- start-up time: shown, not judged (machines differ)
"$memtrace" help >/dev/null
MEMTRACE_CACHE=$tmp/cache "$memtrace" list "$tmp/none" >/dev/null 2>&1
t0=$(date +%s%N)
"$memtrace" --help >/dev/null
t1=$(date +%s%N)
MEMTRACE_CACHE=$tmp/cache "$memtrace" list "$tmp/none" >/dev/null 2>&1
t2=$(date +%s%N)
echo "start-up: --help $(((t1 - t0) / 1000000)) ms, a Java command $(((t2 - t1) / 1000000)) ms"
echo "cli: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
