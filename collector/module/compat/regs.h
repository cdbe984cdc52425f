/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/* compat/regs.h - the arguments of a probed function, at its entry; to be changed, too. */
#ifndef MEMTRACE_COMPAT_REGS_H
#define MEMTRACE_COMPAT_REGS_H

#include <linux/ptrace.h>

#include "probed.h"

#ifndef MTR_HAS_REGS_ARGUMENT	/* 5.0 */
static inline unsigned long regs_get_kernel_argument(struct pt_regs *regs, unsigned int n)
{
	const unsigned long argument[] = { regs->di, regs->si, regs->dx, regs->cx };

	return argument[n];
}
#endif

static inline void mtr_set_argument(struct pt_regs *regs, unsigned int n, unsigned long value)
{
#if defined(CONFIG_X86_64)
	switch (n) {
	case 0:
		regs->di = value;
		break;
	case 1:
		regs->si = value;
		break;
	case 2:
		regs->dx = value;
		break;
	case 3:
		regs->cx = value;
		break;
	}
#elif defined(CONFIG_ARM64)
	regs->regs[n] = value;
#endif
}

#endif
