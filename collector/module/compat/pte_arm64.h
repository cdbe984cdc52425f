/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/pte_arm64.h - VALID goes, and what says "present, but not valid"
 * comes: PTE_PROT_NONE, or since 6.11 PTE_PRESENT_INVALID, which is NG. For
 * pte_protnone(), the safety net, USER must go and UXN come as well (6.11); the
 * mapping knows what they were. The mark is PXN cleared: no entry of user space
 * is without it, PAGE_NONE has it, and pte_modify() (mprotect, NUMA hints) sets
 * it anew. WRITE, RDONLY and both dirty states stay, so every pte_wrprotect()
 * of the kernel acts on a hidden entry, too.
 *
 * set_pte_at() needs mte_sync_tags(), which is not exported; the tags and the
 * instruction cache of a page were taken care of when the kernel mapped it.
 * ptep_get_and_clear() and ptep_get() unfold contiguous entries (6.9).
 */
#ifndef MEMTRACE_COMPAT_PTE_ARM64_H
#define MEMTRACE_COMPAT_PTE_ARM64_H

#include "probed.h"

#ifdef PTE_PROT_NONE
#define MTR_PTE_NOT_VALID PTE_PROT_NONE
#define MTR_PTE_NOT_VALID_ONLY PTE_PROT_NONE	/* must not be in a valid entry */
#else
#define MTR_PTE_NOT_VALID PTE_PRESENT_INVALID
#define MTR_PTE_NOT_VALID_ONLY 0
#endif

static inline bool mtr_pte_protnone(pte_t p)
{
	return pte_protnone(p);
}

static inline bool mtr_pte_hidden(pte_t p)
{
	return pte_protnone(p) && !(pte_val(p) & PTE_PXN);
}

/* A visible user entry, hidden; whether it was accessed stays in it, for reclaim. */
static inline pte_t mtr_pte_hide(pte_t p)
{
	return __pte((pte_val(p) & ~(PTE_VALID | PTE_USER | PTE_PXN)) | MTR_PTE_NOT_VALID | PTE_UXN);
}

/* A hidden entry, visible; young if it is made so by an access, else as it was. */
static inline pte_t mtr_pte_show(const struct vm_area_struct *vma, pte_t p, bool young)
{
	const u64 mapping = pgprot_val(vma->vm_page_prot) & (PTE_USER | PTE_UXN);

	return __pte((pte_val(p) & ~(MTR_PTE_NOT_VALID_ONLY | PTE_UXN)) | PTE_VALID | PTE_PXN | mapping |
		     (young ? PTE_AF : 0));
}

/* Where the page of a visible entry begins. */
static inline u64 mtr_pte_phys(pte_t p)
{
	return (u64)pte_pfn(p) << PAGE_SHIFT;
}

/* Not used, see mtr_write_needs_no_copy(). */
static inline pte_t mtr_pte_written(pte_t p)
{
	return p;
}

static inline void mtr_set_pte(struct mm_struct *mm, unsigned long a, pte_t *ptep, pte_t p)
{
#ifdef MTR_HAS___SET_PTE
	__set_pte(ptep, p);
#else
	set_pte(ptep, p);
#endif
}

static inline bool mtr_pmd_protnone(pmd_t p)
{
	return pmd_protnone(p);
}

#endif
