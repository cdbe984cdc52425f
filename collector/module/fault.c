// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * fault.c - a probe on handle_mm_fault() sees every page fault of the machine.
 *
 * Context: process context, preemption off, in the middle of a fault: the VMA
 * is stable (mmap_lock or the lock of the VMA is held by our caller), nothing
 * may sleep. handle_mm_fault(vma, address, flags) has had these arguments for
 * longer than any kernel we build for; regs came as a fourth one in 5.9.
 */
#include "memtrace.h"

#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "compat/hook.h"
#include "compat/mm.h"
#include "compat/pte.h"
#include "compat/regs.h"
#include "compat/walk.h"

/*
 * May handle_mm_fault() be left out when nothing is left for it to do? Its caller has asked whether
 * the access is allowed, and releases the lock that it has taken; a fault of user mode has no
 * other state. Where the probe is one of ftrace, whose return address may be changed, and not on
 * architectures where this was not tried. mtr_sessions_lock.
 */
static bool may_skip;

/*
 * What kind of fault is it? Makes a hidden entry visible, so that
 * handle_pte_fault(), which runs next, finds nothing to do; left to
 * do_numa_page() it would migrate pages, whatever numa_balancing says.
 *
 * task->lock is held: record and repair are one critical section, so that the
 * monitor closes the interval either before both or after both. Preemption is off.
 *
 * @alone: with write tracking, a write to a page of this address space alone may be
 * made possible here, as the kernel would do it next.
 *
 * Returns MEMTRACE_RECORD_* flags; *phys stays as it is, 0, when the frame is not known
 * or may change (copy on write): the sweep fills it in. *done: the access will
 * succeed, nothing is left to do for the kernel.
 */
static __always_inline unsigned int repair(struct mtr_session *s, struct vm_area_struct *vma, unsigned long addr,
					   bool write, bool alone, u64 *phys, bool *done)
{
	const bool track = s->config.flags & MEMTRACE_CONFIG_WRITES;
	struct mm_struct *mm = vma->vm_mm;
	unsigned int fl = MEMTRACE_RECORD_REAL;
	spinlock_t *ptl;
	pte_t *ptep, p;
	pmd_t *pmd;

	if (unlikely(vma->vm_flags & VM_HUGETLB))	/* its tables are shared and freed under another lock */
		return MEMTRACE_RECORD_HUGE;
	pmd = mtr_pmd_of(mm, addr);
	if (unlikely(!pmd))
		return fl;
	ptep = mtr_pte_lock(mm, pmd, addr, &ptl);
	if (unlikely(!ptep))
		return mtr_pmd_huge(READ_ONCE(*pmd)) ? MEMTRACE_RECORD_HUGE : fl;
	p = ptep_get(ptep);
	if (likely(mtr_pte_hidden(p))) {	/* so it is present */
		p = mtr_pte_show(vma, p, true);
		fl = MEMTRACE_RECORD_HIDDEN;
		if (write && !pte_write(p)) {
			fl |= MEMTRACE_RECORD_WRITE_PROTECT;
			alone = alone && track && mtr_write_needs_no_copy(vma, p);
			if (alone)
				p = mtr_pte_written(p);
		} else if (!write && track) {
			p = pte_wrprotect(p);	/* the first write faults, too */
		}
		if (likely(mtr_vma_traced(vma))) {
			mtr_set_pte(mm, addr & PAGE_MASK, ptep, p);
			*done = !(fl & MEMTRACE_RECORD_WRITE_PROTECT) || alone;
		}
	} else if (pte_none(p) || !pte_present(p)) {
		goto unlock;
	} else if (mtr_pte_protnone(p)) {
		mtr_count(s, ALIEN);
		*phys = ((u64)pte_pfn(p) << PAGE_SHIFT) | (addr & ~PAGE_MASK);
		goto unlock;
	} else if (write && !pte_write(p)) {
		fl = MEMTRACE_RECORD_WRITE_PROTECT;
		if (alone && track && mtr_vma_traced(vma) && mtr_write_needs_no_copy(vma, p)) {
			mtr_set_pte(mm, addr & PAGE_MASK, ptep, mtr_pte_written(p));
			*done = true;
		}
	} else {
		fl = MEMTRACE_RECORD_SPURIOUS;
	}
	if (!(fl & MEMTRACE_RECORD_WRITE_PROTECT) || *done)
		*phys = mtr_pte_phys(p) | (addr & ~PAGE_MASK);
unlock:
	spin_unlock(ptl);
	return fl;
}

