// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "common/out.h"

#include <stdarg.h>
#include <string.h>

#include "common/rawsys.h"

void mt_out_init(struct mt_out *o, int fd, char *buf, size_t cap)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->buf = buf;
	o->cap = cap;
}

/* The rest of the buffer, from p on, is given up. */
static void drop(struct mt_out *o, const char *p, const char *end)
{
	o->lost_bytes += (uint64_t)(end - p);
	for (; p < end; p++)
		if (*p == '\n')
			o->lost_lines++;
}

int mt_out_flush(struct mt_out *o)
{
	const char *p = o->buf, *end = o->buf + o->len;
	long ret = 0;

	if (o->torn && o->len && o->fd >= 0) {
		ret = mt_sys(SYS_write, o->fd, "\n", 1);
		if (ret == 1)
			o->torn = 0;
	}
	while (p < end) {
		ret = o->fd < -1 ? o->fd : o->fd < 0 ? -EBADF : mt_sys(SYS_write, o->fd, p, end - p);
		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			break;
		p += ret;
		o->bytes += (uint64_t)ret;
	}
	if (p < end) {
		o->last_error = ret < 0 ? (int)ret : -EIO;
		if (p > o->buf && p[-1] != '\n')
			o->torn = 1;
		drop(o, p, end);
	}
	o->len = 0;
	return p < end ? o->last_error : 0;
}

/* Room for n bytes; n must not exceed the capacity. */
static char *room(struct mt_out *o, size_t n)
{
	if (o->cap - o->len < n)
		mt_out_flush(o);
	return o->buf + o->len;
}

void mt_out_mem(struct mt_out *o, const char *s, size_t n)
{
	while (n) {
		size_t k = n < o->cap ? n : o->cap;

		memcpy(room(o, k), s, k);
		o->len += k;
		s += k;
		n -= k;
	}
}

void mt_out_str(struct mt_out *o, const char *s)
{
	mt_out_mem(o, s, strlen(s));
}

void mt_out_char(struct mt_out *o, char c)
{
	*room(o, 1) = c;
	o->len++;
}

/* Two digits at once: a record has five numbers of ten digits and more. */
static const char decimal[200] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";
const char mt_hex_pairs[512] =
	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
	"404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
	"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
	"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
	"c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
	"e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

char *mt_put_u64(char *p, uint64_t v)
{
	static const uint64_t power[20] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
		1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u,
	};
	unsigned int n;
	char *end;

	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	n = (unsigned int)(64 - __builtin_clzll(v)) * 1233 >> 12;	/* 1233/4096: log10(2) */
	end = p + n + (v >= power[n]);
	for (p = end; v >= 100; v /= 100)
		memcpy(p -= 2, decimal + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, decimal + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return end;
}

char *mt_put_hex(char *p, uint64_t v)
{
	char *end;

	if (v < 16) {
		*p = mt_hex_pairs[v * 2 + 1];
		return p + 1;
	}
	end = p + (67 - __builtin_clzll(v)) / 4;
	for (p = end; v >= 16; v >>= 8)
		memcpy(p -= 2, mt_hex_pairs + (v & 255) * 2, 2);
	if (v)
		p[-1] = mt_hex_pairs[v * 2 + 1];
	return end;
}

char *mt_put_mask(char *p, const uint64_t *mask, int words)
{
	int w = words - 1;

	while (w > 0 && !mask[w])
		w--;
	p = mt_put_hex(p, mask[w]);
	while (--w >= 0)
		for (int shift = 60; shift >= 0; shift -= 4)
			*p++ = "0123456789abcdef"[mask[w] >> shift & 15];
	return p;
}

void mt_out_u64(struct mt_out *o, uint64_t v)
{
	o->len = (size_t)(mt_put_u64(room(o, 20), v) - o->buf);
}

void mt_out_hex(struct mt_out *o, uint64_t v)
{
	o->len = (size_t)(mt_put_hex(room(o, 16), v) - o->buf);
}

void mt_out_i64(struct mt_out *o, int64_t v)
{
	if (v < 0)
		mt_out_char(o, '-');
	mt_out_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static int utf8_len(const unsigned char *s)
{
	int n, i;
	uint32_t c;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	c = s[0] & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	if (n == 4 && (c < 0x10000 || c > 0x10ffff))
		return 0;
	return n;
}

void mt_out_json(struct mt_out *o, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	int n;

	mt_out_char(o, '"');
	for (; *s; s += n) {
		n = utf8_len(s);
		if (n == 0) {
			mt_out_str(o, "\xef\xbf\xbd");
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			mt_out_char(o, '\\');
			mt_out_char(o, (char)*s);
		} else if (*s < 0x20) {
			mt_out_str(o, "\\u00");
			mt_out_char(o, (char)('0' + (*s >> 4)));
			mt_out_char(o, "0123456789abcdef"[*s & 15]);
		} else {
			mt_out_mem(o, (const char *)s, (size_t)n);
		}
	}
	mt_out_char(o, '"');
}

void mt_out_csv(struct mt_out *o, const char *s)
{
	if (!strpbrk(s, ",\"\n\r")) {
		mt_out_str(o, s);
		return;
	}
	mt_out_char(o, '"');
	for (; *s; s++) {
		if (*s == '"')
			mt_out_char(o, '"');
		mt_out_char(o, *s);
	}
	mt_out_char(o, '"');
}

void mt_out_fmt(struct mt_out *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt; fmt++) {
		int wide = 0;

		if (*fmt != '%') {
			mt_out_char(o, *fmt);
			continue;
		}
		fmt++;
		while (*fmt == 'l') {
			wide = 1;
			fmt++;
		}
		switch (*fmt) {
		case 's':
			mt_out_str(o, va_arg(ap, const char *));
			break;
		case 'c':
			mt_out_char(o, (char)va_arg(ap, int));
			break;
		case 'd':
			mt_out_i64(o, wide ? va_arg(ap, int64_t) : va_arg(ap, int));
			break;
		case 'u':
			mt_out_u64(o, wide ? va_arg(ap, uint64_t) : va_arg(ap, unsigned));
			break;
		case 'x':
			mt_out_hex(o, wide ? va_arg(ap, uint64_t) : va_arg(ap, unsigned));
			break;
		default:
			mt_out_char(o, *fmt);
			if (!*fmt)
				fmt--;
			break;
		}
	}
	va_end(ap);
}
