/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/walk.h - from an address to its entry.
 *
 * The mmap_lock or the lock of a VMA over the address is held: tables of the upper levels stay. Each word is read once; the
 * hardware and other threads write them meanwhile. Both are in the way of each fault, so they are inline, and on x86 they read
 * the words as they are, without the calls for Xen PV, where the module is refused.
 *
 *	mtr_pmds_of(mm, address, end, &next)	the PMD of an address, or NULL; *next: where the table that it is in, or that is
 *						missing, ends, at most @end
 *	mtr_pte_lock(mm, pmd, address, &ptl)	the entry, its table locked, or NULL: there is no table
 */
#ifndef MEMTRACE_COMPAT_WALK_H
#define MEMTRACE_COMPAT_WALK_H

#include "mm.h"
#include "pte.h"

#ifdef CONFIG_X86_64
static __always_inline bool mtr_is_table(u64 v)
{
	return (v & (_PAGE_PRESENT | _PAGE_PSE)) == _PAGE_PRESENT;
}

static __always_inline u64 *mtr_table(u64 v)
{
	return __va(v & PTE_PFN_MASK);
}

/* pte_lockptr() without asking what the entry is: it is a table, and with a lock of its own. */
static __always_inline spinlock_t *mtr_table_lock(struct mm_struct *mm, u64 v)
{
#if defined(MTR_HAS_PTDESC) && (defined(CONFIG_SPLIT_PTE_PTLOCKS) || (defined(USE_SPLIT_PTE_PTLOCKS) && USE_SPLIT_PTE_PTLOCKS))
	return ptlock_ptr(page_ptdesc(pfn_to_page((v & PTE_PFN_MASK) >> PAGE_SHIFT)));
#else
	return pte_lockptr(mm, &(pmd_t){ v });
#endif
}

static __always_inline pmd_t *mtr_pmds_of(struct mm_struct *mm, unsigned long a, unsigned long end, unsigned long *next)
{
	const u64 *t = (const u64 *)pgd_offset(mm, a);
	u64 v;

	if (pgtable_l5_enabled()) {
		v = READ_ONCE(*t);
		*next = pgd_addr_end(a, end);
		if (unlikely(!mtr_is_table(v)))
			return NULL;
		t = mtr_table(v) + p4d_index(a);
	}
	v = READ_ONCE(*t);
	*next = p4d_addr_end(a, end);
	if (unlikely(!mtr_is_table(v)))
		return NULL;
	t = mtr_table(v) + pud_index(a);
	v = READ_ONCE(*t);
	*next = pud_addr_end(a, end);
	if (unlikely(!mtr_is_table(v)))		/* or a page of 1 GiB */
		return NULL;
	return (pmd_t *)mtr_table(v) + pmd_index(a);
}
#else
static __always_inline pmd_t *mtr_pmds_of(struct mm_struct *mm, unsigned long a, unsigned long end, unsigned long *next)
{
	pgd_t *pgd = pgd_offset(mm, a), g = READ_ONCE(*pgd);
	p4d_t *p4d, f;
	pud_t *pud, u;

	*next = pgd_addr_end(a, end);
	if (pgd_none(g) || unlikely(pgd_bad(g)))
		return NULL;
	p4d = p4d_offset_lockless(pgd, g, a);
	f = READ_ONCE(*p4d);
	*next = p4d_addr_end(a, end);
	if (p4d_none(f) || unlikely(p4d_bad(f)))
		return NULL;
	pud = pud_offset_lockless(p4d, f, a);
	u = READ_ONCE(*pud);
	*next = pud_addr_end(a, end);
	if (pud_none(u) || pud_leaf(u) || unlikely(pud_bad(u)))
		return NULL;
	return pmd_offset_lockless(pud, u, a);
}
#endif

/* As above, for one address. */
static __always_inline pmd_t *mtr_pmd_of(struct mm_struct *mm, unsigned long a)
{
	unsigned long next;

	return mtr_pmds_of(mm, a, ULONG_MAX, &next);
}

/*
 * As pte_offset_map_lock(). Call and stay under RCU: it keeps a table that khugepaged takes away
 * meanwhile from being freed. Preemption off is enough. Unlock with spin_unlock().
 */
static __always_inline pte_t *mtr_pte_lock(struct mm_struct *mm, pmd_t *pmd, unsigned long a, spinlock_t **ptlp)
{
	spinlock_t *ptl;
	pte_t *pte;
	pmd_t v;

	for (;;) {
		v = READ_ONCE(*pmd);
#ifdef CONFIG_X86_64
		if (unlikely(!mtr_is_table(v.pmd)))	/* none, a huge page, or one without access */
			return NULL;
		pte = (pte_t *)mtr_table(v.pmd) + pte_index(a);
		ptl = mtr_table_lock(mm, v.pmd);
#else
		barrier();
		if (pmd_none(v) || !pmd_present(v) || pmd_leaf(v) || pmd_trans_huge(v) || mtr_pmd_protnone(v) ||
		    pmd_bad(v))
			return NULL;
		pte = pte_offset_kernel(&v, a);
		ptl = pte_lockptr(mm, &v);
#endif
		spin_lock(ptl);
#ifdef CONFIG_X86_64
		if (likely(READ_ONCE(pmd->pmd) == v.pmd)) {
#else
		if (likely(pmd_same(v, READ_ONCE(*pmd)))) {
#endif
			*ptlp = ptl;
			return pte;
		}
		spin_unlock(ptl);
	}
}

#endif
