// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/util.c
/* Services of the commands. */
#include <stdlib.h>

#include "harness.h"
#include "../../cli/util.h"

static void word(const char *path, const char *wanted)
{
	char *got = mt_shell_word(path);

	CHECK_STR(got, wanted);
	free(got);
}

/* What a hint says can be pasted into a shell. */
static void shell_words(void)
{
	word("app.memtrace-2", "app.memtrace-2");
	word("/tmp/a_b/c+d,e@f:g%h=i", "/tmp/a_b/c+d,e@f:g%h=i");
	word("-x", "./-x");
	word("a b", "'a b'");
	word("-a b", "'./-a b'");
	word("o'dd $dir", "'o'\\''dd $dir'");
	word("''''", "''\\'''\\'''\\'''\\'''");
	word("\xe6\x97\xa5", "'\xe6\x97\xa5'");
	word("", "''");
}

int main(void)
{
	shell_words();
	return mt_test_done();
}