/*
 * A fault that is not of a traced task on its own memory, in an address space that may be a traced one. An entry
 * of ours is shown: the kernel must not take it for a NUMA hint, and move the page.
 *
 * @remote: somebody looks into the memory of another process (ptrace, process_vm_readv, a kernel thread that borrowed
 * it). It is no access of the program: the entry becomes old, so that the sweep does not infer one. Else a process that
 * shares the address space without being a thread of it: the sweep infers its access, of an unknown thread.
 */
static void not_ours(struct vm_area_struct *vma, unsigned long addr, bool remote)
{
	struct mtr_image *im;
	spinlock_t *ptl;
	pte_t *ptep, p;
	pmd_t *pmd;

	rcu_read_lock();
	im = mtr_find_image(vma->vm_mm);
	if (!im)
		goto out;
	if (remote)
		mtr_count(im->s, REMOTE);
	else
		mtr_count(im->s, STRANGER);
	if (!mtr_vma_traced(vma))
		goto out;
	pmd = mtr_pmd_of(vma->vm_mm, addr);
	if (!pmd)
		goto out;
	ptep = mtr_pte_lock(vma->vm_mm, pmd, addr, &ptl);
	if (!ptep)
		goto out;
	p = ptep_get(ptep);
	if (mtr_pte_hidden(p)) {
		p = mtr_pte_show(vma, p, !remote);
		mtr_set_pte(vma->vm_mm, addr & PAGE_MASK, ptep, remote ? pte_mkold(p) : p);
		if (remote)
			mtr_count(im->s, REMOTE_SHOWN);
	}
	spin_unlock(ptl);
out:
	rcu_read_unlock();
}

static struct task_struct *expected;	/* whose next fault the probe shall see; sessions_lock */

/* How a fault is counted: by one of the kinds that repair() tells. */
static __always_inline void count_kind(struct mtr_session *s, unsigned int fl)
{
	if (likely(fl & MEMTRACE_RECORD_HIDDEN))
		mtr_count(s, HIDDEN);
	else if (fl & MEMTRACE_RECORD_REAL)
		mtr_count(s, REAL);
	else if (fl & MEMTRACE_RECORD_WRITE_PROTECT)
		mtr_count(s, WRITE_PROTECT);
	else if (fl & MEMTRACE_RECORD_SPURIOUS)
		mtr_count(s, SPURIOUS);
	else if (fl & MEMTRACE_RECORD_HUGE)
		mtr_count(s, HUGE);
}

/* True: a fault of user mode that needs nothing more. Inline: each call of it is one of each fault. */
static __always_inline bool fault(struct vm_area_struct *vma, unsigned long addr, unsigned int flags)
{
	struct mtr_access a = { .virt = addr, .write = flags & FAULT_FLAG_WRITE,
			       .again = flags & FAULT_FLAG_TRIED };
	struct mtr_session *s;
	struct mtr_task *t;
	bool done = false;
	unsigned int fl;

	if (unlikely(READ_ONCE(expected) == current))
		WRITE_ONCE(expected, NULL);
	if (unlikely(vma->vm_mm != current->mm || (flags & FAULT_FLAG_REMOTE) || (current->flags & PF_KTHREAD))) {
		not_ours(vma, addr, true);
		return false;
	}
	t = mtr_find_task(current);
	if (likely(!t) || READ_ONCE(t->ignored)) {
		not_ours(vma, addr, false);
		return false;
	}
	s = t->s;
	if (mtr_vma_skipped(s, vma))
		return false;
	if (unlikely(t->mm != current->mm)) {
		/* in the middle of exec: the new image begins with what exec itself does */
		if (!s->privileged || t->vforked)
			return false;	/* not before we know whose program it is */
		mtr_task_moved(t);
	}
	if (t->waiting)
		return false;
	if (unlikely(!mtr_fault_vma_lock(flags)))
		mtr_count(s, FAULTS);	/* see mtr_counter() */
	a.cpu = smp_processor_id();
	/* where the task left user mode: by this fault, or by the system call in which it faults */
	a.ip = instruction_pointer(task_pt_regs(current));

	spin_lock(&t->lock);
	fl = repair(s, vma, addr, a.write, may_skip && (flags & FAULT_FLAG_USER), &a.phys, &done);
	count_kind(s, fl);
	if (!(flags & FAULT_FLAG_USER)) {
		fl |= MEMTRACE_RECORD_KERNEL;
		mtr_count(s, KERNEL);
	}
	if (flags & FAULT_FLAG_INSTRUCTION)
		fl |= MEMTRACE_RECORD_EXEC;
	if (vma->vm_flags & VM_MAYSHARE)
		fl |= MEMTRACE_RECORD_SHARED;
	if ((fl & MEMTRACE_RECORD_REAL) && !a.write && (s->config.flags & MEMTRACE_CONFIG_WRITES) && mtr_vma_traced(vma))
		mtr_writes_fault(vma);
	a.flags = fl;
	switch (mtr_chunk_add_here(&t->chunk, &s->pool, mtr_label(s), &a)) {
	case MTR_NEW:
		mtr_count(s, RECORDS);
		break;
	case MTR_MERGED:
		mtr_count(s, MERGED);
		break;
	case MTR_DROPPED:
		mtr_count(s, DROPPED);
		break;
	}
	spin_unlock(&t->lock);
	return done && (flags & FAULT_FLAG_USER);
}

