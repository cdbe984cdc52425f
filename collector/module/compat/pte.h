/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat/pte.h - how a page is hidden, per architecture.
 *
 * A hidden entry is a PROT_NONE entry for the whole kernel (present, frame
 * known, no access) and differs from the kernel's own ones by one mark.
 *
 * x86-64: PRESENT and PROTNONE are exchanged, the frame bits inverted as for
 * every PROT_NONE entry (L1TF); all other bits stay, so that the way back is
 * exact and every pte_wrprotect() of the kernel acts on a hidden entry, too.
 * PAGE_NONE has no USER bit: an entry that has it is ours, one without is a
 * NUMA hint or mprotect(PROT_NONE) and is left alone. Not used: pte_modify()
 * (needs cc_mask, not exported), pte_mkwrite(pte, vma) (not exported).
 *
 * A port defines the same functions with a mark of its own.
 */
#ifndef MEMTRACE_COMPAT_PTE_H
#define MEMTRACE_COMPAT_PTE_H

#include <linux/mm.h>
#include <linux/pgtable.h>

#ifndef CONFIG_X86_64
#error "memtrace: no encoding of hidden entries for this architecture"
#endif

static inline bool mtr_pte_protnone(pte_t p)
{
	return (pte_flags(p) & (_PAGE_PROTNONE | _PAGE_PRESENT)) == _PAGE_PROTNONE;
}

static inline bool mtr_pte_hidden(pte_t p)
{
	return mtr_pte_protnone(p) && (pte_flags(p) & _PAGE_USER);
}

/* A visible user entry, hidden and old. */
static inline pte_t mtr_pte_hide(pte_t p)
{
	const u64 v = pte_val(p);
	const u64 n = (v & ~(u64)(_PAGE_PRESENT | _PAGE_ACCESSED)) | _PAGE_PROTNONE;

	return __pte(flip_protnone_guard(v, n, PTE_PFN_MASK));
}

/* A hidden entry, visible; young if it is made so by an access. */
static inline pte_t mtr_pte_show(pte_t p, bool young)
{
	const u64 v = pte_val(p);
	const u64 n = (v & ~(u64)_PAGE_PROTNONE) | _PAGE_PRESENT | (young ? _PAGE_ACCESSED : 0);

	return __pte(flip_protnone_guard(v, n, PTE_PFN_MASK));
}

static inline bool mtr_pmd_protnone(pmd_t p)
{
	return (pmd_flags(p) & (_PAGE_PROTNONE | _PAGE_PRESENT)) == _PAGE_PROTNONE;
}

#endif
