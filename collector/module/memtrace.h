/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * memtrace.h - what the files of the module share.
 *
 *	main.c     device, session, requests, reading, loading
 *	access.c   whose processes a session may trace
 *	monitor.c  the thread that ends intervals
 *	task.c     which tasks and address spaces are traced; fork, exec
 *	fault.c    the probe: repair and record
 *	sweep.c    page tables: hide, infer, show
 *	core.c     blocks, set, interval rule; no kernel types
 *
 * Lock order, outermost first:
 *	session->lock (mutex)  requests, end of an interval
 *	mmap_lock
 *	mtr_reg_lock            lists and hashes of tasks and images (change)
 *	task->lock             chunk of a task; with it the repair, see fault.c
 *	page table lock
 *	image->lock            chunk of the inferred accesses
 *	pool.lock, done_lock   innermost
 * Lookups of tasks and images are under RCU. The lists session->tasks and
 * ->images get entries from any context (mtr_reg_lock, tail, RCU); only the
 * holder of session->lock removes, so it walks them without another lock.
 */
#ifndef MEMTRACE_H
#define MEMTRACE_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core.h"
#include "compat/mm.h"

struct mtr_session {
	struct mutex lock;		/* requests, ends of intervals */
	struct memtrace_config config;
	bool configured;
	bool stopping;			/* new address spaces are not hidden any more */
	bool stopped;
	bool closed;			/* no task and no image is added any more; mtr_reg_lock */
	bool privileged;		/* opener may trace everybody's processes */
	bool physical;			/* opener may see physical addresses */
	struct cred *cred;		/* of the opener, see access.c */
	struct pid_namespace *pid_ns;
	u64 quota;			/* bytes that count for the user */
	atomic_long_t reserve;		/* bytes that are left for what grows with the program, see mtr_reserve() */

	struct mtr_block *blocks;
	void *data;
	struct mtr_pool pool;
	struct mtr_set set;		/* session->lock */
	bool frames;			/* sweeps note the frames of recorded pages, since some record has none; session->lock */
	struct mtr_past past;		/* session->lock; e: NULL unless it is asked for */
	struct mtr_rule rule;		/* session->lock */
	u64 number;			/* twice the number of the running interval, see monitor.c; session->lock changes it */
	u64 *page;			/* word 0: a copy of it for user space, which maps it; never read here */
	u64 start_ns;			/* of the running interval */

	struct list_head tasks, images;
	u32 next_image;			/* mtr_reg_lock */
	atomic_t ntasks, nimages;

	spinlock_t done_lock;		/* what is to be read */
	struct mtr_fifo done;		/* to be read; first == 0: a note, not of the pool */
	u32 notes;
	wait_queue_head_t wait;
	struct mutex read_lock;		/* one reader at a time */
	struct task_struct *reader;	/* who read last, referenced; done_lock */
	u64 reader_cpu_ns;		/* of it, counted so far; done_lock */
	atomic64_t late_ns;		/* sweeps after forks, for the next interval */

	struct task_struct *monitor;	/* referenced; session->lock */
	u64 monitor_cpu_ns, program_cpu_ns;	/* at the end of the last interval */
	u64 at[MEMTRACE_C_N];		/* counters then */
	u64 resident;
	u32 followed;			/* address spaces that devices or virtual machines follow */
	u64 intervals, late, close_ns, sweep_ns, flush_ns, longest_ns;
	atomic64_t newborn_ns;
	u64 __percpu *counter;
	struct list_head of_users;	/* of unprivileged_sessions, main.c */
	struct work_struct end_work;	/* ends it, when its user may record no more */
	struct work_struct late_work;	/* images that a fork has swept in part, tasks that have ended */
	atomic_t newborns;		/* tasks since tasks that have ended were looked for */
	struct mtr_fifo orphans;	/* blocks of tasks that were reaped within the interval; session->lock */
	u64 reaped_cpu_ns;		/* CPU time of them in the interval; session->lock */
	cpumask_var_t flush_cpus;	/* session->lock */
	u64 closed_ns;			/* when the last sweep had made everything hidden, flush included */
};

struct mtr_task {
	struct hlist_node hash;
	struct list_head list;
	struct rcu_head rcu;
	struct task_struct *task;	/* referenced */
	struct mtr_session *s;
	struct mm_struct *mm;		/* of its image; compared only; t->lock */
	bool waiting;			/* for exec */
	bool ignored;			/* left alone: a privileged program, or one that is not followed */
	bool fresh;			/* of an attach that has not succeeded yet; mtr_reg_lock */
	bool vforked;			/* shares the memory of its parent until its exec, and is not followed */
	bool huge_were_off;		/* huge pages of its address space were off before we came */
	spinlock_t lock;		/* its chunk, and the repair of a page */
	struct mtr_chunk chunk;
	u64 cpu_ns;
	u8 calm;			/* intervals in a row for which its hash was far too large */
};

struct mtr_image {
	struct hlist_node hash;
	struct list_head list;
	struct rcu_head rcu;
	struct mm_struct *mm;		/* mmgrab()ed */
	struct mtr_session *s;
	struct memtrace_image note;
	bool announced;
	bool swept;			/* by the current pass of the monitor; it may have ended since */
	bool exit_swept;
	bool dead;			/* no records any more; im->lock */
	bool huge_were_off;		/* huge pages were off before we came */
	u8 waited;			/* intervals since its last user went */
	bool late;			/* not yet all hidden: written by the fork, cleared by a sweep */
	bool followed;			/* others follow its page tables, see hide(); session->lock */
	spinlock_t lock;		/* its chunk */
	struct mtr_chunk chunk;		/* inferred accesses */
};

