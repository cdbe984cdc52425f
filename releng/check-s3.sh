#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# A Parquet folder in object storage: the server of the Python package moto on
# the loopback address, DuckDB with its extension httpfs. By hand: the packages
# are a download of 70 MB. Needs what build_native and build_java of
# releng/tools.sh make.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
fetch_duckdb build/sql || exit 1
venv=$PWD/build/s3-venv
if ! "$venv"/bin/python -c 'import boto3, moto.server' 2>/dev/null || [ ! -d "$venv"/httpfs ]; then
	rm -rf "$venv"
	python3 -m venv --without-pip "$venv" >build/s3.log 2>&1 &&
		python3 -m pip --python "$venv"/bin/python -q --disable-pip-version-check install 'moto[server]==5.2.5' boto3 >>build/s3.log 2>&1 &&
		python3 -m pip -q --disable-pip-version-check install --no-deps --target "$venv"/httpfs duckdb-ext-httpfs==1.4.4.20260205 >>build/s3.log 2>&1 || {
		tail -n 5 build/s3.log
		rm -rf "$venv"
		echo "SKIPPED: object storage: its server or DuckDB's extension cannot be installed"
		exit 0
	}
fi
MEMTRACE_DUCKDB_HTTPFS=$(find "$venv"/httpfs -name httpfs.duckdb_extension)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export MEMTRACE_HOME="$work/home" MEMTRACE_CACHE="$work/cache" MEMTRACE_DUCKDB="$duckdb" MEMTRACE_DUCKDB_HTTPFS
export AWS_ACCESS_KEY_ID=memtrace AWS_SECRET_ACCESS_KEY="it's a secret" AWS_REGION=us-east-1
memtrace=$PWD/build/collector/memtrace
failed=0
passed=0

# check NAME COMMAND...
check() {
	name=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		passed=$((passed + 1))
	else
		echo "FAILED: $name"
		tail -n 5 "$work/check.log"
		failed=$((failed + 1))
	fi
}

mkdir -p "$MEMTRACE_HOME"
"$memtrace" import -q -o "$work/app.db" testdata/traces/stencil-serial >"$work/import.log" 2>&1 || {
	cat "$work/import.log"
	exit 1
}
"$memtrace" export -q --format parquet -o "$work/app" "$work/app.db" || exit 1
"$venv"/bin/python -u - "$work" <<'PYTHON' >"$work/server.log" 2>&1 &
import os, sys, threading
import boto3
from moto.server import ThreadedMotoServer
work = sys.argv[1]
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
client.create_bucket(Bucket="traces")
for folder, _, files in os.walk(work + "/app"):
    for name in files:
        path = os.path.join(folder, name)
        client.upload_file(path, "traces", "runs/" + os.path.relpath(path, work))
with open(work + "/port.new", "w") as f:
    f.write(str(port))
os.rename(work + "/port.new", work + "/port")
threading.Event().wait()
PYTHON
server=$!
tries=0
while [ ! -f "$work/port" ] && kill -0 "$server" 2>/dev/null && [ $tries -lt 300 ]; do
	sleep 1
	tries=$((tries + 1))
done
[ -f "$work/port" ] || {
	tail -n 5 "$work/server.log"
	echo "FAILED: the server does not start"
	exit 1
}
AWS_ENDPOINT_URL=http://127.0.0.1:$(cat "$work/port")
export AWS_ENDPOINT_URL
address=s3://traces/runs/app

for view in type thread; do
	"$memtrace" aggregate -q --view $view --format json "$work/app.db" >"$work/$view.json"
	check "aggregate by $view" sh -c '"$1" aggregate -q --view "$2" --format json "$3" >"$4/found.json" && cmp "$4/found.json" "$4/$2.json"' \
		sh "$memtrace" $view $address "$work"
done
for k in 1 2; do
	check "part $k" "$memtrace" model-part -q --range $k/2 -o "$work/$k.part" $address/
done
check "parts" sh -c '"$1" aggregate -q --format json "$2"/*.part >"$2/found.json" && cmp "$2/found.json" "$2/type.json"' sh "$memtrace" "$work"
"$memtrace" sql -q "$work/app" "select sum(reads), sum(writes) from access" >"$work/sql.txt"
check "sql" sh -c '"$1" sql -q "$2" "select sum(reads), sum(writes) from access" >"$3/found.txt" && cmp "$3/found.txt" "$3/sql.txt"' \
	sh "$memtrace" $address "$work"
for command in "summary --format json" "query --what accesses --columns all --format csv" "query --what events --format csv" "advise --format json" machine; do
	# shellcheck disable=SC2086
	"$memtrace" $command -q "$work/app.db" >"$work/wanted" || failed=$((failed + 1))
	check "$command" sh -c '"$1" $4 -q "$2" >"$3/found" && cmp "$3/found" "$3/wanted"' sh "$memtrace" $address "$work" "$command"
done
"$memtrace" render -q --kind gantt -o "$work/wanted.svg" "$work/app.db"
check "render" sh -c '"$1" render -q --kind gantt -o "$3/found.svg" "$2" && cmp "$3/found.svg" "$3/wanted.svg"' sh "$memtrace" $address "$work"
check "info tells the address" sh -c '"$1" info "$2" | grep -q "$2"' sh "$memtrace" $address
check "the small tables are fetched once" sh -c '[ "$(ls "$1" | wc -l)" = 1 ] && [ -f "$1"/app-*/trace.db ]' sh "$MEMTRACE_HOME/folders"
check "what is not there is told" sh -c '! "$1" aggregate s3://traces/none 2>"$2/err.txt" && grep -q "meta.json" "$2/err.txt" && [ "$(wc -l <"$2/err.txt")" = 1 ]' \
	sh "$memtrace" "$work"
check "a missing extension is told" sh -c 'MEMTRACE_DUCKDB_HTTPFS=/none; export MEMTRACE_DUCKDB_HTTPFS; ! "$1" aggregate "$2" 2>"$3/err.txt" &&
	grep -q "extension httpfs is needed" "$3/err.txt"' sh "$memtrace" $address "$work"
printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
