// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * task.c - which tasks and address spaces are traced, and by which session.
 *
 * New tasks by the tracepoint task_newtask: in the parent's context, the child
 * is complete and has not run; it also reports io_uring workers, which
 * sched_process_fork does not. New programs by sched_process_exec. The
 * tracepoints are not exported, they are found by for_each_kernel_tracepoint().
 * Their handlers run with preemption off: GFP_ATOMIC only. The end of a task
 * is found by the monitor (sched_process_exit changed its place in 7.x).
 */
#include "memtrace.h"

#include <linux/binfmts.h>
#include <linux/hash.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include "compat/mm.h"

DEFINE_SPINLOCK(mtr_reg_lock);
DEFINE_HASHTABLE(mtr_tasks, MTR_TASKS_BITS);
static DEFINE_HASHTABLE(images, 9);

struct mtr_image *mtr_find_image(const struct mm_struct *mm)
{
	struct mtr_image *im;

	hash_for_each_possible_rcu(images, im, hash, (unsigned long)mm)
		if (im->mm == mm)
			return im;
	return NULL;
}

/*
 * mtr_reg_lock. Any context. The address space of a task, new or known; of a new one, the task that it comes from
 * (NULL: attached). NULL: no memory.
 */
static struct mtr_image *image_get(struct mtr_session *s, struct mm_struct *mm, struct task_struct *k,
				   const struct mtr_task *from, enum memtrace_how how, bool *is_new)
{
	struct mtr_image *im = mtr_find_image(mm);

	*is_new = false;
	if (im)
		return im;
	if (!mtr_reserve(s, sizeof(*im)))
		return NULL;
	im = kzalloc(sizeof(*im), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!im) {
		mtr_unreserve(s, sizeof(*im));
		return NULL;
	}
	mmgrab(mm);
	im->mm = mm;
	im->s = s;
	spin_lock_init(&im->lock);
	im->note.head.kind = MEMTRACE_IMAGE;
	im->note.head.bytes = sizeof(im->note);
	im->note.image = s->next_image++;
	im->note.parent = from && !from->waiting ? from->chunk.image : ~0u;
	im->note.pid = task_tgid_nr_ns(k, s->pid_ns);
	im->note.how = how;
	im->note.time_ns = ktime_get_mono_fast_ns();
	get_task_comm(im->note.comm, k);
	im->chunk.image = im->note.image;
	im->chunk.tid = -1;
	im->chunk.pid = im->note.pid;
	im->huge_were_off = mtr_mm_no_huge_pages(mm);
	if (from && !from->huge_were_off)
		im->huge_were_off = false;	/* off only because of us */
	list_add_tail_rcu(&im->list, &s->images);
	hash_add_rcu(images, &im->hash, (unsigned long)mm);
	atomic_inc(&s->nimages);
	*is_new = true;
	return im;
}

/* What a task takes of the reserve, with that many bits of hash heads. */
static size_t task_bytes(u32 bits)
{
	return sizeof(struct mtr_task) + (sizeof(u32) << bits);
}

/* mtr_reg_lock. Any context. Charged to current, which is the program itself or who attaches to it. */
static struct mtr_task *task_new(struct mtr_session *s, struct task_struct *k)
{
	const u32 bits = mtr_chunk_bits(256);
	struct mtr_task *t;

	if (!mtr_reserve(s, task_bytes(bits)))
		return NULL;
	t = kzalloc(sizeof(*t), GFP_ATOMIC | __GFP_ACCOUNT);
	if (t)
		t->chunk.heads = kzalloc(sizeof(u32) << bits, GFP_ATOMIC | __GFP_ACCOUNT);
	if (!t || !t->chunk.heads) {
		kfree(t);
		mtr_unreserve(s, task_bytes(bits));
		return NULL;
	}
	t->chunk.bits = bits;
	spin_lock_init(&t->lock);
	t->s = s;
	get_task_struct(k);
	t->task = k;
	t->chunk.tid = task_pid_nr_ns(k, s->pid_ns);
	t->chunk.pid = task_tgid_nr_ns(k, s->pid_ns);
	t->cpu_ns = mtr_cpu_ns(k);
	t->huge_were_off = true;	/* until it enters an image we have changed nothing */
	return t;
}

/* mtr_reg_lock */
static void task_add(struct mtr_task *t)
{
	list_add_tail_rcu(&t->list, &t->s->tasks);
	hash_add_rcu(mtr_tasks, &t->hash, (unsigned long)t->task);
	atomic_inc(&t->s->ntasks);
}