static __always_inline int take_fault(struct pt_regs *regs)
{
	if (!fault((struct vm_area_struct *)regs_get_kernel_argument(regs, 0), regs_get_kernel_argument(regs, 1),
		   regs_get_kernel_argument(regs, 2)) || !may_skip)
		return 0;
	/*
	 * Go on in a function of the kernel that returns 0 and does nothing else, as if it had been called.
	 * Not in one of ours: the module could be unloaded while a task that was preempted there sleeps.
	 */
	current->min_flt++;
	instruction_pointer_set(regs, (unsigned long)noop_fsync);
	return 1;
}

static int on_fault(struct kprobe *unused, struct pt_regs *regs)
{
	return take_fault(regs);
}
NOKPROBE_SYMBOL(on_fault);

/*
 * exit_mmap(mm): the last user of an address space is gone, its page tables
 * are still there. Pages that became visible without a fault since the last
 * interval are inferred now or never. Process or workqueue context, preemption
 * off by the probe; nobody else uses the mm, so mmap_lock is free.
 */
#define EXIT_ENTRIES 32768u	/* 128 MiB, at most 400 us with preemption off; of the rest nothing is known */

static int on_exit_mmap(struct kprobe *unused, struct pt_regs *regs)
{
	struct mm_struct *mm = (struct mm_struct *)regs_get_kernel_argument(regs, 0);
	struct mtr_sweep w = { .mode = MTR_LOOK, .left = EXIT_ENTRIES };
	struct mtr_image *im;
	unsigned long rss;

	rcu_read_lock();
	im = mtr_find_image(mm);
	if (!im || READ_ONCE(im->s->stopping))
		goto out;
	rss = get_mm_rss(mm);
	if (mmap_read_trylock(mm)) {
		w.s = im->s;
		w.im = im;
		w.label = mtr_label(im->s);
		if (mtr_sweep_piece(&w))
			rss = w.seen;
		mtr_sweep_counted(&w);
		mmap_read_unlock(mm);
		mtr_count(im->s, EXIT_SWEPT);
	}
	if (rss > w.seen)
		mtr_count_n(im->s, AGED, rss - w.seen);
	WRITE_ONCE(im->exit_swept, true);
out:
	rcu_read_unlock();
	return 0;
}
NOKPROBE_SYMBOL(on_exit_mmap);

/*
 * filemap_map_pages(vmf, first, last): a read fault of a file maps up to 16
 * pages around it, and marks them accessed (x86). Each page shall fault for
 * itself: the range becomes the one page. For traced tasks only.
 */
static int on_map_pages(struct kprobe *unused, struct pt_regs *regs)
{
	struct vm_fault *vmf = (struct vm_fault *)regs_get_kernel_argument(regs, 0);
	struct mtr_task *t;

	if (vmf->vma->vm_mm != current->mm)
		return 0;
	rcu_read_lock();
	t = mtr_find_task(current);
	if (t && !t->waiting && !READ_ONCE(t->ignored) && !READ_ONCE(t->s->stopping) &&
	    !(t->s->config.flags & MEMTRACE_CONFIG_AROUND)) {
		mtr_around_address(vmf, (pgoff_t)regs_get_kernel_argument(regs, 1));
		mtr_set_argument(regs, 1, vmf->pgoff);
		mtr_set_argument(regs, 2, vmf->pgoff);
	}
	rcu_read_unlock();
	return 0;
}
NOKPROBE_SYMBOL(on_map_pages);

