// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/ranges.h"

#include <string.h>

#include "common/rawsys.h"

static int reserve(struct zap_regions *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 256;
	struct zap_range *r;

	if (n <= s->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	r = mt_rawmap(cap * sizeof(*r));
	if (!r)
		return -ENOMEM;
	if (s->r) {
		memcpy(r, s->r, s->n * sizeof(*r));
		mt_rawunmap(s->r, s->cap * sizeof(*r));
	}
	s->r = r;
	s->cap = cap;
	return 0;
}

size_t zap_regions_find(const struct zap_regions *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->r[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int zap_regions_add(struct zap_regions *s, uint64_t start, uint64_t end)
{
	size_t i, j;

	if (start >= end)
		return 0;
	if (reserve(s, s->n + 1))
		return -ENOMEM;
	/* i: first range that touches or follows; j: first behind all that touch */
	i = start ? zap_regions_find(s, start - 1) : 0;
	for (j = i; j < s->n && s->r[j].start <= end; j++) {
		if (s->r[j].start < start)
			start = s->r[j].start;
		if (s->r[j].end > end)
			end = s->r[j].end;
	}
	if (j == i)
		memmove(s->r + i + 1, s->r + i, (s->n - i) * sizeof(*s->r));
	else
		memmove(s->r + i + 1, s->r + j, (s->n - j) * sizeof(*s->r));
	s->n = s->n + 1 - (j - i);
	s->r[i].start = start;
	s->r[i].end = end;
	return 0;
}

int zap_regions_remove(struct zap_regions *s, uint64_t start, uint64_t end)
{
	size_t i = zap_regions_find(s, start), j;

	if (start >= end || i == s->n || s->r[i].start >= end)
		return 0;
	if (s->r[i].start < start && s->r[i].end > end) {
		if (reserve(s, s->n + 1))
			return -ENOMEM;
		memmove(s->r + i + 1, s->r + i, (s->n - i) * sizeof(*s->r));
		s->n++;
		s->r[i].end = start;
		s->r[i + 1].start = end;
		return 0;
	}
	if (s->r[i].start < start)
		s->r[i++].end = start;
	for (j = i; j < s->n && s->r[j].end <= end; j++)
		;
	if (j < s->n && s->r[j].start < end)
		s->r[j].start = end;
	memmove(s->r + i, s->r + j, (s->n - j) * sizeof(*s->r));
	s->n -= j - i;
	return 0;
}

void zap_regions_clear(struct zap_regions *s)
{
	s->n = 0;
}

int zap_regions_copy(struct zap_regions *to, const struct zap_regions *from)
{
	to->n = 0;
	if (reserve(to, from->n))
		return -ENOMEM;
	if (from->n)
		memcpy(to->r, from->r, from->n * sizeof(*from->r));
	to->n = from->n;
	return 0;
}

void zap_regions_free(struct zap_regions *s)
{
	mt_rawunmap(s->r, s->cap * sizeof(*s->r));
	memset(s, 0, sizeof(*s));
}

int zap_regions_contain(const struct zap_regions *s, uint64_t addr)
{
	size_t i = zap_regions_find(s, addr);

	return i < s->n && s->r[i].start <= addr;
}

int zap_regions_cover(const struct zap_regions *s, uint64_t start, uint64_t end)
{
	size_t i = zap_regions_find(s, start);

	return i < s->n && s->r[i].start <= start && s->r[i].end >= end;
}

int zap_regions_overlap(const struct zap_regions *s, uint64_t start, uint64_t end)
{
	size_t i = zap_regions_find(s, start);

	return i < s->n && s->r[i].start < end;
}

int zap_regions_run(const struct zap_regions *s, uint64_t at, uint64_t end, uint64_t *until)
{
	const size_t i = zap_regions_find(s, at);
	const int in = i < s->n && s->r[i].start <= at;

	*until = i == s->n ? end : in ? s->r[i].end : s->r[i].start;
	if (*until > end)
		*until = end;
	return in;
}

uint64_t zap_regions_bytes(const struct zap_regions *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->r[i].end - s->r[i].start;
	return sum;
}
