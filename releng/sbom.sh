#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The bill of materials (CycloneDX) and the licence texts of the libraries that
# are shipped, into build/sbom/NAME:
#
#   releng/sbom.sh linux|windows|macos     the workbench of that system
#   releng/sbom.sh cli                     the Java commands
#
#   memtrace.cdx.json                      components with versions, hashes, licences
#   LICENSES/third-party/ARTIFACT/         licence texts and notices
#
# Tycho tells the CycloneDX plug-in only of our own bundles (those of a target
# platform are no dependencies of Maven's): so the plug-in reads a pom made of
# the lines of the target platform. That it names what is in the product,
# no more and no less, is tested by releng/check-shipped.py.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
. releng/tools.sh
name=${1:?linux, windows, macos or cli}
out=build/sbom/$name
case $name in
linux) fragment=gtk.linux.x86_64 ;;
windows) fragment=win32.win32.x86_64 ;;
macos) fragment=cocoa.macosx.aarch64 ;;
cli) fragment= ;;
*)
	tools_say "sbom: linux, windows, macos or cli, not $name"
	exit 2
	;;
esac

# dependencies: one line each, "<dependency>…</dependency>"
dependencies() {
	if [ $name = cli ]; then
		tr -d '\n' <releng/org.memtrace.libraries/pom.xml | sed 's,<exclusions>[^/]*</groupId>[^/]*</artifactId></exclusion></exclusions>,,g; s,> *<,><,g; s,<dependency>,\n&,g; s,</dependency>,&\n,g' |
			grep '^<dependency>'
	else
		sed '/label="Tests only/,$d' releng/org.memtrace.target/org.memtrace.target.target | grep '<dependency>' |
			awk -v fragment="<artifactId>org.eclipse.swt.$fragment<" \
				'!/<artifactId>org.eclipse.swt.(gtk|win32|cocoa)/ || index($0, fragment)'
	fi
}

if ! newer $out/.done releng/sbom.sh releng/third-party.txt releng/org.memtrace.target/org.memtrace.target.target \
	releng/org.memtrace.libraries/pom.xml pom.xml; then
	exit 0
fi
find_jdk
find_maven
rm -rf $out
mkdir -p $out
version=$(sed -n '/<artifactId>org.memtrace.parent/,/<version>/s,.*<version>\([^<-]*\).*,\1,p' pom.xml)
texts=$(sed '/^#/d' releng/third-party.txt | awk '{ print "licenses/" $2 ".txt" }' | sort -u | tr '\n' ',')
{
	cat <<EOF
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.memtrace</groupId>
  <artifactId>memtrace-$([ $name = cli ] && echo cli || echo "workbench-$name")</artifactId>
  <version>$version</version>
  <packaging>pom</packaging>
  <licenses><license><name>EPL-2.0</name></license></licenses>
  <properties><project.build.outputTimestamp>1980-01-02T00:00:00Z</project.build.outputTimestamp></properties>
  <dependencies>
EOF
	dependencies | sed 's,</dependency>,<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>&,'
	cat <<EOF
  </dependencies>
  <build>
    <directory>\${project.basedir}</directory>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.9.0</version>
        <executions>
          <execution>
            <id>licences-in-archives</id>
            <phase>generate-resources</phase>
            <goals><goal>unpack-dependencies</goal></goals>
            <configuration>
              <includes>META-INF/LICENSE*,META-INF/NOTICE*,META-INF/AL2.0,META-INF/LGPL2.1,META-INF/licenses/**,META-INF/maven/*/*/LICENSE*,LICENSE*,license/*,about.html,about_files/**</includes>
              <useSubDirectoryPerArtifact>true</useSubDirectoryPerArtifact>
              <stripVersion>true</stripVersion>
              <outputDirectory>\${project.basedir}/unpacked</outputDirectory>
            </configuration>
          </execution>
          <execution>
            <id>texts</id>
            <phase>generate-resources</phase>
            <goals><goal>unpack</goal></goals>
            <configuration>
              <artifactItems>
                <artifactItem>
                  <groupId>org.cyclonedx</groupId>
                  <artifactId>cyclonedx-core-java</artifactId>
                  <version>9.0.5</version>
                  <includes>$texts</includes>
                </artifactItem>
              </artifactItems>
              <outputDirectory>\${project.basedir}/texts</outputDirectory>
            </configuration>
          </execution>
        </executions>
      </plugin>
      <plugin>
        <groupId>org.cyclonedx</groupId>
        <artifactId>cyclonedx-maven-plugin</artifactId>
        <version>2.9.1</version>
        <executions>
          <execution>
            <phase>package</phase>
            <goals><goal>makeBom</goal></goals>
            <configuration>
              <projectType>application</projectType>
              <outputFormat>json</outputFormat>
              <outputName>memtrace.cdx</outputName>
              <outputDirectory>\${project.basedir}</outputDirectory>
              <skipAttach>true</skipAttach>
            </configuration>
          </execution>
        </executions>
      </plugin>
    </plugins>
  </build>
</project>
EOF
} >$out/pom.xml
run_maven $out.log -f $out/pom.xml package
to=$out/LICENSES/third-party
mkdir -p $to
for dir in $out/unpacked/*; do
	artifact=$(basename $dir -jar)
	mkdir -p $to/$artifact
	# flat: META-INF/LICENSE becomes LICENSE; what about.html points to keeps its folder, and so do libraries inside of a library
	(cd $dir && find . -type f ! -path './about_files/*' ! -path './META-INF/licenses/*') | while read -r f; do
		cp $dir/$f $to/$artifact/
	done
	[ ! -d $dir/about_files ] || cp -r $dir/about_files $to/$artifact/
	[ ! -d $dir/META-INF/licenses ] || cp -r $dir/META-INF/licenses $to/$artifact/
done
grep -v '^#' releng/third-party.txt | while read -r artifact spdx copyright; do
	grep -q "<artifactId>$artifact</artifactId>" $out/pom.xml || continue
	mkdir -p $to/$artifact
	{
		printf '%s\n\n' "$copyright"
		grep -v -e '^Copyright (c) <year>' -e '^Copyright © ' $out/texts/licenses/$spdx.txt
	} >$to/$artifact/$spdx.txt
done
missing=$(dependencies | sed 's,.*<artifactId>\([^<]*\)</artifactId>.*,\1,' | while read -r artifact; do
	[ -n "$(ls $to/$artifact 2>/dev/null)" ] || echo " $artifact"
done)
[ -z "$missing" ] || { echo "sbom: no licence text of$missing; add a line to releng/third-party.txt" >&2; exit 1; }
rm -r $out/unpacked $out/texts $out/dependency-maven-plugin-markers
touch $out/.done
