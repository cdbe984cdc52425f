/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* source.c - what sources share. */
#include "cli/monitor/source.h"

#include <unistd.h>

void mon_type_name(hwloc_obj_t obj, char *to, size_t n)
{
	hwloc_obj_type_snprintf(to, n, obj, 1);
}

const char *mon_sudo(void)
{
	return geteuid() ? "sudo " : "";
}
