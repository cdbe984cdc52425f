// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "common/tracefile.h"

#include <errno.h>
#include <string.h>

#include "common/rawsys.h"
#include "common/tracenames.h"

#define CHUNK_BYTES (64ull << 20)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *const mt_access_columns[] = {
	"@Virt", "@Phy", "Nreads", "Nwrites", "CPUMask", "Start", "End", "TaskId", "Ip", "Node", "Flags",
	"ReadOffset", "WriteOffset", "First",
};
const size_t mt_n_access_columns = COUNT(mt_access_columns);

const char *const mt_interval_columns[] = {
	"Interval", "Start", "End", "Subphases", "TargetNs", "Faults", "Records", "Unattributed", "LostRing",
	"LostTable", "Resident", "ScanNs", "ZapNs", "MonitorCpuNs", "ProgramCpuNs", "Event", "LostRegion", "LostWrite",
	"Closed", "UnseenShared", "UnseenFile", "Accesses",
};
const size_t mt_n_interval_columns = COUNT(mt_interval_columns);

static void put_header(struct mt_out *o, const char *const *column, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		mt_out_str(o, column[i]);
		mt_out_char(o, i + 1 < n ? ',' : '\n');
	}
}

static int make(const struct mt_tracefile *t, const char *name)
{
	return (int)mt_sys(SYS_openat, t->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

static int make_chunk(const struct mt_tracefile *t, unsigned int chunk)
{
	char name[32] = "accesses-", *p = name + 9;
	unsigned int width = 100000;

	while (chunk / width >= 10)
		width *= 10;
	for (; width; width /= 10)
		*p++ = (char)('0' + chunk / width % 10);
	memcpy(p, ".csv", 5);
	return make(t, name);
}

static int begin_chunk(struct mt_tracefile *t, int fd)
{
	t->accesses.fd = fd;
	t->accesses.torn = 0;
	t->chunk_begin = t->accesses.bytes;
	put_header(&t->accesses, mt_access_columns, mt_n_access_columns);
	if (t->accesses.fd >= 0)
		return 0;
	t->accesses.len = 0;	/* the header is no record: not counted as lost */
	return t->accesses.fd;
}

int mt_tracefile_open(struct mt_tracefile *t, int dirfd, char *abuf, size_t acap, char *ibuf, size_t icap)
{
	memset(t, 0, sizeof(*t));
	t->dirfd = dirfd;
	mt_out_init(&t->accesses, -1, abuf, acap);
	mt_out_init(&t->intervals, make(t, MT_FILE_INTERVALS), ibuf, icap);
	put_header(&t->intervals, mt_interval_columns, mt_n_interval_columns);
	mt_out_flush(&t->intervals);	/* a program killed at once leaves a readable trace */
	return t->intervals.fd < 0 ? t->intervals.fd : 0;
}

int mt_tracefile_accesses(struct mt_tracefile *t)
{
	int err = begin_chunk(t, make_chunk(t, t->chunk));

	return err ? err : mt_out_flush(&t->accesses);
}

void mt_tracefile_close(struct mt_tracefile *t)
{
	if (t->accesses.buf)
		mt_out_flush(&t->accesses);
	if (t->intervals.buf)
		mt_out_flush(&t->intervals);
	if (t->accesses.fd >= 0)
		mt_sys(SYS_close, t->accesses.fd);
	if (t->intervals.fd >= 0)
		mt_sys(SYS_close, t->intervals.fd);
	t->accesses.fd = t->intervals.fd = -1;
}

/* Of mt_tracefile.middle: the frame, the numbers of accesses and the processors, of a digit each. */
#define MIDDLE_NUMBERS 8

void mt_tracefile_interval_begin(struct mt_tracefile *t, uint64_t start, uint64_t end)
{
	char *p = t->middle + MIDDLE_NUMBERS;

	if (t->times_len && start == t->start && end == t->end)
		return;
	memcpy(t->middle, ",0,0,0,0", MIDDLE_NUMBERS);
	t->start = start;
	t->end = end;
	*p++ = ',';
	p = mt_put_u64(p, start);
	*p++ = ',';
	p = mt_put_u64(p, end);
	*p++ = ',';
	t->times_len = (size_t)(p - t->middle);
	t->task_len = 0;
}

static char *put_i64(char *p, int64_t v)
{
	if (v < 0)
		*p++ = '-';
	return mt_put_u64(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* What is mostly one digit. */
static inline char *put_small(char *p, uint64_t v)
{
	if (v >= 10)
		return mt_put_u64(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

static inline char *put_hex_pair(char *p, uint64_t v)
{
	memcpy(p, mt_hex_pairs + (v & 255) * 2, 2);
	return p + 2;
}

static inline char *put_hex_digit(char *p, uint64_t v)
{
	*p = mt_hex_pairs[(v & 15) * 2 + 1];
	return p + 1;
}

/* Hexadecimal; 20 bytes of room. */
static inline char *put_address(char *p, uint64_t v, struct mt_address_text *a)
{
	if (v >> 20 != a->high || !a->high) {
		if (!(v >> 20))
			return mt_put_hex(p, v);
		a->high = v >> 20;
		a->len = (size_t)(mt_put_hex(a->text, v >> 20) - a->text);
	}
	memcpy(p, a->text, sizeof(a->text));	/* of a known size: two instructions */
	p = put_hex_digit(p + a->len, v >> 16);
	p = put_hex_pair(p, v >> 8);
	return put_hex_pair(p, v);
}

/* In a page: mostly three digits. Nothing for what is negative. */
static inline char *put_offset(char *p, int v)
{
	if (v < 0)
		return p;
	if (v < 16)
		return put_hex_digit(p, (unsigned int)v);
	if (v >= 4096)
		return mt_put_hex(p, (unsigned int)v);
	if (v >= 256)
		p = put_hex_digit(p, (unsigned int)v >> 8);
	return put_hex_pair(p, (unsigned int)v);
}

/* The last part of t->middle. */
static void set_task(struct mt_tracefile *t, int32_t tid)
{
	char *p = put_i64(t->middle + t->times_len, tid);

	*p++ = ',';
	t->task_len = (size_t)(p - t->middle);
	t->tid = tid;
}

/* Up to the task, where one digit is not enough for each of the first four numbers. */
static char *put_middle(const struct mt_tracefile *t, const struct mt_access_row *a, char *p)
{
	*p++ = ',';
	p = a->phys ? mt_put_hex(p, a->phys) : put_small(p, 0);
	*p++ = ',';
	p = mt_put_u64(p, a->nreads);
	*p++ = ',';
	p = mt_put_u64(p, a->nwrites);
	*p++ = ',';
	p = mt_put_mask(p, a->cpus, a->cpu_words);
	memcpy(p, t->middle + MIDDLE_NUMBERS, sizeof(t->middle) - MIDDLE_NUMBERS);
	return p + t->task_len - MIDDLE_NUMBERS;
}

/* A recorder writes millions: what is the same in most lines, and what is mostly one digit, is not made again each time. */
void mt_tracefile_access(struct mt_tracefile *t, const struct mt_access_row *a)
{
	struct mt_out *o = &t->accesses;
	char *p;

	if (o->cap - o->len < 320 + 16 * (size_t)a->cpu_words)
		mt_out_flush(o);
	if (a->tid != t->tid || !t->task_len)
		set_task(t, a->tid);
	p = put_address(o->buf + o->len, a->virt, &t->virt);
	if (!a->phys && a->nreads < 10 && a->nwrites < 10 && a->cpu_words == 1 && a->cpus[0] < 10) {
		memcpy(p, t->middle, sizeof(t->middle));
		p[3] += (char)a->nreads;
		p[5] += (char)a->nwrites;
		p[7] += (char)a->cpus[0];
		p += t->task_len;
	} else {
		p = put_middle(t, a, p);
	}
	p = put_address(p, a->ip, &t->ip);
	*p++ = ',';
	p = a->node < 0 ? put_i64(p, a->node) : put_small(p, (uint64_t)a->node);
	*p++ = ',';
	p = a->flags < 10 ? put_small(p, a->flags) : mt_put_hex(p, a->flags);
	*p++ = ',';
	p = put_offset(p, a->read_at);
	*p++ = ',';
	p = put_offset(p, a->write_at);
	*p++ = ',';
	/* a fault that began before the boundary may be told behind it: its access is of this interval */
	if (a->first_ns)
		p = mt_put_u64(p, a->first_ns > t->start ? a->first_ns - t->start : 0);
	*p++ = '\n';
	o->len = (size_t)(p - o->buf);
}

int mt_tracefile_turn(struct mt_tracefile *t)
{
	struct mt_out *o = &t->accesses;
	int next;

	if (o->fd >= 0 && o->bytes + o->len - t->chunk_begin < CHUNK_BYTES)
		return 0;
	mt_out_flush(o);
	next = make_chunk(t, t->chunk + (o->fd >= 0));
	if (o->fd >= 0) {
		if (next < 0)
			return 0;	/* say, the program has used up its descriptors: the next interval tries again */
		mt_sys(SYS_close, o->fd);
		t->chunk++;
	}
	return begin_chunk(t, next);
}

/* "write:ENOSPC" */
static void put_write_error(struct mt_out *o, int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ ENOSPC, "ENOSPC" }, { EDQUOT, "EDQUOT" }, { EMFILE, "EMFILE" }, { ENFILE, "ENFILE" }, { EFBIG, "EFBIG" }, { EIO, "EIO" },
		{ ENOMEM, "ENOMEM" }, { EBADF, "EBADF" }, { EROFS, "EROFS" }, { EACCES, "EACCES" }, { EPERM, "EPERM" }, { ENOENT, "ENOENT" },
		{ ESTALE, "ESTALE" },
	};

	mt_out_str(o, "write:");
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].err == -err) {
			mt_out_str(o, names[i].name);
			return;
		}
	mt_out_i64(o, -err);
}

/* @lost: the error by which accesses were lost, 0: none were. */
static void put_event(struct mt_out *o, const struct mt_interval_row *r, int lost)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} marks[] = {
		{ MT_MARK_FORK, "fork" }, { MT_MARK_EXEC, "exec" }, { MT_MARK_EXIT, "exit" }, { MT_MARK_STOP, "stop" },
		{ MT_MARK_KILLED, "killed" },
	};
	int n = 0;

	if (r->stretch != MT_STRETCH_NONE) {
		mt_out_str(o, r->stretch == MT_STRETCH_LONGER ? "governor:lengthened" : "governor:shortened");
		n++;
	}
	for (size_t i = 0; i < COUNT(marks); i++)
		if (r->marks & marks[i].bit) {
			if (n++)
				mt_out_char(o, ' ');
			mt_out_str(o, marks[i].name);
		}
	if (lost) {
		if (n)
			mt_out_char(o, ' ');
		put_write_error(o, lost);
	}
}

