/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat/tlb.h - empty the TLBs after entries of an address space were hidden:
 * mtr_flush_mm(), or mtr_flush_now() without a mask of the caller's.
 *
 * x86: no flush function is exported to us (flush_tlb_mm_range and
 * flush_tlb_all never were, __flush_tlb_all only for kvm since 7.x). What the
 * kernel does: the number of the address space's last flush grows, and the CPUs
 * of mm_cpumask() are interrupted; another CPU compares the numbers when it
 * begins to use the address space and flushes by itself. The interrupted ones
 * empty their whole TLB, so nothing is assumed of PCIDs and lazy TLBs; they do not
 * note the number, so the kernel's next flush there is a whole one as well. With ASIDs
 * of the whole machine (INVLPGB) the numbers are not compared, and where the
 * function for them is not in the headers, all CPUs are interrupted. Sleeps
 * not, but waits for the other CPUs: interrupts must be on.
 *
 * arm64: the hardware tells the other CPUs; what flush_tlb_mm() does, without
 * its call of secondary TLBs (6.6), which is not exported: a device that shares
 * the page tables may use a hidden page a little longer, unseen.
 */
#ifndef MEMTRACE_COMPAT_TLB_H
#define MEMTRACE_COMPAT_TLB_H

#include <linux/mm.h>
#include <linux/smp.h>
#include <asm/tlbflush.h>

#include "probed.h"

#if defined(CONFIG_X86_64)
#include <asm/cpufeature.h>
#include <asm/invpcid.h>
#include <asm/processor-flags.h>

static inline void mtr_flush_this_cpu(void *unused)
{
	unsigned long flags, cr4;

	if (boot_cpu_has(X86_FEATURE_INVPCID)) {
		invpcid_flush_all();
		return;
	}
	/* changing CR4.PGE empties the TLB, global entries and all PCIDs included */
	local_irq_save(flags);
	asm volatile("mov %%cr4, %0" : "=r" (cr4));
	asm volatile("mov %0, %%cr4" : : "r" (cr4 ^ X86_CR4_PGE) : "memory");
	asm volatile("mov %0, %%cr4" : : "r" (cr4) : "memory");
	local_irq_restore(flags);
}

static inline const struct cpumask *mtr_flush_where(struct mm_struct *mm)
{
#ifdef X86_FEATURE_INVLPGB
	if (boot_cpu_has(X86_FEATURE_INVLPGB))
		return cpu_online_mask;
#endif
#ifdef MTR_HAS_TLB_GEN
	inc_mm_tlb_gen(mm);		/* a full barrier: entries, number, mask */
	return mm_cpumask(mm);
#else
	return cpu_online_mask;
#endif
}

/* Any context with interrupts on. */
static inline void mtr_flush_now(struct mm_struct *mm)
{
	on_each_cpu_mask(mtr_flush_where(mm), mtr_flush_this_cpu, NULL, 1);
}

/* The mask is looked at once; it may change under on_each_cpu_mask(). */
static inline void mtr_flush_mm(struct mm_struct *mm, struct cpumask *cpus)
{
	cpumask_copy(cpus, mtr_flush_where(mm));
	on_each_cpu_mask(cpus, mtr_flush_this_cpu, NULL, 1);
}
#elif defined(CONFIG_ARM64)
#include <asm/mmu.h>

static inline void mtr_flush_now(struct mm_struct *mm)
{
	const unsigned long asid = __TLBI_VADDR(0, ASID(mm));

	dsb(ishst);
	__tlbi(aside1is, asid);
	__tlbi_user(aside1is, asid);
	dsb(ish);
}

static inline void mtr_flush_mm(struct mm_struct *mm, struct cpumask *unused)
{
	mtr_flush_now(mm);
}
#endif

#endif
