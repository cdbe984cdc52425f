/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* sources.c - the list of sources. */
#include <string.h>
#include <strings.h>

#include "cli/monitor/source.h"

const struct mon_source *const mon_sources[] = {
	&mon_source_proc, &mon_source_perf, &mon_source_papi, &mon_source_trace, &mon_source_fake, NULL,
};

const struct mon_source *mon_source_find(const char *name)
{
	for (int i = 0; mon_sources[i]; i++)
		if (!strcasecmp(mon_sources[i]->name, name))
			return mon_sources[i];
	return NULL;
}
