# shellcheck shell=sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Finds or installs what the scripts of the checkout need, and builds. Source it
# with the top of the checkout as the working directory.

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

# maven_usable MVN: is it 3.9.9 or newer, and not Debian's? Debian replaces the
# libraries inside of Maven by its own; with those of Debian 13 (3.9.9) Tycho
# ends with "No implementation for TargetPlatformArtifactResolver was bound".
maven_usable() {
	about=$("$1" -v 2>/dev/null) || return 1
	case $about in
	*"Maven home: /usr/share/maven"*) return 1 ;;
	esac
	v=$(printf '%s\n' "$about" | sed -n 's/.*Apache Maven \([0-9.]*\).*/\1/p' | head -n 1)
	[ -n "$v" ] && [ "$(printf '3.9.9\n%s\n' "$v" | sort -V | head -n 1)" = 3.9.9 ]
}

# find_maven: sets MVN to a Maven of 3.9.9 or newer. An older installed one is
# used to fetch the newer one as an artifact into build/tools.
find_maven() {
	for m in "${MVN:-}" "$PWD/build/tools/apache-maven-$MAVEN_VERSION/bin/mvn" mvn; do
		[ -n "$m" ] && command -v "$m" >/dev/null 2>&1 && maven_usable "$m" || continue
		MVN=$m
		return 0
	done
	if ! command -v mvn >/dev/null 2>&1; then
		tools_say "no Maven found; install it (Debian: apt-get install maven), any version of 3.6 or newer will do"
		return 1
	fi
	tools_say "fetching Maven $MAVEN_VERSION (the installed one is older than 3.9.9, or Debian's)"
	mkdir -p build/tools
	# outside of the checkout's pom, which an old Maven cannot read
	(cd build/tools && mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact=org.apache.maven:apache-maven:$MAVEN_VERSION:tar.gz:bin \
		-DoutputDirectory="$PWD") >build/tools/fetch.log 2>&1 || {
		tail -n 20 build/tools/fetch.log >&2
		tools_say "fetching Maven $MAVEN_VERSION failed; is a Maven repository reachable?"
		return 1
	}
	tar -C build/tools -xf build/tools/apache-maven-$MAVEN_VERSION-bin.tar.gz
	rm -f build/tools/apache-maven-$MAVEN_VERSION-bin.tar.gz
	MVN=$PWD/build/tools/apache-maven-$MAVEN_VERSION/bin/mvn
	# mirrors that the system has set for its own Maven hold for this one too
	[ ! -r /etc/maven/settings.xml ] || cp /etc/maven/settings.xml "${MVN%/bin/mvn}"/conf/settings.xml
}

# run_maven LOG ARGUMENTS...: quietly; when it fails, the errors and where the log is.
run_maven() {
	log=$1
	shift
	"$MVN" -B -ntp "$@" >"$log" 2>&1 </dev/null && return 0
	grep -E '^\[ERROR\]' "$log" | head -n 20 >&2
	tools_say "Maven failed; all of its output is in $log"
	return 1
}

# --- Debian packages --------------------------------------------------------

apt_refreshed=no

# apt_refresh: apt-get update, once, when the lists are missing or a day old.
apt_refresh() {
	[ $apt_refreshed = no ] || return 0
	apt_refreshed=yes
	[ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mmin -1440 2>/dev/null | head -n 1)" ] || return 0
	mkdir -p build
	$as_root apt-get -q update >build/apt.log 2>&1 || {
		tail -n 20 build/apt.log >&2
		return 1
	}
}

apt_candidate() {
	apt-cache policy "$1" 2>/dev/null | grep -q '^ *Candidate: [0-9]'
}

package_installed() {
	dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed'
}

# missing_packages GROUP...: prints what is not installed, one "a|b" per line.
missing_packages() {
	for group; do
		sed -n "s/^$group  *//p" releng/packages.txt
	done | while read -r names; do
		found=no
		for name in $(echo "$names" | tr '|' ' '); do
			! package_installed "$name" || found=yes
		done
		[ $found = yes ] || echo "$names"
	done
}

# may_install WHAT: asks when a person is at the terminal; ASSUME_YES=yes answers.
may_install() {
	[ "${ASSUME_YES:-no}" = no ] && [ -t 0 ] && [ -t 2 ] || return 0
	printf 'memtrace: this needs Debian packages: %s\nInstall them now with apt-get? [y/N] ' "$*" >&2
	read -r answer || answer=
	case $answer in
	y | Y | yes) return 0 ;;
	esac
	return 1
}

