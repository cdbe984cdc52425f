// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: GPL-2.0-only
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
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include "compat/mm.h"

DEFINE_SPINLOCK(mtr_reg_lock);
static DEFINE_HASHTABLE(tasks, 12);
static DEFINE_HASHTABLE(images, 9);

struct mtr_task *mtr_find_task(const struct task_struct *k)
{
	struct mtr_task *t;

	hash_for_each_possible_rcu(tasks, t, hash, (unsigned long)k)
		if (t->task == k)
			return t;
	return NULL;
}

struct mtr_image *mtr_find_image(const struct mm_struct *mm)
{
	struct mtr_image *im;

	hash_for_each_possible_rcu(images, im, hash, (unsigned long)mm)
		if (im->mm == mm)
			return im;
	return NULL;
}

/* mtr_reg_lock. Any context. The address space of a task, new or known. NULL: no memory. */
static struct mtr_image *image_get(struct mtr_session *s, struct mm_struct *mm, struct task_struct *k,
				  u32 parent, enum memtrace_how how, bool *is_new)
{
	struct mtr_image *im = mtr_find_image(mm), *from;

	*is_new = false;
	if (im)
		return im;
	im = kzalloc(sizeof(*im), GFP_ATOMIC);
	if (!im)
		return NULL;
	mmgrab(mm);
	im->mm = mm;
	im->s = s;
	spin_lock_init(&im->lock);
	im->note.head.kind = MEMTRACE_IMAGE;
	im->note.head.bytes = sizeof(im->note);
	im->note.image = s->next_image++;
	im->note.parent = parent;
	im->note.pid = task_tgid_nr_ns(k, s->pid_ns);
	im->note.how = how;
	im->note.time_ns = ktime_get_mono_fast_ns();
	get_task_comm(im->note.comm, k);
	im->chunk.image = im->note.image;
	im->chunk.tid = -1;
	im->chunk.pid = im->note.pid;
	im->huge_were_off = mtr_mm_no_huge_pages(mm);
	list_for_each_entry(from, &s->images, list)
		if (from->note.image == parent && !from->huge_were_off)
			im->huge_were_off = false;	/* off only because of us */
	list_add_tail_rcu(&im->list, &s->images);
	hash_add_rcu(images, &im->hash, (unsigned long)mm);
	atomic_inc(&s->nimages);
	*is_new = true;
	return im;
}

/* mtr_reg_lock. Any context. */
static struct mtr_task *task_new(struct mtr_session *s, struct task_struct *k)
{
	struct mtr_task *t = kzalloc(sizeof(*t), GFP_ATOMIC);

	if (!t)
		return NULL;
	t->chunk.bits = mtr_chunk_bits(256);
	t->chunk.heads = kzalloc(sizeof(u32) << t->chunk.bits, GFP_ATOMIC);
	if (!t->chunk.heads) {
		kfree(t);
		return NULL;
	}
	spin_lock_init(&t->lock);
	t->s = s;
	get_task_struct(k);
	t->task = k;
	t->chunk.tid = task_pid_nr_ns(k, s->pid_ns);
	t->chunk.pid = task_tgid_nr_ns(k, s->pid_ns);
	t->cpu_ns = k->se.sum_exec_runtime;
	return t;
}

/* mtr_reg_lock */
static void task_add(struct mtr_task *t)
{
	list_add_tail_rcu(&t->list, &t->s->tasks);
	hash_add_rcu(tasks, &t->hash, (unsigned long)t->task);
	atomic_inc(&t->s->ntasks);
}

void mtr_task_free(struct mtr_task *t)
{
	put_task_struct(t->task);
	kvfree(t->chunk.heads);
	kfree_rcu(t, rcu);
}

void mtr_image_free(struct mtr_image *im)
{
	mmdrop(im->mm);
	kfree_rcu(im, rcu);
}

/* mtr_reg_lock. The task works in that image from now on. */
static void task_enter(struct mtr_task *t, struct mtr_image *im)
{
	spin_lock(&t->lock);
	t->mm = im->mm;
	t->chunk.cur = NULL;		/* a block is of one image */
	t->chunk.image = im->note.image;
	if (t->chunk.filled) {		/* and so is the hash */
		memset(t->chunk.heads, 0, sizeof(u32) << t->chunk.bits);
		t->chunk.filled = 0;
	}
	t->chunk.tid = task_pid_nr_ns(t->task, t->s->pid_ns);	/* exec by a thread changes it */
	t->chunk.pid = task_tgid_nr_ns(t->task, t->s->pid_ns);
	t->waiting = false;
	spin_unlock(&t->lock);
}

