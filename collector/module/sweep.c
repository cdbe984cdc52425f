// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * sweep.c - walks the page tables of traced address spaces.
 *
 * Own walk, because nothing suitable is exported in all kernels:
 * apply_to_existing_page_range and follow_pte are gone from new ones,
 * pte_offset_map_lock needs a function that is not exported.
 *
 * Why all present entries and not those of the last records: an entry becomes
 * visible without a fault of ours by fork, mremap, migration, fault-around,
 * swap-in of large folios; what nobody hides again is lost for the rest of
 * the run. An entry that is visible, young and not in the set of the recorded
 * pages was accessed: an inferred record.
 */
#include "memtrace.h"

#include <linux/hugetlb.h>
#include <linux/sched/mm.h>
#include <linux/timekeeping.h>

#include "compat/mm.h"
#include "compat/pte.h"
#include "compat/walk.h"
#include "compat/tlb.h"

/* What a step costs, in entries looked at: 10 ns each; another mapping is found in a tree, another table by its upper ones. */
#define VMA_COST 16u
#define TABLE_COST 4u
#define INFER_COST 8u

/* The page table lock is held. */
static void infer(struct mtr_sweep *w, struct vm_area_struct *vma, unsigned long a, pte_t p)
{
	struct mtr_access x = {
		.virt = a, .phys = mtr_pte_phys(p),
		.flags = MEMTRACE_RECORD_INFERRED,
	};
	enum mtr_added added;

	/* dirty says only that somebody has ever written */
	if (pte_dirty(p) && (vma->vm_flags & VM_WRITE))
		x.flags |= MEMTRACE_RECORD_DIRECTION;
	if (vma->vm_flags & VM_MAYSHARE)
		x.flags |= MEMTRACE_RECORD_SHARED;
	spin_lock(&w->im->lock);
	added = w->im->dead ? MTR_DROPPED : mtr_chunk_add(&w->im->chunk, &w->s->pool, w->label, &x);
	spin_unlock(&w->im->lock);
	if (added == MTR_DROPPED)
		w->dropped++;
	else
		w->inferred++;
	w->left -= min_t(unsigned int, w->left, INFER_COST);
}

static void sweep_table(struct mtr_sweep *w, struct vm_area_struct *vma, pmd_t *pmd,
			unsigned long a, unsigned long end)
{
	struct mm_struct *mm = w->im->mm;
	struct mtr_set_entry *e;
	spinlock_t *ptl;
	pte_t *ptep, p;

	rcu_read_lock();
	ptep = mtr_pte_lock(mm, pmd, a, &ptl);
	if (!ptep)
		goto out;
	for (; a < end; a += PAGE_SIZE, ptep++) {
		p = ptep_get(ptep);
		if (mtr_pte_hidden(p)) {	/* most of them: what was not touched since */
			if (w->mode == MTR_SHOW) {
				mtr_set_pte(mm, a, ptep, mtr_pte_show(vma, p, false));
				w->shown++;
			} else {
				w->seen++;
			}
			continue;
		}
		if (pte_none(p) || !pte_present(p) || w->mode == MTR_SHOW)
			continue;
		w->seen++;
		if (mtr_pte_protnone(p))	/* a hint of the kernel's */
			continue;
		if (w->mode == MTR_LOOK) {
			if (pte_young(p))
				infer(w, vma, a, p);
			continue;
		}
		e = NULL;
		if (w->mode != MTR_NEWBORN) {
			e = mtr_set_find(&w->s->set, a, w->im->note.image);
			if (w->mode == MTR_AGAIN && e && mtr_past_spares(&w->s->past, e)) {
				w->spared++;
				continue;
			}
		}
		p = ptep_get_and_clear(mm, a, ptep);
		if (w->mode != MTR_NEWBORN) {
			if (e) {
				if (w->s->frames)
					mtr_set_note_frame(e, mtr_pte_phys(p) >> PAGE_SHIFT);
			} else if (pte_young(p)) {
				infer(w, vma, a, p);
				e = mtr_set_add(&w->s->set, a, w->im->note.image);
				if (e)
					mtr_set_note_frame(e, mtr_pte_phys(p) >> PAGE_SHIFT);
				else
					mtr_count(w->s, SET_FULL);
			} else {
				w->aged++;	/* fork and mremap make such entries, and whoever clears accessed bits */
			}
		}
		mtr_set_pte(mm, a, ptep, mtr_pte_hide(p));
		w->hidden++;
	}
	spin_unlock(ptl);
out:
	rcu_read_unlock();
}