uint64_t mt_tracefile_interval_end(struct mt_tracefile *t, const struct mt_interval_row *r)
{
	const uint64_t before[] = {
		r->interval, r->start, r->end, r->subphases, r->target, r->faults, r->records, r->unattributed,
		r->lost_ring, r->lost_table, r->resident, r->scan_ns, r->zap_ns, r->monitor_cpu_ns, r->program_cpu_ns,
	};
	struct mt_out *o = &t->intervals;
	uint64_t lost;

	if (t->accesses.len)
		mt_out_flush(&t->accesses);
	if (o->fd < -1) {	/* it could not be made before: what is not told would never be */
		o->fd = make(t, MT_FILE_INTERVALS);
		if (o->fd >= 0)
			put_header(o, mt_interval_columns, mt_n_interval_columns);
	}
	lost = t->accesses.lost_lines - t->lost_told;
	for (size_t i = 0; i < COUNT(before); i++) {
		mt_out_u64(o, before[i]);
		mt_out_char(o, ',');
	}
	put_event(o, r, lost ? t->accesses.last_error : 0);
	mt_out_fmt(o, ",%llu,%llu,%llu,", (unsigned long long)r->lost_region, (unsigned long long)lost,
		   (unsigned long long)(r->closed > r->end ? r->closed : r->end));
	mt_out_u64(o, r->unseen_shared);
	mt_out_char(o, ',');
	mt_out_u64(o, r->unseen_file);
	mt_out_char(o, ',');
	mt_out_u64(o, r->accesses);
	mt_out_char(o, '\n');
	if (!mt_out_flush(o)) {
		t->lost_told += lost;
		t->accesses.last_error = 0;
	}
	return lost;
}
