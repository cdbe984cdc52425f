/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat/tlb.h - empty the TLBs of all CPUs after entries were hidden:
 * mtr_flush_mm() for each address space, then once mtr_flush_finish().
 *
 * x86: no flush function is exported to us (flush_tlb_mm_range and
 * flush_tlb_all never were, __flush_tlb_all only for kvm since 7.x). Flushing
 * everything on every CPU makes no assumption on PCIDs, lazy TLBs or global
 * ASIDs. Sleeps not, but waits for the other CPUs: interrupts must be on.
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

static inline void mtr_flush_mm(struct mm_struct *mm)
{
}

static inline void mtr_flush_finish(void)
{
	on_each_cpu(mtr_flush_this_cpu, NULL, 1);
}
#elif defined(CONFIG_ARM64)
#include <asm/mmu.h>

static inline void mtr_flush_mm(struct mm_struct *mm)
{
	const unsigned long asid = __TLBI_VADDR(0, ASID(mm));

	dsb(ishst);
	__tlbi(aside1is, asid);
	__tlbi_user(aside1is, asid);
}

static inline void mtr_flush_finish(void)
{
	dsb(ish);
}
#endif

#endif
