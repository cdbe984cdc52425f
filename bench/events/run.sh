#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Events other than accesses in the store, beside FrameSoc's plain tables: bench/events/run.sh [EVENTS [ROUNDS]].
set -e
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk
releng/dev-compile.sh
out=build/bench-events
rm -rf "$out"
mkdir -p "$out"
libs="build/classes:$(ls build/lib/*.jar | grep -v '/org\.memtrace\.' | tr '\n' ':')"
"$JAVA_HOME/bin/javac" -proc:none -nowarn -d "$out" -cp "$libs" bench/events/EventBench.java
"$JAVA_HOME/bin/java" -Xmx2g --enable-native-access=ALL-UNNAMED -cp "$out:$libs" EventBench "$out" "${1:-2000000}" "${2:-3}"
rm -rf "$out"