#define mtr_count(s, c) this_cpu_inc((s)->counter[MEMTRACE_C_##c])
#define mtr_count_n(s, c, n) this_cpu_add((s)->counter[MEMTRACE_C_##c], n)
/* ---- session.c */
extern struct workqueue_struct *mtr_workqueue;
u64 mtr_counter(const struct mtr_session *s, unsigned int c);
bool mtr_reserve(struct mtr_session *s, size_t bytes);
void mtr_unreserve(struct mtr_session *s, size_t bytes);

/* CPU time of a task that may run, as old as its last tick: the scheduler goes on writing it. */
static inline u64 mtr_cpu_ns(const struct task_struct *k)
{
	return READ_ONCE(k->se.sum_exec_runtime);
}

/* Number of the interval that an event of a task belongs to. */
static inline u64 mtr_label(const struct mtr_session *s)
{
	return (READ_ONCE(s->number) + 1) / 2;
}

/* ---- access.c */
struct linux_binprm;
struct cred *mtr_access_cred(bool privileged);
/* The address space of a process that the session may trace, to be put, or an error. May sleep. */
struct mm_struct *mtr_access_mm(const struct mtr_session *s, struct task_struct *k, pid_t nr);
/* The same question for the program that current has just begun. Any context. */
bool mtr_access_exec(const struct mtr_session *s, const struct linux_binprm *bprm);

/* ---- task.c */
extern spinlock_t mtr_reg_lock;
#define MTR_TASKS_BITS 12
extern struct hlist_head mtr_tasks[1 << MTR_TASKS_BITS];

/* RCU. Inline: each fault of the machine asks. */
static __always_inline struct mtr_task *mtr_find_task(const struct task_struct *k)
{
	struct mtr_task *t;

	hash_for_each_possible_rcu(mtr_tasks, t, hash, (unsigned long)k)
		if (t->task == k)
			return t;
	return NULL;
}

struct mtr_image *mtr_find_image(const struct mm_struct *mm);	/* RCU */
int mtr_attach(struct mtr_session *s, const struct memtrace_attach *a);
void mtr_task_moved(struct mtr_task *t);
void mtr_task_free(struct mtr_task *t);
void mtr_image_free(struct mtr_image *im);
void mtr_unregister_all(struct mtr_session *s);
int mtr_tasks_init(void);
int mtr_tracepoints_on(void);
void mtr_tracepoints_off(void);

/* ---- fault.c */
int mtr_probes_on(void);
void mtr_probes_off(void);
bool mtr_probes_see(void);
u64 mtr_probes_missed(void);

/* ---- sweep.c */
enum mtr_sweep_mode {
	MTR_HIDE,	/* hide; what is young and not in the set is inferred */
	MTR_AGAIN,	/* the same in a subphase: pages may be spared, see mtr_past_spares() */
	MTR_NEWBORN,	/* hide, infer nothing */
	MTR_LOOK,	/* infer, change nothing */
	MTR_SHOW,	/* make visible */
};

struct mtr_sweep {
	struct mtr_session *s;
	struct mtr_image *im;
	enum mtr_sweep_mode mode;
	u64 label;			/* of inferred accesses */
	unsigned long at;		/* where to go on */
	unsigned int left;		/* entries until a pause */
	u64 hidden, seen, inferred, dropped, shown, spared, aged;
};

/*
 * From w->at on, w->left entries or a little more. True: it has reached the end.
 * mmap_lock is held; may not sleep.
 */
bool mtr_sweep_piece(struct mtr_sweep *w);
/* All of it, in pieces, with mmap_lock taken for each. Sleeps. */
void mtr_sweep_mm(struct mtr_sweep *w);
void mtr_sweep_counted(struct mtr_sweep *w);
void mtr_newborn(struct mtr_image *im);
void mtr_newborn_fork(struct mtr_image *im);
void mtr_newborn_exec(struct mtr_image *im);
void mtr_show_later(struct mm_struct *mm);
void mtr_put_later(struct mm_struct *mm);
u64 mtr_frame_of(struct mm_struct *mm, u64 virt);

/* Both are asked in each fault. */
static __always_inline bool mtr_vma_traced(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP | VM_IO | VM_HUGETLB | VM_SHADOW_STACK)) &&
	       (vma->vm_flags & VM_ACCESS_FLAGS);
}

/* Memory of the recorder in the program, by its own word: not hidden, not recorded. */
static __always_inline bool mtr_vma_skipped(const struct mtr_session *s, const struct vm_area_struct *vma)
{
	return vma->vm_start >= s->config.skip_start && vma->vm_end <= s->config.skip_end;
}

/* ---- monitor.c */
int mtr_monitor_start(struct mtr_session *s);
void mtr_monitor_stop(struct mtr_session *s);
void mtr_interval_end(struct mtr_session *s);	/* session->lock */
void mtr_show_all(struct mtr_session *s);		/* session->lock */
void mtr_late_work(struct work_struct *work);
#define MTR_NEWBORNS 256	/* new tasks after which those that have ended are looked for */

#endif