# install_packages NAME|ALTERNATIVE...
install_packages() {
	as_root=
	if ! command -v apt-get >/dev/null 2>&1; then
		tools_say "these packages are needed, under the names that your system has for them: $*"
		return 1
	fi
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null 2>&1 || ! [ -t 0 ]; then
			tools_say "please install as root: apt-get install $(echo "$*" | sed 's/|[^ ]*//g')"
			return 1
		fi
		as_root=sudo
	fi
	may_install "$*" || return 1
	apt_refresh
	chosen=
	for names; do
		one=
		for name in $(echo "$names" | tr '|' ' '); do
			[ -n "$one" ] || ! apt_candidate "$name" || one=$name
		done
		chosen="$chosen ${one:-${names%%|*}}"
	done
	tools_say "installing:$chosen"
	mkdir -p build
	# tests start an sshd of their own: nobody has asked for one that the network sees
	case $chosen in
	*" openssh-server"*)
		for unit in ssh.service ssh.socket; do
			[ -e /etc/systemd/system/$unit ] || [ -L /etc/systemd/system/$unit ] || [ ! -d /etc/systemd/system ] ||
				$as_root ln -s /dev/null /etc/systemd/system/$unit
		done
		tools_say "the service ssh of openssh-server stays off; 'systemctl unmask ssh.service' undoes that"
		;;
	esac
	case $chosen in
	*" postgresql"*)
		unit=/etc/systemd/system/postgresql.service
		[ -e $unit ] || [ -L $unit ] || [ ! -d /etc/systemd/system ] || $as_root ln -s /dev/null $unit
		# no cluster is made, either, unless one exists
		[ -e /etc/postgresql-common/createcluster.conf ] || {
			$as_root mkdir -p /etc/postgresql-common
			echo "create_main_cluster = false" | $as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
		}
		tools_say "the service postgresql stays off, without a cluster; 'systemctl unmask postgresql.service' undoes that"
		;;
	esac
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends \
		install $chosen >build/apt.log 2>&1 </dev/null && return 0
	tail -n 20 build/apt.log >&2
	tools_say "apt-get failed; all of its output is in build/apt.log"
	return 1
}

# ensure_packages GROUP...: installs what is missing of these groups.
ensure_packages() {
	command -v dpkg-query >/dev/null 2>&1 || return 0
	missing=$(missing_packages "$@")
	# shellcheck disable=SC2086
	[ -z "$missing" ] || install_packages $missing
}

# ensure_jdk: find_jdk, and where there is none, the one that apt offers.
ensure_jdk() {
	! find_jdk 2>/dev/null || return 0
	if command -v apt-get >/dev/null 2>&1; then
		as_root=
		[ "$(id -u)" = 0 ] || as_root=sudo
		apt_refresh
		for name in openjdk-25-jdk-headless openjdk-21-jdk-headless; do
			if apt_candidate $name; then
				install_packages $name || return 1
				break
			fi
		done
	fi
	find_jdk
}

# --- building ---------------------------------------------------------------

# archives keep the modes of files
umask 022

# newer STAMP PATH...: is something below the paths newer than the stamp?
newer() {
	stamp=$1
	shift
	[ -f "$stamp" ] || return 0
	[ -n "$(find "$@" -newer "$stamp" -type f ! -path '*/target/*' 2>/dev/null | head -n 1)" ]
}

# One build at a time in a checkout.
build_lock() {
	mkdir -p build
	exec 9>build/.lock
	! command -v flock >/dev/null 2>&1 || flock 9
}

# source_date: sets and exports SOURCE_DATE_EPOCH, the seconds of the commit, so that
# one commit gives the same bytes anywhere. A checkout with changes has none:
# its bundles get the time of the build as their qualifier, as versions
# that differ must.
source_date() {
	[ -z "${SOURCE_DATE_EPOCH:-}" ] || return 0
	[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null || echo none)" ] || return 0
	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) && export SOURCE_DATE_EPOCH
}

