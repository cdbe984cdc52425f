#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Draws the pictures of the marks, docs/images/mark-NAME.svg, again from the
# traces in testdata/traces and testdata/made; marks.list says which and how:
#
#   docs/images/marks.sh [NAME ...]        default: all
#
# The same bytes on any machine (MarkPicturesTest). Needs the built tree;
# MEMTRACE names another memtrace.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
memtrace=${MEMTRACE:-./memtrace}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=${*:-all}
grep -v '^#' docs/images/marks.list | while IFS='|' read -r name trace title options; do
	name=$(echo "$name" | tr -d ' ')
	trace=$(echo "$trace" | tr -d ' ')
	title=$(echo "$title" | sed 's/^ *//; s/ *$//')
	[ "$wanted" = all ] || case " $wanted " in
	*" $name "*) ;;
	*) continue ;;
	esac
	db=$work/$(basename "$trace").db
	[ -f "$db" ] || "$memtrace" import -q -o "$db" "testdata/$trace" >/dev/null </dev/null
	# shellcheck disable=SC2086
	"$memtrace" render -q --width 760 --height 300 --title "$title" $options -o "docs/images/mark-$name.svg" "$db" </dev/null
	echo "docs/images/mark-$name.svg: $(wc -c <"docs/images/mark-$name.svg") bytes"
done