/* Counts a step; true: the piece ends, the next one begins at @next. */
static bool piece_ends(struct mtr_sweep *w, unsigned long cost, unsigned long next)
{
	w->left -= min_t(unsigned long, w->left, cost);
	/* somebody waits for the lock of the mappings: he comes first */
	if (w->left && !mmap_lock_is_contended(w->im->mm))
		return false;
	w->at = next;
	return true;
}

/* The entries of [a, end), which is in one table of PMDs, at @pmd. True: the piece ends. */
static bool sweep_pmds(struct mtr_sweep *w, struct vm_area_struct *vma, pmd_t *pmd, unsigned long a, unsigned long end)
{
	unsigned long next, cost;
	pmd_t v;

	for (; a < end; a = next, pmd++) {
		next = pmd_addr_end(a, end);
		v = READ_ONCE(*pmd);
		cost = 1;
		if (pmd_none(v)) {
			;
		} else if (mtr_pmd_huge(v) || mtr_pmd_protnone(v)) {
			/* hidden, one fault would stand for 512 pages */
			if (w->mode == MTR_HIDE || w->mode == MTR_AGAIN)
				mtr_count(w->s, HUGE_SKIPPED);
		} else {
			sweep_table(w, vma, pmd, a, next);
			cost = (next - a) >> PAGE_SHIFT;
		}
		if (piece_ends(w, cost, next))
			return true;
	}
	return false;
}

/* The entries of [a, end) of one mapping. True: the piece ends. */
static bool sweep_vma(struct mtr_sweep *w, struct vm_area_struct *vma, unsigned long a)
{
	const unsigned long end = vma->vm_end;
	unsigned long next;
	pmd_t *pmd;

	for (; a < end; a = next) {
		pmd = mtr_pmds_of(w->im->mm, a, end, &next);
		if ((pmd && sweep_pmds(w, vma, pmd, a, next)) || piece_ends(w, TABLE_COST, next))
			return true;
	}
	return false;
}

/* Memory of devices and of hugetlbfs; the kernel's own special mappings (vdso) have no file. */
static bool vma_unseen(const struct vm_area_struct *vma)
{
	return !mtr_vma_traced(vma) && ((vma->vm_flags & VM_HUGETLB) || vma->vm_file) && (vma->vm_flags & VM_ACCESS_FLAGS);
}

bool mtr_sweep_piece(struct mtr_sweep *w)
{
	struct mm_struct *mm = w->im->mm;
	struct vm_area_struct *vma;

	for (vma = find_vma(mm, w->at); vma; vma = find_vma(mm, vma->vm_end)) {
		if (!mtr_vma_traced(vma)) {
			/* told where it begins, once in a sweep */
			if ((w->mode == MTR_HIDE || w->mode == MTR_AGAIN) && vma_unseen(vma) && w->at <= vma->vm_start) {
				mtr_count(w->s, UNSEEN_REGION);
				mtr_count_n(w->s, UNSEEN_PAGES, vma_pages(vma));
			}
		} else if (w->mode == MTR_SHOW || !mtr_vma_skipped(w->s, vma)) {
			if (w->mode == MTR_SHOW)
				mtr_writes_quiet(vma);
			if (sweep_vma(w, vma, max(vma->vm_start, w->at)))
				return false;
		}
		if (piece_ends(w, VMA_COST, vma->vm_end))
			return false;
	}
	return true;
}

