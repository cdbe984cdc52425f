/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* backend_none.c - structures, threads and call stacks, no accesses. */
#include "cli/backend/backend.h"
#include "cli/base/util.h"

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	b->works = p->preload ? MT_YES : MT_NO;
	b->why = mt_strdup(p->preload ? "structures and threads, no accesses" :
			   "libmemtrace-preload.so is not beside this program");
	b->preference = 1;
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	(void)b, (void)r;
	return json_pack("{s:i, s:s, s:s, s:s, s:s}", "granularity_bytes", 4096, "pages", "none", "threads", "none",
			 "writes", "none", "kernel_accesses", "none");
}

const struct mt_backend mt_backend_none = {
	.name = "none",
	.title = "No accesses",
	.library = MT_LIBRARY_NO_ACCESSES,
	.probe = probe,
	.guarantee = guarantee,
};
