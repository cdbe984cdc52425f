/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/* compat/cpu.h - what else an architecture must have. */
#ifndef MEMTRACE_COMPAT_CPU_H
#define MEMTRACE_COMPAT_CPU_H

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

/* A reason to refuse this machine, or NULL. */
static inline const char *mtr_cpu_refusal(void)
{
#ifdef CONFIG_X86_64
	if (boot_cpu_has(X86_FEATURE_XENPV))
		return "not in a Xen PV guest: page tables belong to the hypervisor";
#endif
	return NULL;
}

#endif