/* Once, at the end of the pieces. */
void mtr_sweep_counted(struct mtr_sweep *w)
{
	if (!w->s)
		return;
	mtr_count_n(w->s, INFERRED, w->inferred);
	mtr_count_n(w->s, DROPPED, w->dropped);
	mtr_count_n(w->s, RESTORED, w->shown);
	if (w->mode == MTR_HIDE || w->mode == MTR_AGAIN) {
		mtr_count_n(w->s, SWEPT, w->hidden);
		mtr_count_n(w->s, SEEN, w->seen);
		mtr_count_n(w->s, SPARED, w->spared);
		mtr_count_n(w->s, AGED, w->aged);
	} else if (w->mode == MTR_NEWBORN) {
		mtr_count_n(w->s, NEWBORN, w->hidden);
	}
}

#define PIECE_ENTRIES 8192u	/* 32 MiB; some 100 us */

/*
 * Mappings may change between the pieces. What moves from a part that is still to
 * come to one that is done stays visible for this time, as after an mremap() right
 * behind the sweep: the next one infers it. For MTR_HIDE also session->lock and a
 * TLB bracket, see hide().
 *
 * The address space is held for one piece at a time: a program that has ended must not be kept from
 * being written to (ETXTBSY), nor the file systems that it had mapped from being unmounted.
 */
void mtr_sweep_mm(struct mtr_sweep *w)
{
	struct mm_struct *mm = w->im->mm;
	bool done = false;

	while (!done && mmget_not_zero(mm)) {
		w->left = PIECE_ENTRIES;
		mmap_read_lock(mm);
		done = mtr_sweep_piece(w);
		mmap_read_unlock(mm);
		mtr_put_later(mm);
		cond_resched();
	}
	mtr_sweep_counted(w);
}

/*
 * An address space that just began to be traced: nothing in it may stay
 * visible. The three ways differ in what may be done meanwhile.
 */

/* Attach: it has been running, its entries are in TLBs. May sleep. */
void mtr_newborn(struct mtr_image *im)
{
	struct mtr_sweep w = { .s = im->s, .im = im, .mode = MTR_NEWBORN };
	u64 t0 = ktime_get_mono_fast_ns();

	inc_tlb_flush_pending(im->mm);
	mtr_sweep_mm(&w);
	mtr_flush_now(im->mm);
	dec_tlb_flush_pending(im->mm);
	atomic64_add(ktime_get_mono_fast_ns() - t0, &im->s->newborn_ns);
}

#define FORK_ENTRIES 16384u	/* 64 MiB, some 200 us with preemption off */

/*
 * Fork: a child that has not run; preemption is off. What does not fit is left
 * to the workqueue: mtr_late_work(). The child's entries are old, so whatever it
 * touches before is inferred then.
 */
void mtr_newborn_fork(struct mtr_image *im)
{
	struct mtr_sweep w = { .s = im->s, .im = im, .mode = MTR_NEWBORN, .left = FORK_ENTRIES };
	struct mm_struct *mm = im->mm;
	u64 t0 = ktime_get_mono_fast_ns();
	bool done = false;

	if (READ_ONCE(im->s->stopping)) {	/* copied hidden entries while we stop */
		mtr_show_later(mm);
		return;
	}
	if (mmap_read_trylock(mm)) {
		inc_tlb_flush_pending(mm);
		done = mtr_sweep_piece(&w);
		dec_tlb_flush_pending(mm);
		mmap_read_unlock(mm);
		mtr_sweep_counted(&w);
	}
	if (!done) {
		WRITE_ONCE(im->late, true);
		queue_work(mtr_workqueue, &im->s->late_work);
	}
	atomic64_add(ktime_get_mono_fast_ns() - t0, &im->s->newborn_ns);
}

