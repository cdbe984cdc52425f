/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/* compat/mm.h - differences of memory management between RHEL 8 (4.18), 5.10 and the newest kernel; probed.h says what there is. */
#ifndef MEMTRACE_COMPAT_MM_H
#define MEMTRACE_COMPAT_MM_H

#include <linux/backing-dev-defs.h>
#include <linux/backing-dev.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/userfaultfd_k.h>

#include "probed.h"

/*
 * The lock of the mappings has functions of its own since 5.8, where it was renamed, and one that
 * asks for waiting tasks since 5.11. RHEL 8.3 has the functions with the old name.
 */
#ifdef MTR_HAS_MMAP_LOCK
#include <linux/mmap_lock.h>
#else
static inline void mmap_read_lock(struct mm_struct *mm)
{
	down_read(&mm->mmap_sem);
}

static inline bool mmap_read_trylock(struct mm_struct *mm)
{
	return down_read_trylock(&mm->mmap_sem);
}

static inline void mmap_read_unlock(struct mm_struct *mm)
{
	up_read(&mm->mmap_sem);
}
#endif
#ifndef MTR_HAS_MMAP_CONTENDED
#ifdef MTR_HAS_MMAP_LOCK_FIELD
#define mmap_lock_is_contended(mm) rwsem_is_contended(&(mm)->mmap_lock)
#else
#define mmap_lock_is_contended(mm) rwsem_is_contended(&(mm)->mmap_sem)
#endif
#endif

/* Entries of page tables: names of 5.8 and 5.5. */
#ifndef MTR_HAS_PTEP_GET
#define ptep_get(p) READ_ONCE(*(p))
#endif
#ifndef MTR_HAS_LEAF
#define pmd_leaf(v) pmd_large(v)
#define pud_leaf(v) pud_large(v)
#endif

/* The next table by a word that was read already, as get_user_pages_fast() has it (5.10). */
#ifndef p4d_offset_lockless
#define p4d_offset_lockless(pgdp, pgd, a) p4d_offset(&(pgd), a)
#endif
#ifndef pud_offset_lockless
#define pud_offset_lockless(p4dp, p4d, a) pud_offset(&(p4d), a)
#endif
#ifndef pmd_offset_lockless
#define pmd_offset_lockless(pudp, pud, a) pmd_offset(&(pud), a)
#endif

/*
 * May a probe leave handle_mm_fault() out? Where it is told the registers it counts the faults of
 * the task by itself, and the handler of a probe returns with preemption as it was (4.19). Before,
 * its caller counts, and a handler that changes the way must undo what the probe has set up. The two
 * changes came together to RHEL 8.8; 8.6 and 8.7, which have the second one only, are left out.
 */
#ifdef MTR_HAS_FAULT_REGS
#define MTR_FAULT_SKIPS 1
#else
#define MTR_FAULT_SKIPS 0
#endif

/*
 * Huge pages of one address space, off and on again. The flag is inherited by
 * fork and exec. mm->flags became a bitmap with functions of its own in 6.18,
 * where the flag got a new name as well. Any context.
 */
#ifdef MTR_HAS_MM_FLAGS
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
#ifdef MTR_HAS_VMA_LOCK
	return flags & FAULT_FLAG_VMA_LOCK;
#else
	return false;
#endif
}

#ifndef VM_ACCESS_FLAGS		/* 5.8 */
#define VM_ACCESS_FLAGS (VM_READ | VM_WRITE | VM_EXEC)
#endif
#ifndef VM_SHADOW_STACK		/* 6.6 */
#define VM_SHADOW_STACK VM_NONE
#endif

#ifndef MTR_HAS_USERFAULTFD_WP	/* 5.7 */
#define userfaultfd_wp(vma) false
#endif

/*
 * Needs a write to the page of that visible entry nothing but the permission? An anonymous page of this address
 * space alone: do_wp_page() asks the same. The page table lock is held. Before 5.19, and on architectures where
 * handle_mm_fault() is not left out, the kernel decides.
 */
static inline bool mtr_write_needs_no_copy(struct vm_area_struct *vma, pte_t p)
{
#if defined(CONFIG_X86_64) && defined(MTR_HAS_ANON_EXCLUSIVE)
	struct page *page;

	if ((vma->vm_flags & (VM_WRITE | VM_SHARED | VM_MAYSHARE)) != VM_WRITE || userfaultfd_wp(vma) || pte_special(p) ||
	    !pfn_valid(pte_pfn(p)))
		return false;
	page = pfn_to_page(pte_pfn(p));
	return PageAnon(page) && PageAnonExclusive(page);
#else
	return false;
#endif
}

