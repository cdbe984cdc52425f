# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# awk -v image=0 -f check.awk TRUTH threads.csv structures.csv
# Each line of the truth must be in the trace; prints what is not.

function field(n,	a) { split($0, a, ","); return a[n] }

FILENAME == ARGV[1] {
	if ($1 == "child") {
		if (image == 0) next
		sub(/^child /, "")
		$0 = $0
	} else if (image != 0) next
	if ($1 == "thread") { at[$2] = $3; next }
	want[++n] = $0
	next
}
FILENAME == ARGV[2] { if (FNR > 1) { threads++; names[$0] = 1; lo[threads] = field(5); hi[threads] = field(6); name[threads] = field(2) }; next }
{ have[field(2) " " field(3) " " field(4) " " field(5) " " (field(7) < 0 ? 1 : 0)]++ }
END {
	for (i = 1; i <= n; i++) {
		if (have[want[i]]) passed++
		else { print "FAILED: not in structures.csv: " want[i]; failed++ }
	}
	for (t in at) {
		found = ""
		# equal length, so that text compares like the number
		for (i = 1; i <= threads; i++)
			if (length(at[t]) == length(lo[i]) && at[t] >= lo[i] && at[t] < hi[i] &&
			    (t == "main" ? i == 1 : 1)) found = found " " name[i]
		w = t; gsub("_", " ", w)
		if (t == "main" ? found != "" : index(found, w)) passed++
		else { print "FAILED: no thread " t " whose stack holds " at[t]; failed++ }
	}
	print passed + 0, failed + 0
}