/*
 * __get_user_pages(mm, start, nr_pages, gup_flags, ...): the kernel takes pages
 * to read or write them itself (O_DIRECT, vmsplice, registered buffers of
 * io_uring). A hidden page shall fault, see MTR_GUP_FAULTS. For traced tasks only.
 */
static int on_gup(struct kprobe *unused, struct pt_regs *regs)
{
	struct mtr_task *t;

	if ((struct mm_struct *)regs_get_kernel_argument(regs, 0) != current->mm)
		return 0;
	rcu_read_lock();
	t = mtr_find_task(current);
	if (t && !t->waiting && !READ_ONCE(t->ignored) && !READ_ONCE(t->s->stopping))
		mtr_set_argument(regs, MTR_GUP_FLAGS_ARGUMENT,
				 regs_get_kernel_argument(regs, MTR_GUP_FLAGS_ARGUMENT) | MTR_GUP_FAULTS);
	rcu_read_unlock();
	return 0;
}
NOKPROBE_SYMBOL(on_gup);

static struct mtr_hook hooks[] = {
	{ .symbol = "handle_mm_fault", .handler = on_fault, .wanted = true },
	{ .symbol = "exit_mmap", .handler = on_exit_mmap, .wanted = true,
	  .without = "pages that become visible without a fault just before the end of a process are not seen" },
	{ .symbol = "filemap_map_pages", .handler = on_map_pages, .wanted = MTR_AROUND_CAN,
	  .without = "up to 15 pages around a read fault of a file count as accessed" },
	{ .symbol = "__get_user_pages", .handler = on_gup, .wanted = MTR_GUP_FAULTS != 0,
	  .without = MTR_GUP_FAULTS ? "pages that the kernel takes from a program (O_DIRECT) are not seen" : "" },
};

#ifdef MTR_HOOK_FTRACE
static struct ftrace_ops ops;
static bool traced;			/* by ops; sessions_lock */

static void notrace by_ftrace(unsigned long ip, unsigned long parent, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = mtr_hook_regs(fregs);
	unsigned int i;

	preempt_disable_notrace();
	if (likely(ip == READ_ONCE(hooks[0].ip))) {
		take_fault(regs);
	} else {
		for (i = 1; i < ARRAY_SIZE(hooks); i++)
			if (ip == READ_ONCE(hooks[i].ip))
				hooks[i].handler(NULL, regs);
	}
	preempt_enable_notrace();
}
#endif

/* mtr_sessions_lock. */
int mtr_probes_on(void)
{
	unsigned int i;
	int err;

	err = mtr_hooks_register(hooks, ARRAY_SIZE(hooks));
	if (!err) {
#ifdef MTR_HOOK_FTRACE
		traced = mtr_hooks_by_ftrace(hooks, ARRAY_SIZE(hooks), &ops, by_ftrace);
#endif
		may_skip = MTR_FAULT_SKIPS && IS_ENABLED(CONFIG_X86_64) && (hooks[0].probe.flags & KPROBE_FLAG_FTRACE);
		err = mtr_hooks_enable(hooks, ARRAY_SIZE(hooks));
		if (err)
			mtr_probes_off();
	}
	if (err) {
		pr_err("no probe on %s: error %d%s\n", hooks[0].symbol, err, err == -EPERM ? " (kernel lockdown?)" : "");
		return err;
	}
	for (i = 1; i < ARRAY_SIZE(hooks); i++)
		if (!hooks[i].registered && *hooks[i].without)
			pr_info("no probe on %s: %s\n", hooks[i].symbol, hooks[i].without);
	return 0;
}

/* mtr_sessions_lock. No handler runs when it returns. */
void mtr_probes_off(void)
{
#ifdef MTR_HOOK_FTRACE
	if (traced) {
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
		traced = false;
	}
#endif
	mtr_hooks_unregister(hooks, ARRAY_SIZE(hooks));
}

/*
 * A probe that is registered can be switched off for all (kernel.ftrace_enabled, kprobes/enabled): makes one fault of
 * the caller's own, and says whether the probe has seen it. sessions_lock; sleeps; the caller has a memory of its own.
 */
bool mtr_probes_see(void)
{
	const unsigned long a = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	bool seen = true;

	if (IS_ERR_VALUE(a))
		return true;	/* nothing can be said */
	WRITE_ONCE(expected, current);
	if (!put_user((char)1, (char __user *)a))
		seen = !READ_ONCE(expected);
	WRITE_ONCE(expected, NULL);
	vm_munmap(a, PAGE_SIZE);
	return seen;
}

u64 mtr_probes_missed(void)
{
	return hooks[0].probe.nmissed;
}
