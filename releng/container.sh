#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# An image with the command memtrace, of what is committed (releng/Containerfile):
#
#   releng/container.sh [-t NAME] [OPTION...]     default name: memtrace
#
# With podman, docker or buildah, whichever is there first; OPTION goes to its build command.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
name=memtrace
[ "${1:-}" != -t ] || { name=${2:?} && shift 2; }
for tool in podman docker buildah; do
	command -v $tool >/dev/null && break
	tool=
done
if [ -z "$tool" ]; then
	echo "container.sh: needs podman, docker or buildah (Debian: apt-get install podman)" >&2
	exit 4
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/memtrace"
$tool build "$@" -f "$work/memtrace/releng/Containerfile" -t "$name" "$work/memtrace"
