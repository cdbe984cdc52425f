/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/pte.h - how a page is hidden, per architecture.
 *
 * A hidden entry is a PROT_NONE entry for the whole kernel (present, frame
 * known, no access) and differs from the kernel's own ones (NUMA hints,
 * mprotect(PROT_NONE)) by one mark; those are left alone. A port defines
 *
 *	mtr_pte_protnone(pte)		present without access, ours or not
 *	mtr_pte_hidden(pte)		ours
 *	mtr_pte_hide(pte)		hidden, all else as it was
 *	mtr_pte_show(vma, pte, young)	the way back, exact; or young
 *	mtr_pte_phys(pte)		the physical address of a visible one's page
 *	mtr_pte_written(pte)		visible, after a write that needs no copy
 *	mtr_set_pte(mm, address, ptep, pte)	page table lock held; the entry
 *					is not valid for the hardware
 *	mtr_pmd_protnone(pmd)
 */
#ifndef MEMTRACE_COMPAT_PTE_H
#define MEMTRACE_COMPAT_PTE_H

#include "mm.h"

#if defined(CONFIG_X86_64)
#include "pte_x86.h"
#elif defined(CONFIG_ARM64)
#include "pte_arm64.h"
#else
#error "memtrace: no encoding of hidden entries for this architecture"
#endif

#endif
