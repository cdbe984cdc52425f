# shellcheck shell=sh
# Copyright memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Finds a JDK and a Maven for the scripts of the checkout. Source it with the
# top of the checkout as the working directory.

# tools_say TEXT...: one line for a person, on standard error.
tools_say() {
	printf 'memtrace: %s\n' "$*" >&2
}

# java_major HOME: prints the major version of the JDK (needs javac) in HOME.
java_major() {
	[ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
	if [ -r "$1/release" ]; then
		v=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$1/release")
	else
		v=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \(1\.\)\{0,1\}\([0-9]*\).*/\2/p')
	fi
	[ -n "$v" ] && echo "$v"
}

# find_jdk: sets and exports JAVA_HOME to a JDK of 21 or newer. Looks at
# MEMTRACE_JAVA_HOME, JAVA_HOME, the java on PATH and the usual folders.
find_jdk() {
	best= best_v=0
	for home in "${MEMTRACE_JAVA_HOME:-}" "${JAVA_HOME:-}"; do
		[ -n "$home" ] && v=$(java_major "$home") && [ "$v" -ge 21 ] || continue
		JAVA_HOME=$home
		export JAVA_HOME
		return 0
	done
	on_path=$(command -v javac 2>/dev/null) && on_path=$(readlink -f "$on_path") || on_path=
	for home in "${on_path%/bin/javac}" /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /opt/*jdk* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
		[ -n "$home" ] && [ ! -L "$home" ] && v=$(java_major "$home") || continue
		if [ "$v" -ge 21 ] && [ "$v" -gt "$best_v" ]; then
			best=$home best_v=$v
		fi
	done
	if [ -z "$best" ]; then
		tools_say "no JDK of version 21 or newer found; install one (Debian 13: apt-get install openjdk-21-jdk-headless, elsewhere https://adoptium.net) or set JAVA_HOME"
		return 1
	fi
	JAVA_HOME=$best
	export JAVA_HOME
}

MAVEN_VERSION=3.9.16

# maven_new_enough MVN: is it 3.9.9 or newer?
maven_new_enough() {
	v=$("$1" -v 2>/dev/null | sed -n 's/.*Apache Maven \([0-9.]*\).*/\1/p' | head -n 1)
	[ -n "$v" ] && [ "$(printf '3.9.9\n%s\n' "$v" | sort -V | head -n 1)" = 3.9.9 ]
}

# find_maven: sets MVN to a Maven of 3.9.9 or newer. An older installed one is
# used to fetch the newer one as an artifact into build/tools.
find_maven() {
	for m in "${MVN:-}" "$PWD/build/tools/apache-maven-$MAVEN_VERSION/bin/mvn" mvn; do
		[ -n "$m" ] && command -v "$m" >/dev/null 2>&1 && maven_new_enough "$m" || continue
		MVN=$m
		return 0
	done
	if ! command -v mvn >/dev/null 2>&1; then
		tools_say "no Maven found; install it (Debian: apt-get install maven), any version of 3.6 or newer will do"
		return 1
	fi
	tools_say "fetching Maven $MAVEN_VERSION (the installed one is older than 3.9.9)"
	mkdir -p build/tools
	mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact=org.apache.maven:apache-maven:$MAVEN_VERSION:tar.gz:bin \
		-DoutputDirectory="$PWD/build/tools" >&2 || {
		tools_say "fetching Maven $MAVEN_VERSION failed; is a Maven repository reachable?"
		return 1
	}
	tar -C build/tools -xf build/tools/apache-maven-$MAVEN_VERSION-bin.tar.gz
	rm -f build/tools/apache-maven-$MAVEN_VERSION-bin.tar.gz
	MVN=$PWD/build/tools/apache-maven-$MAVEN_VERSION/bin/mvn
}
