// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/files.h"

#include <fcntl.h>
#include <string.h>

#include "common/arch.h"
#include "common/rawsys.h"

#define BUFFER (64ul << 10)	/* of each file */
#define CHUNK_BYTES (64ull << 20)
#define BINS_FULL (BUFFER / 2)

static int create(int dirfd, const char *name, struct mt_out *o, const char *header)
{
	const long fd = mt_sys(SYS_openat, dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		return (int)fd;
	if (!o->buf) {
		char *buf = mt_rawmap(BUFFER);

		if (!buf)
			return -ENOMEM;
		mt_out_init(o, (int)fd, buf, BUFFER);
	}
	o->fd = (int)fd;
	mt_out_str(o, header);
	mt_out_flush(o);	/* what cannot be written is counted there */
	return 0;
}

static int create_chunk(struct fine_files *f, struct fine_chunks *c)
{
	char name[48], *p;
	const size_t n = strlen(c->prefix);
	unsigned int number = c->number;

	memcpy(name, c->prefix, n);
	p = name + n;
	for (int i = 5; i >= 0; i--, number /= 10)
		p[i] = (char)('0' + number % 10);
	memcpy(p + 6, ".csv", 5);
	return create(f->dirfd, name, &c->out, c->header);
}

int fine_files_open(struct fine_files *f, int dirfd)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->dirfd = dirfd;
	f->bins.fd = f->strata.fd = f->panel.fd = f->counts.out.fd = f->threads.out.fd = -1;
	f->counts.prefix = "fine-";
	f->counts.header = "Bin,Stratum,Mapped,Sampled,Hit,HitWritten,Armed,ArmedHit,ArmedWritten\n";
	f->threads.prefix = "finethreads-";
	f->threads.header = "Bin,Stratum,TaskId,Hit,Written,ArmedHit,ArmedWritten,WaitNs\n";
	err = create(dirfd, "strata.csv", &f->strata, "Stratum,Start,End,TaskId\n");
	if (!err)
		err = create_chunk(f, &f->counts);
	if (!err)
		err = create_chunk(f, &f->threads);
	if (!err)
		err = create(dirfd, "panel.csv", &f->panel, "@Virt,Start,End,Looks,Active,WaitNs,Written,Users\n");
	if (!err)
		err = create(dirfd, "bins.csv", &f->bins, "Bin,Start,Away,End,CpuNs,Look,Faults,Lost,MonitorCpuNs\n");
	return err;
}

static void number(struct mt_out *o, uint64_t v, char end)
{
	mt_out_u64(o, v);
	mt_out_char(o, end);
}

void fine_files_stratum(struct fine_files *f, uint32_t id, const struct fine_stratum *s, int tid)
{
	struct mt_out *o = &f->strata;

	number(o, id, ',');
	mt_out_hex(o, s->start << MT_PAGE_SHIFT);
	mt_out_char(o, ',');
	mt_out_hex(o, s->end << MT_PAGE_SHIFT);
	mt_out_char(o, ',');
	mt_out_i64(o, tid);
	mt_out_char(o, '\n');
}

void fine_files_counts(struct fine_files *f, uint64_t bin, uint32_t id, const struct fine_counts *c)
{
	struct mt_out *o = &f->counts.out;

	number(o, bin, ',');
	number(o, id, ',');
	number(o, c->mapped, ',');
	number(o, c->sampled, ',');
	number(o, c->hit, ',');
	number(o, c->hit_written, ',');
	number(o, c->armed, ',');
	number(o, c->armed_hit, ',');
	number(o, c->armed_written, '\n');
}

void fine_files_share(struct fine_files *f, uint64_t bin, uint32_t id, int tid, const struct fine_share *s)
{
	struct mt_out *o = &f->threads.out;

	number(o, bin, ',');
	number(o, id, ',');
	mt_out_i64(o, tid);
	mt_out_char(o, ',');
	number(o, s->hit, ',');
	number(o, s->written, ',');
	number(o, s->armed_hit, ',');
	number(o, s->armed_written, ',');
	number(o, s->wait_ns, '\n');
}

void fine_files_member(struct fine_files *f, const struct fine_member *m, uint64_t end_ns)
{
	struct mt_out *o = &f->panel;

	mt_out_hex(o, m->page << MT_PAGE_SHIFT);
	mt_out_char(o, ',');
	number(o, m->start_ns, ',');
	number(o, end_ns, ',');
	number(o, m->looks, ',');
	number(o, m->active, ',');
	number(o, m->wait_ns, ',');
	number(o, m->written, ',');
	for (unsigned int i = 0; i < m->users; i++) {
		if (i)
			mt_out_char(o, ';');
		mt_out_i64(o, m->user[i].tid);
		mt_out_char(o, ':');
		mt_out_u64(o, m->user[i].n);
	}
	mt_out_char(o, '\n');
}

void fine_files_bin(struct fine_files *f, const struct fine_bin *b)
{
	struct mt_out *o = &f->bins;

	number(o, b->number, ',');
	number(o, b->start_ns, ',');
	number(o, b->away_ns, ',');
	number(o, b->end_ns, ',');
	mt_out_i64(o, b->cpu_ns ? (int64_t)b->cpu_ns : -1);
	mt_out_char(o, ',');
	number(o, (uint64_t)b->look, ',');
	number(o, b->faults, ',');
	number(o, b->lost, ',');
	number(o, b->monitor_ns, '\n');
	if (o->len > BINS_FULL)
		fine_files_flush(f);
}

/* A chunk that cannot be followed goes on. */
static void turn(struct fine_files *f, struct fine_chunks *c)
{
	const int fd = c->out.fd;

	if (c->out.bytes - c->begin < CHUNK_BYTES)
		return;
	c->number++;
	c->begin = c->out.bytes;
	if (create_chunk(f, c))
		c->number--;
	else
		mt_sys(SYS_close, fd);
}

void fine_files_flush(struct fine_files *f)
{
	struct mt_out *const before[] = { &f->strata, &f->counts.out, &f->threads.out, &f->panel };
	uint64_t lost = 0;

	for (int i = 0; i < 4; i++) {
		mt_out_flush(before[i]);
		lost += before[i]->lost_lines;
	}
	if (lost != f->lost_lines)
		f->bins.len = 0;	/* something of these bins is missing */
	f->lost_lines = lost;
	mt_out_flush(&f->bins);
	turn(f, &f->counts);
	turn(f, &f->threads);
}

static struct mt_out *const *each(struct fine_files *f, struct mt_out **to)
{
	to[0] = &f->bins;
	to[1] = &f->strata;
	to[2] = &f->panel;
	to[3] = &f->counts.out;
	to[4] = &f->threads.out;
	return to;
}

void fine_files_free(struct fine_files *f)
{
	struct mt_out *to[5];

	each(f, to);
	for (int i = 0; i < 5; i++)
		if (to[i]->buf)
			mt_rawunmap(to[i]->buf, BUFFER);
	memset(f, 0, sizeof(*f));
}
