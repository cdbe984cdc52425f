#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# docs/extend/recorder-option.md: its example, applied to a copy of the sources and built there, is seen in the program, in the
# manifest, in help and completion. What is built already is taken, so that only what the example changes is compiled.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
top=$(cd "$tests/../.." && pwd)
page=$top/docs/extend/recorder-option.md
. "$tests/lib.sh"
copy=$work/copy

# the block ```diff of the page
sed -n '/^```diff$/,/^```$/{/^```/d;p}' "$page" >"$work/example.diff"
mkdir -p "$copy/build"
(cd "$top" && git ls-files -z --cached --others --exclude-standard collector org.memtrace.cli/commands pom.xml \
		releng/org.memtrace.rcp.feature |
	xargs -0 cp -p --parents -t "$copy" 2>/dev/null)
[ ! -d "$top/build/collector" ] || cp -a "$top/build/collector" "$copy/build/"
if ! grep -q '^+++ ' "$work/example.diff"; then
	fail "the page has no example"
	summary "recorder option"
	exit
fi
if (cd "$copy" && git -c safe.directory='*' apply --unidiff-zero "$work/example.diff" 2>"$work/err"); then
	pass "the example fits the sources"
else
	fail "the example does not fit the sources: $(cat "$work/err")"
fi
[ "$(grep -c '^+++ ' "$work/example.diff")" = 3 ] && pass "three files" || fail "an option is $(grep -c '^+++ ' "$work/example.diff") files"

if make -s -C "$copy/collector" >"$work/out" 2>&1 && make -s -C "$copy/collector" ../build/collector/unit/test_settings >>"$work/out" 2>&1; then
	pass "it is built"
else
	fail "it cannot be built: $(tail -n 5 "$work/out")"
fi
memtrace=$copy/build/collector/memtrace
(cd "$copy/collector" && ../build/collector/unit/test_settings) >"$work/out" 2>&1 && pass "both tables agree" || fail "the tables: $(head -n 3 "$work/out")"
"$memtrace" record --help | grep -q -- '--start-after TIME' && pass help || fail "help lacks the option"
"$memtrace" completion bash | grep -q -- '--start-after' && pass completion || fail "the completion lacks the option"
[ "$("$memtrace" record --start-after 2h -- true 2>&1)" = "memtrace record: --start-after must be at most 1h, not 2h" ] && pass limits ||
	fail "limits: $("$memtrace" record --start-after 2h -- true 2>&1)"

begin=$(date +%s%N)
"$memtrace" record -q --backend none --start-after 300ms -o "$work/t" -- env >"$work/env" 2>"$work/err"
end=$(date +%s%N)
grep -qx MEMTRACE_START_AFTER_NS=300000000 "$work/env" && pass "the program has it" || fail "the program lacks it: $(cat "$work/err")"
[ $((end - begin)) -ge 300000000 ] && pass "the program waited" || fail "the program did not wait"
grep -q '"start_after_ns": 300000000' "$work/t/manifest.json" && pass "the manifest has it" || fail "the manifest lacks it"
"$memtrace" record -q --backend none -o "$work/without" -- env >"$work/env" 2>"$work/err"
grep -qx MEMTRACE_START_AFTER_NS=0 "$work/env" && pass default || fail "the default: $(grep START_AFTER "$work/env")"
grep -q start_after_ns "$work/without/manifest.json" && fail "it stands where it was not given" || pass "not given, not kept"

# a second copy of a fact is refused: releng/check-facts.py
git init -q "$copy"
"$top/releng/check-facts.py" "$copy" >"$work/out" && pass "each fact stands once" || fail "facts of the copy: $(head -n 3 "$work/out")"
cat >"$copy/collector/cli/record/second.c" <<'END'
bool again(const struct mt_args *a, const char *backend)
{
	return getenv("MEMTRACE_INTERVAL_NS") || !strcmp(backend, "zap") || mt_args_has(a, "intervall");
}
END
"$top/releng/check-facts.py" "$copy" >"$work/out" && fail "a second copy is not noticed" || pass "a second copy is an error"
for word in MEMTRACE_INTERVAL_NS 'the backend "zap"' --intervall; do
	grep -q "^collector/cli/record/second.c:3: .*$word" "$work/out" && pass "$word" || fail "not noticed: $word"
done
summary "recorder option"