/*
 * The permissions of new entries of a shared writable mapping. Of a memory file
 * system they have write permission from the first read on; without it the first
 * write faults, as in mappings of file systems that want to know (page_mkwrite).
 * The kernel resolves that fault for every shared mapping. It sets the permissions
 * anew with mmap_lock and the lock of the VMA held for writing (mprotect); one of
 * them is held for reading here, and the word is written at once.
 */
#ifdef CONFIG_X86_64
#define MTR_PROT_WRITE _PAGE_RW
#else
#define MTR_PROT_WRITE PTE_WRITE
#endif

static inline void mtr_writes_fault(struct vm_area_struct *vma)
{
	const unsigned long both = VM_SHARED | VM_WRITE;
	pgprot_t quiet;

	if ((vma->vm_flags & both) != both || !(pgprot_val(vma->vm_page_prot) & MTR_PROT_WRITE))
		return;
	quiet = vm_get_page_prot(vma->vm_flags & ~VM_SHARED);
	/* only what it would be without our doing: no memory type of a driver */
	if (pgprot_val(vma->vm_page_prot) == pgprot_val(vm_get_page_prot(vma->vm_flags)))
		WRITE_ONCE(pgprot_val(vma->vm_page_prot), pgprot_val(quiet));
}

/* Does a file system write back, so that it wants to know of the first write? */
static inline bool mtr_accounts_dirty(const struct backing_dev_info *bdi)
{
#ifdef MTR_HAS_BDI_WRITEBACK
	return bdi->capabilities & BDI_CAP_WRITEBACK;
#else
	return !(bdi->capabilities & BDI_CAP_NO_ACCT_DIRTY);	/* before 5.10 */
#endif
}

/* The way back. The same question as vma_wants_writenotify(), which is not exported. */
static inline void mtr_writes_quiet(struct vm_area_struct *vma)
{
	const unsigned long both = VM_SHARED | VM_WRITE;
	struct inode *inode = vma->vm_file ? file_inode(vma->vm_file) : NULL;

	if ((vma->vm_flags & both) != both || !inode || (vma->vm_ops && (vma->vm_ops->page_mkwrite || vma->vm_ops->pfn_mkwrite)) ||
	    S_ISBLK(inode->i_mode) || mtr_accounts_dirty(inode->i_sb->s_bdi) || userfaultfd_wp(vma) ||
	    (IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) && !(vma->vm_flags & VM_SOFTDIRTY)))
		return;
	if (pgprot_val(vma->vm_page_prot) == pgprot_val(vm_get_page_prot(vma->vm_flags & ~VM_SHARED)))
		WRITE_ONCE(pgprot_val(vma->vm_page_prot), pgprot_val(vm_get_page_prot(vma->vm_flags)));
}

/*
 * Since 6.6 get_user_pages() takes a PROT_NONE entry for accessible unless it
 * is told to honour NUMA hints; then it faults, as it always did before.
 * __get_user_pages(mm, start, nr_pages, gup_flags, pages, locked)
 */
#ifdef MTR_HAS_HONOR_NUMA_FAULT
#define MTR_GUP_FLAGS_ARGUMENT 3
#define MTR_GUP_FAULTS FOLL_HONOR_NUMA_FAULT
#else
#define MTR_GUP_FLAGS_ARGUMENT 3
#define MTR_GUP_FAULTS 0u
#endif

/*
 * filemap_map_pages(vmf, first, last) shall map the page of the fault alone.
 * Before 5.12 `first` is the page at vmf->address, so that one goes with it.
 */
#if defined(MTR_AROUND_PAIRED) || defined(MTR_AROUND_FREE)
#define MTR_AROUND_CAN 1
#else
#define MTR_AROUND_CAN 0	/* other arguments: left alone */
#endif

static inline void mtr_around_address(struct vm_fault *vmf, pgoff_t first)
{
#ifdef MTR_AROUND_PAIRED
	vmf->address += (vmf->pgoff - first) << PAGE_SHIFT;
#endif
}

/* Flags of clone() as the tracepoint task_newtask has them. */
#ifdef MTR_NEWTASK_U64
typedef u64 mtr_clone_flags;
#else
typedef unsigned long mtr_clone_flags;
#endif

/* pmd_leaf() is there since 5.x; huge pages only */
static inline bool mtr_pmd_huge(pmd_t v)
{
	return pmd_present(v) && (pmd_leaf(v) || pmd_trans_huge(v));
}

#endif
