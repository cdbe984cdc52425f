#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Makes the files of an archive: unpack.sh NAME DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
while read -r path bytes; do
	mkdir -p "$(dirname "$2/$path")"
	base64 -d <<< "$bytes" > "$2/$path"
done < "$here/$1.base64"