# maven_source_date: prints the arguments that give Maven that time.
maven_source_date() {
	source_date
	[ -z "${SOURCE_DATE_EPOCH:-}" ] || printf '%s\n' \
		"-Dproject.build.outputTimestamp=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" \
		"-DforceContextQualifier=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M)"
}

build_native() {
	newer build/.native collector org.memtrace.cli/commands || [ ! -x build/collector/memtrace ] || return 0
	tools_say "building the collector"
	touch build/.native.new
	make -s -C collector >build/native.log 2>&1 || {
		cat build/native.log >&2
		tools_say "the collector could not be built; its packages are in releng/packages.txt, './memtrace setup' installs them"
		return 1
	}
	mv build/.native.new build/.native
}

HEADLESS="model storage importer aggregation analysis topology sql serve cli"

# build_java: the jars of the command line in build/lib, with javac alone; the
# Eclipse platform is not needed for them. Maven only fetches four libraries.
build_java() {
	sources=
	for b in $HEADLESS; do
		sources="$sources org.memtrace.$b/src"
	done
	# shellcheck disable=SC2086
	newer build/.java $sources org.memtrace.cli/commands releng/org.memtrace.libraries/pom.xml ||
		[ ! -f build/lib/org.memtrace.cli.jar ] || return 0
	tools_say "building the Java commands"
	touch build/.java.new
	if newer build/.libraries releng/org.memtrace.libraries/pom.xml; then
		find_maven || return 1
		rm -rf build/lib
		run_maven build/libraries.log -f releng/org.memtrace.libraries/pom.xml generate-resources || return 1
		touch build/.libraries
	fi
	releng/dev-compile.sh build/jar-classes >&2 || return 1
	source_date
	date=
	[ -z "${SOURCE_DATE_EPOCH:-}" ] || date="--date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
	for b in $HEADLESS; do
		mkdir -p build/jar-classes/org/memtrace/$b
		more=
		[ $b != cli ] || more="-C build/jar-classes commands"
		# shellcheck disable=SC2086
		"$JAVA_HOME"/bin/jar --create --file build/lib/.$b.jar $date -C build/jar-classes org/memtrace/$b $more || return 1
		mv build/lib/.$b.jar build/lib/org.memtrace.$b.jar
	done
	mv build/.java.new build/.java
}

# fetch_duckdb DIR: the SQL engine, in the version that DuckDbLibrary.java knows; sets duckdb to its file.
fetch_duckdb() {
	duckdb_version=$(sed -n 's/.* VERSION = "\(.*\)";/\1/p' org.memtrace.sql/src/org/memtrace/sql/DuckDbLibrary.java)
	duckdb=$PWD/$1/duckdb_jdbc-$duckdb_version-linux_amd64.jar
	[ ! -f "$duckdb" ] || return 0
	find_maven || return 1
	tools_say "fetching DuckDB $duckdb_version (19 MB) from the Maven repository"
	mkdir -p "$1"
	run_maven build/duckdb.log org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
		-Dartifact=org.duckdb:duckdb_jdbc:"$duckdb_version":jar:linux_amd64 -DoutputDirectory="$PWD/$1"
}

# build_sql: what `memtrace sql` needs beyond the Java commands. Not in build/lib, which is shipped.
build_sql() {
	fetch_duckdb build/sql
}

build_examples() {
	! make -q -s -C examples all portable 2>/dev/null || return 0
	tools_say "building the examples"
	make -s -C examples all portable >&2
}

# build_workbench: everything of Java by Maven; the product becomes build/workbench.
build_workbench() {
	[ -z "${ALL_PLATFORMS:-}" ] && [ -x build/workbench/memtrace-workbench ] &&
		! newer build/.workbench org.memtrace.*/* releng/org.memtrace.* releng/sbom.sh releng/third-party.txt pom.xml && return 0
	find_maven || return 1
	tools_say "building the workbench (the first time fetches about 200 MB from the Maven repository)"
	touch build/.workbench.new
	for name in cli linux ${ALL_PLATFORMS:+windows macos}; do
		releng/sbom.sh $name || return 1
	done
	# shellcheck disable=SC2046
	run_maven build/workbench.log verify -DskipTests $(maven_source_date) ${ALL_PLATFORMS:+-Pall-platforms} || return 1
	ln -sfn ../releng/org.memtrace.product/target/products/org.memtrace.product/linux/gtk/x86_64 build/workbench
	mv build/.workbench.new build/.workbench
}
