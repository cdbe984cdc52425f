// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/base/util.c
/* Services of the commands. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "cli/base/util.h"

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

struct item {
	uint64_t key;
	int second, place;
};

static int by_key(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->place - b->place;
}

static int by_second(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	return a->second != b->second ? (a->second < b->second ? -1 : 1) : a->place - b->place;
}

static int by_all(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	return a->key != b->key ? by_key(x, y) : by_second(x, y);
}

static void sorted(struct item *v, size_t n, bool second)
{
	struct item *want = calloc(n + 1, sizeof(*v));
	uint64_t *key = calloc(n + 1, sizeof(*key));

	for (size_t i = 0; i < n; i++) {
		v[i].place = (int)i;
		key[i] = v[i].key;
	}
	memcpy(want, v, n * sizeof(*v));
	if (n)
		qsort(want, n, sizeof(*want), second ? by_all : by_key);
	mt_sort(v, n, sizeof(*v), key, second ? by_second : NULL);
	CHECK(!memcmp(v, want, n * sizeof(*v)));
	free(want);
	free(key);
}

/* As qsort: few and many, keys that differ in any of their bits, equal ones, sorted and backward ones. */
static void sorts(void)
{
	const int64_t with_sign[9] = { 5, -1, 0, INT64_MIN, INT64_MAX, 1, -7, 256, -256 };
	const int place[9] = { 3, 8, 6, 1, 2, 5, 0, 7, 4 };
	const unsigned int seed = (unsigned int)mt_monotonic_ns();
	static struct item v[3000];

	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 200; round++) {
		const size_t n = round < 20 ? (size_t)round : (size_t)rand() % 3000;
		const unsigned int bits = (unsigned int)rand() % 65, shift = bits ? (unsigned int)rand() % (65 - bits) : 0;
		const uint64_t mask = !bits ? 0 : bits == 64 ? ~0ull : ((1ull << bits) - 1) << shift;

		memset(v, 0, sizeof(v));
		for (size_t i = 0; i < n; i++) {
			const uint64_t r = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();

			v[i].key = round % 4 == 1 ? i / 3 : round % 4 == 2 ? n - i : (r & mask) | (~mask & 0x123456789abcdefull);
			v[i].second = rand() % 5;
		}
		sorted(v, n, round & 1);
	}
	memset(v, 0, sizeof(v));
	for (int i = 0; i < 9; i++)
		v[i].key = MT_SIGNED_KEY(with_sign[i]);
	sorted(v, 9, false);
	for (int i = 0; i < 9; i++)
		CHECK_EQ(v[i].place, place[i]);
}

static uint64_t lines(const char *text)
{
	char path[] = "/tmp/test_util.XXXXXX";
	const int fd = mkstemp(path);
	uint64_t n = 0, by_next = 0;
	struct mt_csv c;

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	n = mt_csv_lines(path);
	if (mt_csv_open(&c, path) == 0) {
		while (mt_csv_next(&c))
			by_next++;
		mt_csv_close(&c);
	}
	CHECK_EQ(n, by_next);
	unlink(path);
	return n;
}

static void counted_lines(void)
{
	CHECK_EQ(lines(""), 0);
	CHECK_EQ(lines("A,B"), 0);
	CHECK_EQ(lines("A,B\n"), 0);
	CHECK_EQ(lines("A,B\n1,2\n3,4"), 1);
	CHECK_EQ(lines("A,B\n1,\"a\nb\"\n3,\"say \"\"\n\"\"\"\n5,6\n"), 3);
	CHECK_EQ(lines("A,B\n1,\"a\nb\n"), 0);
	CHECK_EQ(mt_csv_lines("/nonexistent"), 0);
}

static void field(const char *text, const char *want)
{
	char *got = NULL;
	size_t n;
	FILE *f = open_memstream(&got, &n);

	mt_csv_put(f, text);
	fclose(f);
	CHECK_STR(got, want);
	free(got);
}

static void fields(void)
{
	field("", "");
	field("plain \xc3\xa9;'", "plain \xc3\xa9;'");
	field("a,b", "\"a,b\"");
	field("a\nb", "\"a\nb\"");
	field("a\r", "\"a\r\"");
	field("\"", "\"\"\"\"");
}

static void servers(void)
{
	CHECK(mt_is_server("postgresql://node7/traces/app") && mt_is_server("postgres:///"));
	CHECK(!mt_is_server("postgresql") && !mt_is_server("postgresql:/x") && !mt_is_server("./postgresql://x") && !mt_is_server(""));
}

/* A pipe that nobody writes to is waited for only where a user names it; a device never. */
static void no_files(void)
{
	char folder[] = "/tmp/memtrace-util-XXXXXX", fifo[64], file[64], *text;
	size_t len;
	pid_t writer;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(file, sizeof(file), "%s/file", folder);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK(!mt_read_file(fifo, &len) && errno == ENOTSUP);
	CHECK_STR(mt_read_error(errno), "it is no file");
	CHECK(!mt_read_file("/dev/zero", &len) && errno == ENOTSUP);
	CHECK(!mt_read_given("/dev/zero", &len) && errno == ENOTSUP);
	CHECK(!mt_read_file(folder, &len) && errno == EISDIR);
	CHECK(!mt_read_file(file, &len) && errno == ENOENT);
	CHECK(!mt_is_file(fifo) && !mt_is_file(folder) && !mt_is_file(file) && mt_is_file("/proc/self/stat"));
	writer = fork();
	if (!writer) {
		FILE *f = fopen(fifo, "we");

		_exit(!f || fputs("text", f) < 0 || fclose(f));
	}
	text = mt_read_given(fifo, &len);
	CHECK_STR(text, "text");
	CHECK_EQ(len, 4);
	free(text);
	CHECK_EQ(waitpid(writer, NULL, 0), writer);
	CHECK_EQ(unlink(fifo) | rmdir(folder), 0);
}

int main(void)
{
	no_files();
	servers();
	shell_words();
	sorts();
	counted_lines();
	fields();
	return mt_test_done();
}
