/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* The same cases as org.memtrace.cli.args.CommandLineTest, with a table of its own. */
// uses: cli/table/args.c
// libs: -lm
#include "harness.h"
#include "cli/table/args.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static const struct mt_option options[] = {
	{ "output", 'o', "DIR", MT_PATH, NULL, NULL, NULL, false, false, "" },
	{ "interval", 'i', "TIME", MT_DURATION, "50ms", "1ms", "60s", false, false, "" },
	{ "subphases", 0, "N", MT_INT, "1", "1", "64", false, false, "" },
	{ "max-overhead", 0, "X", MT_NUMBER, "0.5", "0", NULL, false, false, "" },
	{ "min-alloc", 0, "SIZE", MT_SIZE, "4096", NULL, NULL, false, false, "" },
	{ "backend", 0, "auto|zap|none", MT_CHOICE, "auto", NULL, NULL, false, false, "" },
	{ "define", 'd', "NAME", MT_TEXT, NULL, NULL, NULL, true, false, "" },
	{ "exact", 0, "BACKEND", MT_TEXT, "auto", NULL, NULL, false, true, "" },
	{ "compress", 0, NULL, MT_FLAG, NULL, NULL, NULL, false, false, "" },
	{ .name = NULL },
};
static const struct mt_option common[] = {
	{ "help", 'h', NULL, MT_FLAG, NULL, NULL, NULL, false, false, "" },
	{ "quiet", 'q', NULL, MT_FLAG, NULL, NULL, NULL, false, false, "" },
	{ .name = NULL },
};
static const struct mt_item program[] = { { "PROGRAM", "" }, { NULL, NULL } };
static const struct mt_item none[] = { { NULL, NULL } };
const struct mt_command mt_common = { .name = "memtrace", .options = common, .arguments = none };
const struct mt_command mt_commands[] = {
	{ .name = "record", .usage = "PROGRAM", .min_args = 1, .max_args = -1, .rest = true, .options = options, .arguments = program },
	{ .name = "info", .usage = "TRACE", .min_args = 1, .max_args = 1, .options = options, .arguments = program },
	{ .name = NULL },
};

static char said[512];

/* Parses a NULL-ended command line; what it says on standard error goes to said[]. */
static int parse(struct mt_args *a, const char *command, ...)
{
	static char *argv[16];
	int argc = 0, rc, saved = dup(2);
	FILE *f = tmpfile();
	const char *s;
	size_t n;
	va_list ap;

	va_start(ap, command);
	while ((s = va_arg(ap, const char *)))
		argv[argc++] = (char *)s;
	va_end(ap);
	dup2(fileno(f), 2);
	rc = mt_args_parse(a, mt_command_find(command), argc, argv);
	fflush(stderr);
	dup2(saved, 2);
	close(saved);
	rewind(f);
	n = fread(said, 1, sizeof said - 1, f);
	said[n] = '\0';
	fclose(f);
	return rc;
}

#define INTERVAL(want, ...) do {					\
	struct mt_args a_;						\
	CHECK_EQ(parse(&a_, "record", __VA_ARGS__, "app", NULL), 0);	\
	CHECK_EQ(mt_args_duration_ns(&a_, "interval"), want);		\
	mt_args_free(&a_);						\
} while (0)

#define WRONG(want, ...) do {						\
	struct mt_args a_;						\
	CHECK_EQ(parse(&a_, "record", __VA_ARGS__, NULL), MT_EXIT_USAGE);	\
	CHECK_STR(said, "memtrace record: " want "\n");			\
	mt_args_free(&a_);						\
} while (0)

static void values(void)
{
	static const char *const bad_times[] = { "", "s", "1", "-1s", "1e3s", "1..5s", "1 s", "99999999999h", "1S" };
	static const char *const bad_sizes[] = { "", "k", "-1", "0x10", "1kb", "1KB", "99999999999T" };
	uint64_t v;
	size_t i;

	CHECK(!mt_parse_duration_ns("0.1s", &v) && v == 100000000);
	CHECK(!mt_parse_duration_ns("1ns", &v) && v == 1);
	CHECK(!mt_parse_duration_ns("0", &v) && v == 0);
	CHECK(!mt_parse_duration_ns("1.5min", &v) && v == 90000000000ULL);
	CHECK(!mt_parse_size_bytes("1.5k", &v) && v == 1536);
	CHECK(!mt_parse_size_bytes("1GiB", &v) && v == 1 << 30);
	CHECK(!mt_parse_size_bytes("12B", &v) && v == 12);
	for (i = 0; i < sizeof bad_times / sizeof *bad_times; i++)
		CHECK(mt_parse_duration_ns(bad_times[i], &v));
	for (i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++)
		CHECK(mt_parse_size_bytes(bad_sizes[i], &v));
}