void mtr_task_free(struct mtr_task *t)
{
	mtr_unreserve(t->s, task_bytes(t->chunk.bits));
	put_task_struct(t->task);
	kvfree(t->chunk.heads);
	kfree_rcu(t, rcu);
}

void mtr_image_free(struct mtr_image *im)
{
	mtr_unreserve(im->s, sizeof(*im));
	mmdrop(im->mm);
	kfree_rcu(im, rcu);
}

/* mtr_reg_lock. The task works in that image from now on. */
static void task_enter(struct mtr_task *t, struct mtr_image *im)
{
	spin_lock(&t->lock);
	t->mm = im->mm;
	t->huge_were_off = im->huge_were_off;
	t->chunk.cur = NULL;		/* a block is of one image */
	t->chunk.image = im->note.image;
	if (t->chunk.filled) {		/* and so is the hash */
		memset(t->chunk.heads, 0, sizeof(u32) << t->chunk.bits);
		t->chunk.filled = 0;
	}
	t->chunk.tid = task_pid_nr_ns(t->task, t->s->pid_ns);	/* exec by a thread changes it */
	t->chunk.pid = task_tgid_nr_ns(t->task, t->s->pid_ns);
	WRITE_ONCE(t->waiting, false);
	spin_unlock(&t->lock);
}

/* Huge pages of an address space that is not traced (any more), but that has inherited our flag. Any context. */
static void huge_pages_back(const struct mtr_task *t, struct mm_struct *mm)
{
	if (!t->huge_were_off)
		mtr_mm_huge_pages(mm);
}

/* Context: the task, preemption off. What it does from now on is none of our business. */
static void leave_alone(struct mtr_task *t)
{
	WRITE_ONCE(t->ignored, true);
	huge_pages_back(t, current->mm);
}

/* Its task has another address space than before: exec. Context: the task, preemption off. */
void mtr_task_moved(struct mtr_task *t)
{
	struct mtr_image *im = NULL;
	bool is_new, closed;

	spin_lock(&mtr_reg_lock);
	closed = t->s->closed;	/* found before it was taken out of the hash */
	if (!closed) {
		im = image_get(t->s, current->mm, current, t, MEMTRACE_HOW_EXEC, &is_new);
		if (im)
			task_enter(t, im);
	}
	spin_unlock(&mtr_reg_lock);
	if (im)
		return;
	if (!closed)
		mtr_count(t->s, TASK_LOST);
	leave_alone(t);
}

/*
 * A new task that is not traced. Its address space, where it has one of its own, has copies of
 * our entries and of our flag. Context: parent, preemption off; the child has not run.
 */
static void not_followed(const struct mtr_task *parent, struct task_struct *k)
{
	if (k->mm == current->mm)
		return;
	huge_pages_back(parent, k->mm);
	mtr_show_later(k->mm);
}

/* Context: parent, preemption off; the child has not run. */
static void on_newtask(void *data, struct task_struct *k, mtr_clone_flags clone_flags)
{
	struct mtr_task *parent = mtr_find_task(current), *t = NULL;
	struct mtr_image *im = NULL;
	struct mtr_session *s;
	bool is_new = false, follows, closed;

	if (!parent || !k->mm)
		return;
	if (parent->ignored) {
		if (mtr_find_image(current->mm))
			not_followed(parent, k);
		return;
	}
	s = parent->s;
	/* never from a program that nobody has asked about: an exec that the registration of its parent has missed */
	if (READ_ONCE(parent->mm) != current->mm)
		return;
	follows = (s->config.flags & MEMTRACE_CONFIG_CHILDREN) || parent->waiting;
	if (k->mm != current->mm && !follows) {
		not_followed(parent, k);
		return;
	}
	spin_lock(&mtr_reg_lock);
	closed = s->closed;	/* its parent was found before all were taken out of the hash */
	if (!closed)
		t = task_new(s, k);
	if (t) {
		t->fresh = parent->fresh;
		t->vforked = parent->vforked || (!follows && task_tgid(k) != task_tgid(current));
		if (parent->waiting) {
			t->waiting = true;
			t->mm = k->mm;
		} else {
			im = image_get(s, k->mm, k, parent, MEMTRACE_HOW_FORK, &is_new);
			if (im)
				task_enter(t, im);
			else
				t->ignored = true;
		}
		task_add(t);
	}
	spin_unlock(&mtr_reg_lock);
	if (!t || t->ignored) {
		if (!closed)
			mtr_count(s, TASK_LOST);
		not_followed(parent, k);
	}
	if (is_new)
		mtr_newborn_fork(im);
	/* each that has ended keeps some 24 KiB of the kernel's: not until the interval ends */
	if (atomic_inc_return(&s->newborns) == MTR_NEWBORNS)
		queue_work(mtr_workqueue, &s->late_work);
}

