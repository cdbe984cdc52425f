/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
// uses: preload/ground/settings.c cli/record/settings.c cli/table/args.c cli/base/util.c common/faultprobe.c common/rawmem.c
// libs: -ljansson -lm -lzstd -lz
/* settings.list against the command table; from the options of `record` to what the library in the program has; the manifest. */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/record/settings.h"
#include "preload/ground/image.h"

#define TABLE "../org.memtrace.cli/commands/record.txt"

/* cli/table/args.c wants the commands: `record`, as the file has it. */
static struct mt_option options[128];
static const struct mt_item none[] = { { NULL, NULL } };
const struct mt_command mt_common = { .name = "memtrace", .options = &options[127], .arguments = none };
static const struct mt_command record = {
	.name = "record", .usage = "PROGRAM", .max_args = -1, .rest = true, .options = options, .arguments = none,
};
const struct mt_command mt_commands[] = { { .name = NULL } };

static enum mt_type type_of(const char *word)
{
	static const char *const words[] = { [MT_FLAG] = "flag", [MT_TEXT] = "text", [MT_PATH] = "path", [MT_INT] = "int",
					     [MT_NUMBER] = "number", [MT_DURATION] = "duration", [MT_SIZE] = "size", [MT_CHOICE] = "choice" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word))
			return (enum mt_type)i;
	CHECK(!word);
	return MT_TEXT;
}

static void read_table(void)
{
	FILE *f = fopen(TABLE, "r");
	struct mt_option *o = NULL;
	char *line = NULL;
	size_t cap = 0, n = 0;
	ssize_t len;

	CHECK(f != NULL);
	while (f && (len = getline(&line, &cap, f)) > 0) {
		char *name = strstr(line, "--"), *value;

		line[len - 1] = 0;
		if (!strncmp(line, "option: ", 8)) {
			o = &options[n++];
			name = strdup(name + 2);
			o->name = name;
			value = strpbrk(name, " [");
			o->type = value ? MT_TEXT : MT_FLAG;
			o->arg = value ? value + 1 : NULL;
			o->optional = value && *value == '[';
			if (value)
				*value = 0;
		} else if (!isspace((unsigned char)*line)) {
			o = NULL;
		} else if (o && line[1] == '@') {
			value = strchr(line, ' ');
			if (!value)
				continue;	/* @repeat */
			*value++ = 0;
			if (!strcmp(line, "\t@type"))
				o->type = type_of(value);
			else if (!strcmp(line, "\t@default"))
				o->dflt = strdup(value);
			else if (!strcmp(line, "\t@min"))
				o->min = strdup(value);
			else if (!strcmp(line, "\t@max"))
				o->max = strdup(value);
		}
	}
	CHECK(n > 30 && n < 127);
	free(line);
	if (f)
		fclose(f);
}

