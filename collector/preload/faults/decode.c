// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/decode.h"

#include <string.h>

#include "common/rawsys.h"
#include "preload/memory/rwp.h"
#include "preload/faults/rw.h"

#define SLOT_BITS 16
#define SLOTS (1ul << SLOT_BITS)

struct zap_decoded {
	uint64_t ip;
	uint32_t generation;	/* of code in traced memory: number of the interval + 1, else 0 */
	int direction;
};

int zap_decode_init(struct zap_decode *d, int code_fd, int memfd)
{
	d->code_fd = code_fd;
	d->memfd = memfd;
	d->slot = mt_rawmap(SLOTS * sizeof(*d->slot));
	return d->slot ? 0 : -ENOMEM;
}

void zap_decode_free(struct zap_decode *d)
{
	mt_rawunmap(d->slot, SLOTS * sizeof(*d->slot));
	memset(d, 0, sizeof(*d));
}

int zap_decode(struct zap_decode *dc, const struct zap_regions *traced, uint32_t interval, const struct zap_fault *f)
{
	struct zap_decoded *d = &dc->slot[(f->ip * 0x9e3779b97f4a7c15ull) >> (64 - SLOT_BITS)];
	uint8_t insn[ZAP_INSN_MAX + 1] = { 0 };

	if (f->kernel)
		return zap_resolve_kernel(f->addr, &f->regs);
	if (f->addr - f->ip < ZAP_INSN_MAX)
		return ZAP_READ;	/* the instruction itself was fetched (JIT code) */
	if (d->ip != f->ip || (d->generation && d->generation != interval + 1)) {
		long n;

		d->ip = f->ip;
		d->generation = zap_regions_contain(traced, f->ip) ? interval + 1 : 0;
		/* code in traced memory is read from the file: through memory it would become "mapped" */
		n = d->generation && dc->pagemap_fd ? zap_rwp_peek(dc->code_fd, dc->pagemap_fd, f->ip, insn, ZAP_INSN_MAX) :
		    mt_sys(SYS_pread64, d->generation ? dc->memfd : dc->code_fd, insn, ZAP_INSN_MAX, f->ip);
		d->direction = n > 0 ? zap_direction(insn) : 0;
	}
	return zap_resolve(d->direction, f->addr, &f->regs);
}