/* Context: the task, in its new program, preemption off. */
static void on_exec(void *data, struct task_struct *k, pid_t old_pid, struct linux_binprm *bprm)
{
	struct mtr_task *t = mtr_find_task(current);
	struct mtr_image *im;

	if (!t || t->ignored)
		return;
	if (t->vforked) {
		leave_alone(t);
		return;
	}
	if (!mtr_access_exec(t->s, bprm)) {
		leave_alone(t);
		mtr_count(t->s, DETACHED);
		return;
	}
	if (t->mm != current->mm)
		mtr_task_moved(t);
	im = mtr_find_image(current->mm);
	if (im) {
		get_task_comm(im->note.comm, current);
		mtr_newborn_exec(im);
	}
}

static struct tracepoint *tp_newtask, *tp_exec;

static void found_tracepoint(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "task_newtask"))
		tp_newtask = tp;
	else if (!strcmp(tp->name, "sched_process_exec"))
		tp_exec = tp;
}

int mtr_tasks_init(void)
{
	for_each_kernel_tracepoint(found_tracepoint, NULL);
	if (tp_newtask && tp_exec)
		return 0;
	pr_err("the kernel has no tracepoint %s: new tasks cannot be seen\n",
	       tp_newtask ? "sched_process_exec" : "task_newtask");
	return -EOPNOTSUPP;
}

int mtr_tracepoints_on(void)
{
	int err = tracepoint_probe_register(tp_newtask, on_newtask, NULL);

	if (err)
		return err;
	err = tracepoint_probe_register(tp_exec, on_exec, NULL);
	if (err) {
		tracepoint_probe_unregister(tp_newtask, on_newtask, NULL);
		tracepoint_synchronize_unregister();
	}
	return err;
}

void mtr_tracepoints_off(void)
{
	tracepoint_probe_unregister(tp_newtask, on_newtask, NULL);
	tracepoint_probe_unregister(tp_exec, on_exec, NULL);
	tracepoint_synchronize_unregister();
}

/*
 * session->lock. Returns 1: registered, 0: was known, or ends; negative errno. -EAGAIN: it executes another program than the
 * one that was asked about; it is registered, fresh, and left alone.
 */
static int attach_task(struct mtr_session *s, struct task_struct *k, struct mm_struct *mm, bool on_exec,
		       struct mtr_image **im, bool *new_image)
{
	struct mm_struct *now;
	struct mtr_task *t;
	int ret = 1;

	spin_lock(&mtr_reg_lock);
	t = mtr_find_task(k);
	if (t) {
		ret = t->s == s ? 0 : -EBUSY;
		goto out;
	}
	t = task_new(s, k);
	if (!t) {
		ret = -ENOMEM;
		goto out;
	}
	t->fresh = true;
	if (on_exec) {
		t->waiting = true;
		t->mm = mm;
	} else {
		bool is_new;

		*im = image_get(s, mm, k, NULL, MEMTRACE_HOW_ATTACH, &is_new);
		*new_image |= is_new;
		if (!*im || (*im)->s != s) {
			ret = *im ? -EBUSY : -ENOMEM;
			mtr_task_free(t);
			goto out;
		}
		task_enter(t, *im);
	}
	task_add(t);
	/* an exec after this finds it, and asks again; one before it is of a program that nobody has asked about */
	task_lock(k);
	now = k->mm;
	task_unlock(k);
	if (now != mm) {
		WRITE_ONCE(t->ignored, true);
		ret = now ? -EAGAIN : 0;
	}
out:
	spin_unlock(&mtr_reg_lock);
	return ret;
}

/*
 * session->lock; sleeps. The end of an attach: what it has registered stays (success), or goes, tasks that end and a
 * new image that nobody uses too, so that a failed attach has changed nothing.
 */