static const struct mt_option *option(const char *name)
{
	for (const struct mt_option *o = options; o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

enum unit { NS, BYTES, COUNT, PPM, FLAG };

static enum mt_type type_of_unit(enum unit u)
{
	return u == NS ? MT_DURATION : u == BYTES ? MT_SIZE : u == COUNT ? MT_INT : u == PPM ? MT_NUMBER : MT_FLAG;
}

/* @text of the command table in the unit of the setting; @none: there is no text. */
static uint64_t value(enum unit u, const char *text, uint64_t without)
{
	uint64_t v = 0;

	if (!text)
		return without;
	if (u == NS)
		CHECK_EQ(mt_parse_duration_ns(text, &v), 0);
	else if (u == BYTES)
		CHECK_EQ(mt_parse_size_bytes(text, &v), 0);
	else if (u == PPM)
		v = (uint64_t)(strtod(text, NULL) * 1e6 + 0.5);
	else
		v = strtoull(text, NULL, 10);
	return v;
}

static void check_number(const char *variable, enum unit u, const char *name, uint64_t dflt, uint64_t min, uint64_t max, const char *when)
{
	const struct mt_option *o = option(name);

	CHECK(dflt <= max && dflt >= min);
	CHECK(!strncmp(variable, "MEMTRACE_", 9));
	CHECK(!*when || option(when));
	if (!*name)
		return;
	if (!o)
		printf("%s: there is no option --%s\n", variable, name);
	CHECK(o != NULL);
	if (!o)
		return;
	if (o->type != type_of_unit(u) || value(u, o->dflt, 0) != dflt || value(u, o->min, 0) != min ||
	    value(u, o->max, u == FLAG ? 1 : UINT64_MAX) != max)
		printf("--%s of " TABLE " and %s of settings.list differ\n", name, variable);
	CHECK_EQ(o->type, type_of_unit(u));
	CHECK_EQ(value(u, o->dflt, 0), dflt);
	CHECK_EQ(value(u, o->min, 0), min);
	CHECK_EQ(value(u, o->max, u == FLAG ? 1 : UINT64_MAX), max);
}

static void check_option(const char *name, enum mt_type type)
{
	const struct mt_option *o = option(name);

	CHECK(o && o->type == type);
}

static void command_table(void)
{
#define SETTING(variable, field, type, unit, option, dflt, min, max, manifest, when) \
	check_number(#variable, unit, option, dflt, min, max, when);
#define KEPT(unit, option, manifest) check_option(option, type_of_unit(unit));
#define TEXT(variable, option, manifest) check_option(option, MT_TEXT);
#include "common/settings.list"
}

static void given(struct mt_args *a, int argc, const char **argv)
{
	CHECK_EQ(mt_args_parse(a, &record, argc, (char **)argv), 0);
}

/* What the library has after `record` with the options. */
static struct mt_config read_back(const struct mt_args *a, const char *windows)
{
	struct mt_config c = { 0 }, there;
	struct mt_window_spec w = { 0 };

	if (windows)
		w = (struct mt_window_spec){ MT_WINDOW_EACH, 100000000, 1000000000, 0 };
	mt_settings_take(&c, a, &w);
	mt_settings_environment(&c, a);
	CHECK_EQ(mt_config_read(&there), 0);
	/* all numbers come through, unless the library has a reason to take others */
#define SETTING(variable, field, type, unit, option, ...) \
	if (*option) \
		CHECK_EQ(there.field, c.field);
#include "common/settings.list"
	return there;
}

/* The members of @text stand in @p. */
static void check_kept(const json_t *p, const char *text)
{
	json_t *want = json_loads(text, 0, NULL), *v;
	const char *key;

	CHECK(json_object_size(want) > 0);
	json_object_foreach(want, key, v) {
		if (!json_equal(json_object_get(p, key), v))
			printf("parameters: %s\n", key);
		CHECK(json_equal(json_object_get(p, key), v));
	}
	json_decref(want);
}

static void round_trip(void)
{
	const char *all[] = { "--interval", "20ms", "--subphases", "64", "--max-overhead", "1e-1", "--min-static", "1k", "--min-alloc", "2M",
			      "--stack-depth", "0", "--physical", "--min-process", "0", "--zoom-cpu", "4", "--zoom", "a", "--instructions",
			      "--interval-accesses", "123456789012", "--follow", "a b", "--compress", "--exact", "app" };
	struct mt_args a;
	struct mt_config c;
	json_t *p;

	unsetenv("MEMTRACE_DIR");
	CHECK(mt_config_read(&c) < 0);
	setenv("MEMTRACE_DIR", "relative", 1);
	CHECK(mt_config_read(&c) < 0);
	setenv("MEMTRACE_DIR", "/tmp/trace", 1);

	given(&a, 0, (const char *[]){ NULL });
	c = read_back(&a, NULL);
	CHECK(c.interval_ns == 50000000 && c.first_interval_ns == 6250000 && c.subphases == 5 && c.max_overhead_ppm == 350000);
	CHECK(c.min_process_bytes == 1 << 20 && !c.physical && c.stack_depth == 16 && c.ring_pages == 1024);
	CHECK(c.fork_copy_max_bytes == UINT64_MAX && !getenv("MEMTRACE_FOLLOW"));
	p = mt_settings_describe(&c, &a);
	check_kept(p, "{\"interval_ns\":50000000,\"first_interval_ns\":6250000,\"subphases\":5,\"max_overhead\":0.35,\"min_static_bytes\":8,"
			"\"min_alloc_bytes\":4096,\"stack_depth\":16,\"physical\":false,\"min_process_bytes\":1048576,\"compress\":false}");
	CHECK(!json_object_get(p, "interval_accesses") && !json_object_get(p, "instructions") && !json_object_get(p, "zoom_cpu"));
	CHECK(!json_object_get(p, "follow"));
	json_decref(p);
	mt_args_free(&a);

	given(&a, sizeof(all) / sizeof(all[0]), all);
	c = read_back(&a, "100ms/1s");
	CHECK(c.interval_ns == 20000000 && c.first_interval_ns == 20000000 && c.subphases == 64 && c.max_overhead_ppm == 100000);
	CHECK(c.min_static_bytes == 1024 && c.min_alloc_bytes == 2 << 20 && !c.stack_depth && c.physical && !c.min_process_bytes);
	CHECK(c.zoom_share_ppm == 4000000 && c.instructions && c.interval_accesses == 123456789012);
	CHECK(c.windows == MT_WINDOW_NONE);	/* code in the program does not count */
	CHECK_STR(getenv("MEMTRACE_FOLLOW"), "a b");
	p = mt_settings_describe(&c, &a);
	check_kept(p, "{\"interval_ns\":20000000,\"first_interval_ns\":20000000,\"interval_accesses\":123456789012,\"instructions\":true,"
			"\"subphases\":64,\"max_overhead\":0.1,\"min_static_bytes\":1024,\"min_alloc_bytes\":2097152,\"stack_depth\":0,"
			"\"physical\":true,\"min_process_bytes\":0,\"zoom_cpu\":4.0,\"compress\":true,\"follow\":\"a b\"}");
	json_decref(p);
	setenv("MEMTRACE_LIBRARY", mt_library_word(MT_LIBRARY_COUNTS), 1);
	CHECK_EQ(read_back(&a, "100ms/1s").windows, MT_WINDOW_EACH);
	CHECK_EQ(read_back(&a, "100ms/1s").window_period_ns, 1000000000);
	unsetenv("MEMTRACE_LIBRARY");
	mt_args_free(&a);
}

static struct mt_config with(const char *name, const char *text)
{
	struct mt_config c;

	setenv(name, text, 1);
	CHECK_EQ(mt_config_read(&c), 0);
	unsetenv(name);
	return c;
}

/* What others than the recorder set. */
static void by_hand(void)
{
	struct mt_config c;

#define SETTING(variable, ...) unsetenv(#variable);
#include "common/settings.list"
	CHECK_EQ(mt_config_read(&c), 0);
	CHECK_STR(c.dir, "/tmp/trace");
	CHECK(c.library == MT_LIBRARY_TRACES && c.interval_ns == 50000000 && c.first_interval_ns == 50000000 && c.parent_image == -1);
	CHECK_EQ(with("MEMTRACE_MAX_OVERHEAD_PPM", "0").max_overhead_ppm, 0);
	CHECK_EQ(with("MEMTRACE_MAX_OVERHEAD_PPM", "99999999999").max_overhead_ppm, 100000000);
	CHECK_EQ(with("MEMTRACE_INTERVAL_NS", "1").interval_ns, 1000000);
	CHECK_EQ(with("MEMTRACE_INTERVAL_NS", "20000000").first_interval_ns, 20000000);
	CHECK_EQ(with("MEMTRACE_INTERVAL_NS", "20ms").interval_ns, 50000000);
	/* what a run begins with is neither longer than an interval nor next to nothing */
	CHECK_EQ(with("MEMTRACE_FIRST_INTERVAL_NS", "6250000").first_interval_ns, 6250000);
	CHECK_EQ(with("MEMTRACE_FIRST_INTERVAL_NS", "60000000").first_interval_ns, 50000000);
	CHECK_EQ(with("MEMTRACE_FIRST_INTERVAL_NS", "0").first_interval_ns, 50000000);
	CHECK_EQ(with("MEMTRACE_MONITOR", "thread").reaper, 0);
	CHECK_EQ(with("MEMTRACE_MONITOR", "1:4026531836").reaper, 0);
	CHECK_EQ(with("MEMTRACE_MONITOR", "1:4026531836:77:5:6").reaper, 0);
	c = with("MEMTRACE_MONITOR", "12:4026531836:77:16515476126488");
	CHECK(c.reaper == 12 && c.reaper_ns_inode == 4026531836 && c.orphan == 77 && c.orphan_ns == 16515476126488ull);
	CHECK_EQ(with("MEMTRACE_SUBPHASES", "0").subphases, 1);
	CHECK_EQ(with("MEMTRACE_SUBPHASES", "1000").subphases, 64);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "counts").library, MT_LIBRARY_COUNTS);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "hides").library, MT_LIBRARY_HIDES);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "asks-tool").library, MT_LIBRARY_ASKS_TOOL);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "leaves-it").library, MT_LIBRARY_LEAVES_IT);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "no-accesses").library, MT_LIBRARY_NO_ACCESSES);
	CHECK_EQ(with("MEMTRACE_LIBRARY", "of later").library, MT_LIBRARY_TRACES);
	CHECK_EQ(with("MEMTRACE_PARENT_IMAGE", "0000000012").parent_image, 12);
	c = with("MEMTRACE_BACKEND", "zap");
	CHECK_STR(c.backend, "zap");
	c = with("MEMTRACE_BACKEND", "a name that is much longer than any backend has");
	CHECK_STR(c.backend, "unknown");
}

static void texts(void)
{
	json_t *j = mt_json_text("caf\xc3\xa9"), *wrong = mt_json_text("caf\xe9 caf\xc3\xa9");

	CHECK_STR(json_string_value(j), "caf\xc3\xa9");
	CHECK_STR(json_string_value(wrong), "caf? caf??");
	json_decref(j);
	json_decref(wrong);
}

int main(void)
{
	read_table();
	command_table();
	round_trip();
	by_hand();
	texts();
	return mt_test_done();
}
