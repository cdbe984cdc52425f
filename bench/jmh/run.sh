#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# JMH figures of the aggregation engine, docs/measured/aggregation.md:
#   run.sh [figures|curves] [JMH OPTIONS...]     default: figures
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
find_maven || exit 1
mkdir -p build
run_maven build/bench-jmh.log -f bench/jmh/pom.xml package || exit 1
what=Figures
case ${1:-} in
figures) shift ;;
curves) what=Curves; shift ;;
esac
uptime
exec "$JAVA_HOME"/bin/java -cp "build/bench-jmh/classes:build/bench-jmh/lib/*" org.openjdk.jmh.Main \
	-rf csv -rff build/bench-jmh/$what.csv "$what" "$@"