/* Its task has another address space than before: exec. Context: the task, preemption off. */
void mtr_task_moved(struct mtr_task *t)
{
	struct mtr_image *im;
	bool is_new;

	spin_lock(&mtr_reg_lock);
	if (t->s->closed) {	/* found before it was taken out of the hash */
		spin_unlock(&mtr_reg_lock);
		return;
	}
	im = image_get(t->s, current->mm, current, t->waiting ? ~0u : t->chunk.image, MEMTRACE_HOW_EXEC, &is_new);
	if (im)
		task_enter(t, im);
	spin_unlock(&mtr_reg_lock);
	if (!im) {
		mtr_count(t->s, TASK_LOST);
		WRITE_ONCE(t->ignored, true);
	}
}

/* Context: parent, preemption off; the child has not run. */
static void on_newtask(void *data, struct task_struct *k, mtr_clone_flags clone_flags)
{
	struct mtr_task *parent = mtr_find_task(current), *t;
	struct mtr_image *im = NULL;
	struct mtr_session *s;
	bool is_new = false;

	if (!parent || !k->mm || parent->ignored)
		return;
	s = parent->s;
	if (k->mm != current->mm && !(s->config.flags & MEMTRACE_CONFIG_CHILDREN) && !parent->waiting) {
		/* not followed: its copies of our entries are shown, it is none of our business */
		mtr_show_later(s, k->mm);
		return;
	}
	spin_lock(&mtr_reg_lock);
	if (s->closed) {	/* its parent was found before all were taken out of the hash */
		spin_unlock(&mtr_reg_lock);
		if (k->mm != current->mm)
			mtr_show_later(s, k->mm);
		return;
	}
	t = task_new(s, k);
	if (t) {
		if (parent->waiting) {
			t->waiting = true;
			t->mm = k->mm;
		} else {
			im = image_get(s, k->mm, k, parent->chunk.image, MEMTRACE_HOW_FORK, &is_new);
			if (im)
				task_enter(t, im);
			else
				t->ignored = true;
		}
		task_add(t);
	}
	spin_unlock(&mtr_reg_lock);
	if (!t || t->ignored)
		mtr_count(s, TASK_LOST);
	if (is_new)
		mtr_newborn_fork(im);
}

/* Context: the task, in its new program, preemption off. */
static void on_exec(void *data, struct task_struct *k, pid_t old_pid, struct linux_binprm *bprm)
{
	struct mtr_task *t = mtr_find_task(current);
	struct mtr_image *im;

	if (!t || t->ignored)
		return;
	if (!mtr_access_exec(t->s, bprm)) {
		WRITE_ONCE(t->ignored, true);
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

/* session->lock. Returns 1: registered, 0: was known, negative errno. */
static int attach_task(struct mtr_session *s, struct task_struct *k, struct mm_struct *mm, bool on_exec,
		       struct mtr_image **im, bool *new_image)
{
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
	if (on_exec) {
		t->waiting = true;
		t->mm = mm;
	} else {
		bool is_new;

		*im = image_get(s, mm, k, ~0u, MEMTRACE_HOW_ATTACH, &is_new);
		*new_image |= is_new;
		if (!*im || (*im)->s != s) {
			ret = *im ? -EBUSY : -ENOMEM;
			put_task_struct(t->task);
			kfree(t->chunk.heads);
			kfree(t);
			goto out;
		}
		task_enter(t, *im);
	}
	task_add(t);
out:
	spin_unlock(&mtr_reg_lock);
	return ret;
}

/*
 * session->lock; may sleep. Threads that are being created meanwhile by a
 * thread which is not yet registered are found by looking again until
 * nothing new turns up.
 */
int mtr_attach(struct mtr_session *s, const struct memtrace_attach *a)
{
	struct task_struct *k, *x;
	struct mtr_image *im = NULL;
	struct mm_struct *mm;
	struct pid *pid;
	bool new_image = false, again;
	int err = 0, n = 0;

	if ((a->flags & ~MEMTRACE_ATTACH_ON_EXEC) || a->pad[0] || a->pad[1])
		return -EINVAL;
	pid = find_get_pid(a->pid);
	k = pid ? get_pid_task(pid, PIDTYPE_PID) : NULL;
	put_pid(pid);
	if (!k)
		return -ESRCH;
	mm = mtr_access_mm(s, k, a->pid);
	if (IS_ERR(mm)) {
		err = PTR_ERR(mm);
		goto put_task;
	}
	do {
		again = false;
		rcu_read_lock();
		for_each_thread(k, x) {
			if (x->exit_state || (x->flags & PF_EXITING))
				continue;
			err = attach_task(s, x, mm, a->flags & MEMTRACE_ATTACH_ON_EXEC, &im, &new_image);
			if (err < 0)
				break;
			if (err > 0) {
				again = true;
				n++;
			}
		}
		rcu_read_unlock();
	} while (again && err >= 0);
	if (new_image && im)
		mtr_newborn(im);
	err = err < 0 ? err : 0;
	mmput(mm);
put_task:
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
		mtr_image_free(im);
	}
	atomic_set(&s->ntasks, 0);
	atomic_set(&s->nimages, 0);
}