static void settle(struct mtr_session *s, bool success, struct mtr_image *im)
{
	struct mtr_fifo out = {};
	struct mtr_task *t, *tn;
	struct mtr_block *b;
	LIST_HEAD(gone);

	spin_lock(&mtr_reg_lock);
	list_for_each_entry_safe(t, tn, &s->tasks, list) {
		if (!t->fresh)
			continue;
		if (success && !t->ignored) {
			t->fresh = false;
			continue;
		}
		hash_del_rcu(&t->hash);
		list_move(&t->list, &gone);
		atomic_dec(&s->ntasks);
	}
	if (im) {
		hash_del_rcu(&im->hash);
		list_del(&im->list);
		atomic_dec(&s->nimages);
	}
	spin_unlock(&mtr_reg_lock);
	if (list_empty(&gone) && !im)
		return;
	synchronize_rcu();
	list_for_each_entry_safe(t, tn, &gone, list) {
		mtr_chunk_take(&t->chunk, ~0ull, &out);
		mtr_task_free(t);
	}
	while ((b = mtr_fifo_get(&out)))
		mtr_pool_put(&s->pool, b);
	if (im) {
		if (!im->huge_were_off)
			mtr_mm_huge_pages(im->mm);
		mtr_image_free(im);
	}
}

/*
 * session->lock; may sleep. All threads of a process whose address space is @mm. Threads that are being created
 * meanwhile by a thread which is not yet registered are found by looking again until nothing new turns up.
 */
static int attach_all(struct mtr_session *s, struct task_struct *k, struct mm_struct *mm, bool on_exec)
{
	struct mtr_image *im = NULL;
	bool new_image = false, again;
	struct task_struct *x;
	int err;

	do {
		again = false;
		err = 0;
		rcu_read_lock();
		/* as for_each_thread(), which names a lock that is not exported where RCU lists are checked */
		list_for_each_entry_rcu(x, &k->signal->thread_head, thread_node) {
			if (x->exit_state || (x->flags & PF_EXITING))
				continue;
			err = attach_task(s, x, mm, on_exec, &im, &new_image);
			if (err < 0)
				break;
			again |= err > 0;
		}
		rcu_read_unlock();
	} while (again && err >= 0);
	settle(s, err >= 0, err < 0 && new_image ? im : NULL);
	if (err < 0)
		return err;
	if (new_image && im)
		mtr_newborn(im);
	return 0;
}

/*
 * session->lock is not held: the question whether it may be traced opens a file of the caller's mounts, and a user's
 * file system may keep it waiting for ever. All of the process or nothing.
 */
int mtr_attach(struct mtr_session *s, const struct memtrace_attach *a)
{
	struct task_struct *k;
	struct mm_struct *mm;
	int err, try = 0;

	if ((a->flags & ~MEMTRACE_ATTACH_ON_EXEC) || a->pad[0] || a->pad[1])
		return -EINVAL;
	/* the number is of the opener's namespace, as all numbers that are told */
	if (task_active_pid_ns(current) != s->pid_ns)
		return -EPERM;
	rcu_read_lock();
	k = pid_task(find_pid_ns(a->pid, s->pid_ns), PIDTYPE_PID);
	if (k)
		get_task_struct(k);
	rcu_read_unlock();
	if (!k)
		return -ESRCH;
	do {
		mm = mtr_access_mm(s, k, a->pid);
		if (IS_ERR(mm)) {
			err = PTR_ERR(mm);
			break;
		}
		mutex_lock(&s->lock);
		err = s->configured && !s->stopped ? attach_all(s, k, mm, a->flags & MEMTRACE_ATTACH_ON_EXEC) : -EINVAL;
		mutex_unlock(&s->lock);
		mmput(mm);
	} while (err == -EAGAIN && ++try < 3);
	put_task_struct(k);
	return err;
}

/* session->lock. Afterwards no probe or tracepoint finds anything of the session. */
void mtr_unregister_all(struct mtr_session *s)
{
	struct mtr_task *t, *tn;
	struct mtr_image *im, *in;

	spin_lock(&mtr_reg_lock);
	/* a handler that has found a task waits for this lock perhaps: what it added now would outlive the session */
	s->closed = true;
	list_for_each_entry(t, &s->tasks, list)
		hash_del_rcu(&t->hash);
	list_for_each_entry(im, &s->images, list)
		hash_del_rcu(&im->hash);
	spin_unlock(&mtr_reg_lock);
	synchronize_rcu();
	list_for_each_entry_safe(t, tn, &s->tasks, list) {
		list_del(&t->list);
		mtr_task_free(t);
	}
	list_for_each_entry_safe(im, in, &s->images, list) {
		list_del(&im->list);
		if (!im->huge_were_off)		/* of an exec behind mtr_show_all() */
			mtr_mm_huge_pages(im->mm);
		mtr_image_free(im);
	}
	atomic_set(&s->ntasks, 0);
	atomic_set(&s->nimages, 0);
}
