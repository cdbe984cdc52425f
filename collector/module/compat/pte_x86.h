/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/pte_x86.h - PRESENT and PROTNONE are exchanged, the frame bits
 * inverted as for every PROT_NONE entry (L1TF); all other bits stay, so that
 * the way back is exact. The mark is USER, which PAGE_NONE does not have. Not
 * used: pte_modify() (needs cc_mask, not exported), pte_mkwrite(pte, vma) (not
 * exported). Entries are read as they are, without the calls for Xen PV, where the
 * module is refused.
 */
#ifndef MEMTRACE_COMPAT_PTE_X86_H
#define MEMTRACE_COMPAT_PTE_X86_H

static inline bool mtr_pte_protnone(pte_t p)
{
	return (p.pte & (_PAGE_PROTNONE | _PAGE_PRESENT)) == _PAGE_PROTNONE;
}

static inline bool mtr_pte_hidden(pte_t p)
{
	return (p.pte & (_PAGE_PROTNONE | _PAGE_PRESENT | _PAGE_USER)) == (_PAGE_PROTNONE | _PAGE_USER);
}

/* A visible user entry, hidden; whether it was accessed stays in it, for reclaim. */
static inline pte_t mtr_pte_hide(pte_t p)
{
	const u64 v = p.pte;
	const u64 n = (v & ~(u64)_PAGE_PRESENT) | _PAGE_PROTNONE;

	return (pte_t){ .pte = flip_protnone_guard(v, n, PTE_PFN_MASK) };
}

/* A hidden entry, visible; young if it is made so by an access, else as it was. */
static inline pte_t mtr_pte_show(const struct vm_area_struct *vma, pte_t p, bool young)
{
	const u64 v = p.pte;
	const u64 n = (v & ~(u64)_PAGE_PROTNONE) | _PAGE_PRESENT | (young ? _PAGE_ACCESSED : 0);

	return (pte_t){ .pte = flip_protnone_guard(v, n, PTE_PFN_MASK) };
}

/* Where the page of a visible entry begins. */
static inline u64 mtr_pte_phys(pte_t p)
{
	return p.pte & PTE_PFN_MASK;
}

/* A visible entry after a write: as the kernel makes it when nothing has to be copied. */
static inline pte_t mtr_pte_written(pte_t p)
{
	u64 v = p.pte | _PAGE_RW | _PAGE_ACCESSED | _PAGE_DIRTY | _PAGE_SOFT_DIRTY;

#ifdef _PAGE_SAVED_DIRTY
	v &= ~(u64)_PAGE_SAVED_DIRTY;	/* for entries that may not be written (6.6) */
#endif
	return (pte_t){ .pte = v };
}

/* Each fault sets one. Written as it is, without the call for Xen PV, unless the kernel keeps books of what is mapped. */
static inline void mtr_set_pte(struct mm_struct *mm, unsigned long a, pte_t *ptep, pte_t p)
{
#ifdef CONFIG_PAGE_TABLE_CHECK
	set_pte_at(mm, a, ptep, p);
#else
	native_set_pte(ptep, p);
#endif
}

static inline bool mtr_pmd_protnone(pmd_t p)
{
	return (pmd_flags(p) & (_PAGE_PROTNONE | _PAGE_PRESENT)) == _PAGE_PROTNONE;
}

#endif
