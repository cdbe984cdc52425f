// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/out.c
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "common/out.h"

static int pipefd[2];
static char got[8192];

static const char *result(struct mt_out *o)
{
	ssize_t n;

	mt_out_flush(o);
	n = read(pipefd[0], got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = 0;
	return got;
}

static void formats(size_t cap)
{
	char buf[64];
	struct mt_out o;

	mt_out_init(&o, pipefd[1], buf, cap);
	mt_out_u64(&o, 0);
	mt_out_char(&o, ' ');
	mt_out_u64(&o, UINT64_MAX);
	mt_out_char(&o, ' ');
	mt_out_i64(&o, INT64_MIN);
	mt_out_char(&o, ' ');
	mt_out_i64(&o, -1);
	mt_out_char(&o, ' ');
	mt_out_hex(&o, 0);
	mt_out_char(&o, ' ');
	mt_out_hex(&o, 0x10);
	mt_out_char(&o, ' ');
	mt_out_hex(&o, UINT64_MAX);
	CHECK_STR(result(&o), "0 18446744073709551615 -9223372036854775808 -1 0 10 ffffffffffffffff");
	mt_out_fmt(&o, "%s|%d|%u|%x|%llx|%lld|%c|%%", "a string that is longer than the buffer is, whatever it says here",
		   -7, 7u, 0xabcu, 0x123456789abcull, -5ll, 'z');
	CHECK_STR(result(&o),
		  "a string that is longer than the buffer is, whatever it says here|-7|7|abc|123456789abc|-5|z|%");
	mt_out_json(&o, "q\" b\\ t\t \x01 caf\xc3\xa9 \xff \xc3");
	CHECK_STR(result(&o), "\"q\\\" b\\\\ t\\u0009 \\u0001 caf\xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\"");
	mt_out_csv(&o, "plain");
	mt_out_char(&o, ',');
	mt_out_csv(&o, "a,b \"c\"\n");
	CHECK_STR(result(&o), "plain,\"a,b \"\"c\"\"\n\"");
	CHECK_EQ(o.lost_bytes, 0);
}

/* The digits are those of printf, and not one byte more is written. */
static void number(uint64_t v)
{
	char got_dec[24], got_hex[24], dec[24], hex[24];
	size_t n, h;

	memset(got_dec, '#', sizeof(got_dec));
	memset(got_hex, '#', sizeof(got_hex));
	n = (size_t)(mt_put_u64(got_dec + 1, v) - got_dec);
	h = (size_t)(mt_put_hex(got_hex + 1, v) - got_hex);
	snprintf(dec, sizeof(dec), "#%llu#", (unsigned long long)v);
	snprintf(hex, sizeof(hex), "#%llx#", (unsigned long long)v);
	CHECK(n + 1 == strlen(dec) && !memcmp(got_dec, dec, n + 1));
	CHECK(h + 1 == strlen(hex) && !memcmp(got_hex, hex, h + 1));
}

static void numbers(void)
{
	uint64_t x = 88172645463325252u, power = 1;

	for (uint64_t v = 0; v < 70000; v++)
		number(v);
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t d = 0; d < 3; d++)
			number((1ull << bit) - 1 + d);
	for (int i = 0; i < 20; i++, power *= 10)
		for (uint64_t d = 0; d < 3; d++)
			number(power - 1 + d);
	number(UINT64_MAX);
	for (int i = 0; i < 200000; i++) {	/* xorshift; all lengths */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		number(x >> (i & 63));
	}
}

/* A full disk: lines are counted as lost, and the next ones are readable again. */
static void write_errors(void)
{
	char path[] = "/tmp/mt_out_XXXXXX", buf[64], text[64];
	struct mt_out o;
	int fd = mkstemp(path), full = open("/dev/full", O_WRONLY);
	ssize_t n;

	unlink(path);
	CHECK(fd >= 0 && full >= 0);
	mt_out_init(&o, full, buf, sizeof(buf));
	mt_out_str(&o, "one\ntwo\n");
	CHECK_EQ(mt_out_flush(&o), -ENOSPC);
	CHECK_EQ(o.lost_lines, 2);
	CHECK_EQ(o.lost_bytes, 8);
	o.fd = fd;
	mt_out_str(&o, "three\n");
	CHECK_EQ(mt_out_flush(&o), 0);
	/* as if the disk had become full inside a line */
	o.torn = 1;
	mt_out_str(&o, "four\n");
	CHECK_EQ(mt_out_flush(&o), 0);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	CHECK_STR(text, "three\n\nfour\n");
	o.fd = -1;
	mt_out_str(&o, "gone\n");
	CHECK_EQ(mt_out_flush(&o), -EBADF);
	CHECK_EQ(o.lost_lines, 3);
	close(fd);
	close(full);
}

int main(void)
{
	if (pipe2(pipefd, O_NONBLOCK))
		return 1;
	numbers();
	formats(64);
	formats(21);
	write_errors();
	return mt_test_done();
}
