/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/tlb.h - empty the TLBs after entries were hidden: mtr_flush_mm() for each address
 * space, then once mtr_flush_finish(); or mtr_flush_now() for one.
 *
 * x86: no flush function is exported to us (flush_tlb_mm_range and
 * flush_tlb_all never were, __flush_tlb_all only for kvm since 7.x). What the
 * kernel does: the number of the address space's last flush grows, and the CPUs
 * of mm_cpumask() are interrupted; another CPU compares the numbers when it
 * begins to use the address space and flushes by itself. The interrupted ones
 * empty their whole TLB, so nothing is assumed of PCIDs and lazy TLBs; they do not
 * note the number, so the kernel's next flush there is a whole one as well. With ASIDs
 * of the whole machine (INVLPGB) the numbers are not compared: then, and where there
 * is no such number, all CPUs are interrupted. Sleeps
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

/* The CPUs that must be interrupted, added to a mask; the entries are changed. */
static inline void mtr_flush_mm(struct mm_struct *mm, struct cpumask *cpus)
{
#ifdef MTR_HAS_TLB_GEN
#ifdef X86_FEATURE_INVLPGB
	if (boot_cpu_has(X86_FEATURE_INVLPGB)) {
		cpumask_copy(cpus, cpu_online_mask);
		return;
	}
#endif
	atomic64_inc_return(&mm->context.tlb_gen);	/* a full barrier: entries, number, mask */
	cpumask_or(cpus, cpus, mm_cpumask(mm));
#else
	cpumask_copy(cpus, cpu_online_mask);
#endif
}

static inline void mtr_flush_finish(struct cpumask *cpus)
{
	on_each_cpu_mask(cpus, mtr_flush_this_cpu, NULL, 1);
	cpumask_clear(cpus);
}

/* One address space, without a mask of the caller's. */
static inline void mtr_flush_now(struct mm_struct *mm)
{
#ifdef MTR_HAS_TLB_GEN
#ifdef X86_FEATURE_INVLPGB
	if (boot_cpu_has(X86_FEATURE_INVLPGB)) {
		on_each_cpu(mtr_flush_this_cpu, NULL, 1);
		return;
	}
#endif
	atomic64_inc_return(&mm->context.tlb_gen);
	on_each_cpu_mask(mm_cpumask(mm), mtr_flush_this_cpu, NULL, 1);
#else
	on_each_cpu(mtr_flush_this_cpu, NULL, 1);
#endif
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

static inline void mtr_flush_finish(struct cpumask *unused)
{
}
#endif

#endif
