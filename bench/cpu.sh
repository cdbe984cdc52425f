# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# shellcheck shell=bash
#
# For benchmarks of programs: a folder that goes with the script ($work), CPU times into files, and their medians. To be sourced.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# choose NAME...: keeps the lines of $all ("name|program and arguments") that have one of the names; without a name all
choose() {
	[ $# -eq 0 ] || all=$(grep -F -e "$(printf '%s\n' "$@")" <<< "$all")
}

# cpu_ms FILE command...: appends "user+system ms, wall ms" of the command and its children to FILE
cpu_ms() {
	local file=$1
	shift
	# shellcheck disable=SC2016
	bash -c 'TIMEFORMAT="%3U %3S %3R"; f=$1; shift; { time "$@" > "$f.out" 2> "$f.err"; } 2>&1' _ "$file" "$@" |
		awk '{ printf "%.0f %.0f\n", ($1 + $2) * 1000, $3 * 1000 }' >> "$file"
}

# median FILE FIELD
median() {
	sort -n -k"$2" "$1" | awk -v k="$2" '{ v[NR] = $k } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
