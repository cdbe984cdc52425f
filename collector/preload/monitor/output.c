// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/monitor/output.h"

#include <string.h>

#include "preload/ground/image.h"
#include "common/rawsys.h"

#define ACCESS_BYTES (4ul << 20)
#define INTERVAL_BYTES (64ul << 10)

int zap_output_open(struct zap_output *o, int dirfd, int accesses)
{
	memset(o, 0, sizeof(*o));
	o->abuf = mt_rawmap(ACCESS_BYTES);
	o->ibuf = mt_rawmap(INTERVAL_BYTES);
	if (!o->abuf || !o->ibuf)
		return -ENOMEM;
	o->on = 1;
	mt_tracefile_open(&o->file, dirfd, o->abuf, ACCESS_BYTES, o->ibuf, INTERVAL_BYTES);
	if (accesses)
		mt_tracefile_accesses(&o->file);
	return 0;
}

void zap_output_records(struct zap_output *o, const struct zap_records *records, const struct zap_scan *scan,
			uint64_t start, uint64_t end)
{
	mt_tracefile_interval_begin(&o->file, start, end);
	for (size_t i = 0; i < records->n; i++) {
		const struct zap_record *r = zap_record_at(records, i);
		struct mt_access_row row = {
			.virt = r->addr, .nreads = r->nreads, .nwrites = r->nwrites, .ip = r->ip, .first_ns = r->first_ns, .cpus = r->cpus,
			.cpu_words = records->mask_words, .tid = r->tid, .flags = r->flags,
			.read_at = (int)r->read_at - 1, .write_at = (int)r->write_at - 1,
		};
		uint64_t frame;

		if (zap_record_is_moot(records, r))
			continue;
		row.node = zap_scan_node(scan, r->addr / MT_PAGE, &frame);
		row.phys = frame * MT_PAGE;
		mt_tracefile_access(&o->file, &row);
		if (o->between && i % 256 == 255)
			o->between(o->between_arg);
	}
	/* now: its CPU time is that of this interval */
	mt_out_flush(&o->file.accesses);
	mt_tracefile_turn(&o->file);
}

void zap_output_interval(struct zap_output *o, const struct mt_interval_row *row)
{
	if (o->on)
		mt_tracefile_interval_end(&o->file, row);
}

void zap_output_after_fork(struct zap_output *o)
{
	mt_rawunmap(o->abuf, ACCESS_BYTES);
	mt_rawunmap(o->ibuf, INTERVAL_BYTES);
	memset(o, 0, sizeof(*o));
}
