/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: GPL-2.0-only */
/* compat/mm.h - differences of memory management between 6.1 and the newest kernel. */
#ifndef MEMTRACE_COMPAT_MM_H
#define MEMTRACE_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/version.h>

/*
 * Huge pages of one address space, off and on again. The flag is inherited by
 * fork and exec. mm->flags became a bitmap with functions of its own in 6.18,
 * where the flag got a new name as well. Any context.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
static inline bool mtr_mm_no_huge_pages(struct mm_struct *mm)
{
	return mm_flags_test_and_set(MMF_DISABLE_THP_COMPLETELY, mm);
}

static inline void mtr_mm_huge_pages(struct mm_struct *mm)
{
	mm_flags_clear(MMF_DISABLE_THP_COMPLETELY, mm);
}
#else
static inline bool mtr_mm_no_huge_pages(struct mm_struct *mm)	/* were they off before? */
{
	return test_and_set_bit(MMF_DISABLE_THP, &mm->flags);
}

static inline void mtr_mm_huge_pages(struct mm_struct *mm)
{
	clear_bit(MMF_DISABLE_THP, &mm->flags);
}
#endif

/* Was the fault taken under the lock of the VMA alone? (6.4) */
static inline bool mtr_fault_vma_lock(unsigned int flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	return flags & FAULT_FLAG_VMA_LOCK;
#else
	return false;
#endif
}

#ifndef VM_SHADOW_STACK		/* 6.6 */
#define VM_SHADOW_STACK VM_NONE
#endif

/* pmd_leaf() is there since 5.x; huge pages only */
static inline bool mtr_pmd_huge(pmd_t v)
{
	return pmd_present(v) && (pmd_leaf(v) || pmd_trans_huge(v));
}

#endif