/* Exec: the task's own new address space, the arguments and little else; preemption is off. */
void mtr_newborn_exec(struct mtr_image *im)
{
	struct mtr_sweep w = { .s = im->s, .im = im, .mode = MTR_NEWBORN, .left = 4 * FORK_ENTRIES };
	struct mm_struct *mm = im->mm;
	u64 t0 = ktime_get_mono_fast_ns();
	bool done = false;

	if (READ_ONCE(im->s->stopping))
		w.mode = MTR_SHOW;
	if (mmap_read_trylock(mm)) {
		inc_tlb_flush_pending(mm);
		done = mtr_sweep_piece(&w);
		if (w.mode == MTR_NEWBORN)
			mtr_flush_now(mm);
		dec_tlb_flush_pending(mm);
		mmap_read_unlock(mm);
		mtr_sweep_counted(&w);
	}
	if (!done) {
		WRITE_ONCE(im->late, true);
		queue_work(mtr_workqueue, &im->s->late_work);
	}
	atomic64_add(ktime_get_mono_fast_ns() - t0, &im->s->newborn_ns);
}

struct mtr_show {
	struct work_struct work;
	struct mm_struct *mm;		/* mmgrab()ed */
};

static void show_work(struct work_struct *work)
{
	struct mtr_show *show = container_of(work, struct mtr_show, work);
	struct mtr_image copy = { .mm = show->mm };
	struct mtr_sweep w = { .im = &copy, .mode = MTR_SHOW };

	mtr_sweep_mm(&w);
	mmdrop(show->mm);
	kfree(show);
}

/*
 * An address space that is not traced has copies of hidden entries: they are
 * shown. Any context; without memory the kernel heals them one by one, as NUMA hints.
 * Of no session, so that no session waits for it; the module does.
 */
void mtr_show_later(struct mm_struct *mm)
{
	struct mtr_show *show = kmalloc(sizeof(*show), GFP_ATOMIC);

	if (!show)
		return;
	INIT_WORK(&show->work, show_work);
	show->mm = mm;
	mmgrab(mm);
	queue_work(mtr_workqueue, &show->work);
}

struct mtr_put {
	struct work_struct work;
	struct mm_struct *mm;
};

static void put_work(struct work_struct *work)
{
	struct mtr_put *put = container_of(work, struct mtr_put, work);

	mmput(put->mm);
	kfree(put);
}

/*
 * Gives back what mmget_not_zero() took. The last user takes the address space down, which lasts: the
 * workqueue does it, so that the monitor and the other requests need not wait. (mmput_async() does the same and
 * is not exported by RHEL 8.) May sleep. The module stays until the workqueue is empty.
 */
void mtr_put_later(struct mm_struct *mm)
{
	struct mtr_put *put;

	if (atomic_add_unless(&mm->mm_users, -1, 1))
		return;
	put = kmalloc(sizeof(*put), GFP_KERNEL);
	if (!put) {
		mmput(mm);
		return;
	}
	INIT_WORK(&put->work, put_work);
	put->mm = mm;
	queue_work(mtr_workqueue, &put->work);
}

/* The frame + 1 behind an address, 0 when there is none. mmap_lock is held for reading. */
u64 mtr_frame_of(struct mm_struct *mm, u64 virt)
{
	struct vm_area_struct *vma = find_vma(mm, virt);
	spinlock_t *ptl;
	pte_t *ptep, p;
	u64 frame = 0;
	pmd_t *pmd;

	if (!vma || virt < vma->vm_start || !mtr_vma_traced(vma))
		return 0;
	rcu_read_lock();
	pmd = mtr_pmd_of(mm, virt);
	ptep = pmd ? mtr_pte_lock(mm, pmd, virt, &ptl) : NULL;
	if (ptep) {
		p = ptep_get(ptep);
		if (!pte_none(p) && pte_present(p))
			frame = (u64)pte_pfn(p) + 1;
		spin_unlock(ptl);
	}
	rcu_read_unlock();
	return frame;
}
