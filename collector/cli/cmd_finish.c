/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "native.h"
#include "finish.h"
#include "tracedir.h"
#include "util.h"

int cmd_finish(const struct mt_args *a)
{
	const struct mt_finish_options o = { .again = mt_args_has(a, "force"), .progress = true };

	return mt_finish_trace(a->argv[0], &o) ? MT_EXIT_INTERNAL : 0;
}