static void good(void)
{
	struct mt_args a;

	CHECK_EQ(parse(&a, "record", "app", NULL), 0);
	CHECK_EQ(mt_args_duration_ns(&a, "interval"), 50000000);
	CHECK_EQ(mt_args_size_bytes(&a, "min-alloc"), 4096);
	CHECK_EQ(mt_args_int(&a, "subphases"), 1);
	CHECK(mt_args_number(&a, "max-overhead") == 0.5);
	CHECK_STR(mt_args_get(&a, "backend"), "auto");
	CHECK(!mt_args_get(&a, "output"));
	CHECK(!mt_args_has(&a, "interval"));
	CHECK(!mt_args_has(&a, "compress"));
	mt_args_free(&a);

	INTERVAL(20000000, "--interval", "20ms");
	INTERVAL(20000000, "--interval=20ms");
	INTERVAL(20000000, "-i", "20ms");
	INTERVAL(20000000, "-i20ms");
	INTERVAL(20000000, "-qi20ms");
	INTERVAL(1500000000, "-i", "50ms", "-i", "1.5s");

	CHECK_EQ(parse(&a, "record", "--compress", "app", "-i", "x", "--", "--bogus", NULL), 0);
	CHECK(mt_args_has(&a, "compress"));
	CHECK_EQ(a.argc, 5);
	CHECK_STR(a.argv[1], "-i");
	CHECK_STR(a.argv[4], "--bogus");
	CHECK(!a.argv[5]);
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "record", "--", "-app", NULL), 0);
	CHECK_STR(a.argv[0], "-app");
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "info", "dir", "--compress", NULL), 0);
	CHECK_EQ(a.argc, 1);
	CHECK(mt_args_has(&a, "compress"));
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "info", "-", NULL), 0);
	CHECK_STR(a.argv[0], "-");
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "record", "-d", "a", "--define=b", "app", NULL), 0);
	CHECK_STR(mt_args_nth(&a, "define", 0), "a");
	CHECK_STR(mt_args_nth(&a, "define", 1), "b");
	CHECK(!mt_args_nth(&a, "define", 2));
	mt_args_free(&a);
	/* a value that may be left out is no word of its own */
	CHECK_EQ(parse(&a, "record", "--exact", "app", NULL), 0);
	CHECK(mt_args_has(&a, "exact") && a.argc == 1);
	CHECK_STR(mt_args_get(&a, "exact"), "auto");
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "record", "--exact=hooks", "app", NULL), 0);
	CHECK_STR(mt_args_get(&a, "exact"), "hooks");
	mt_args_free(&a);
	CHECK_EQ(parse(&a, "record", "app", NULL), 0);
	CHECK(!mt_args_has(&a, "exact"));
	mt_args_free(&a);

	CHECK_EQ(parse(&a, "record", "--help", "--bogus", NULL), 0);
	CHECK(a.help);
	mt_args_free(&a);
}

static void wrong(void)
{
	struct mt_args a;

	WRONG("--interval needs a time with a unit, such as 50ms, not '3'", "--interval", "3", "app");
	WRONG("--interval must be at least 1ms, not 10us", "-i", "10us", "app");
	WRONG("--subphases must be at most 64, not 65", "--subphases=65", "app");
	WRONG("--subphases needs a whole number, not '1.5'", "--subphases", "1.5", "app");
	WRONG("--min-alloc needs a size, such as 4096 or 64k, not '4q'", "--min-alloc", "4q", "app");
	WRONG("--max-overhead needs a number, not 'much'", "--max-overhead", "much", "app");
	WRONG("--backend must be one of auto|zap|none, not 'za'", "--backend", "za", "app");
	WRONG("--output needs a path, not ''", "--output=", "app");
	WRONG("unknown option --intervall; did you mean --interval?", "--intervall", "3", "app");
	WRONG("unknown option --bogus; see 'memtrace record --help'", "--bogus", "app");
	WRONG("unknown option -x; see 'memtrace record --help'", "-x", "app");
	WRONG("--compress takes no value", "--compress=yes", "app");
	WRONG("--interval needs a value (TIME)", "--interval");
	WRONG("-i needs a value (TIME)", "-i");
	WRONG("PROGRAM is missing; usage: memtrace record PROGRAM", "-q");
	CHECK_EQ(parse(&a, "info", "a", "b", NULL), MT_EXIT_USAGE);
	CHECK_STR(said, "memtrace info: unexpected argument 'b'; usage: memtrace info TRACE\n");
	mt_args_free(&a);
}

static void nearest(void)
{
	static const char *const names[] = { "record", "rename", "render", "import", NULL };

	CHECK_STR(mt_nearest("imort", names), "import");
	CHECK_STR(mt_nearest("rceord", names), "record");
	CHECK_STR(mt_nearest("rec", names), "record");
	CHECK(!mt_nearest("xyzzy", names));
	CHECK(!mt_nearest("", names));
	CHECK(!mt_nearest("a-word-that-is-much-longer-than-any-name-of-all", names));
}

int main(void)
{
	values();
	good();
	wrong();
	nearest();
	return mt_test_done();
}
