// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * memtrace: which memory pages does each thread of a program touch, in each
 * interval? See docs/how/collector-kernel.md for the design, abi.h for the use.
 *
 * main.c - the device. A descriptor is a session; its release undoes all.
 */
#include "memtrace.h"

#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/stringify.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "compat/cpu.h"
#include "compat/file.h"

MODULE_AUTHOR("memtrace contributors");
MODULE_DESCRIPTION("memtrace: memory accesses of programs by page faults");
MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(MEMTRACE_ABI_MAJOR) "." __stringify(MEMTRACE_ABI_MINOR));

/* For user space only: whoever of the recorders is the last unloads it; root can take that back. */
static bool temporary;
module_param(temporary, bool, 0644);
MODULE_PARM_DESC(temporary, "loaded by a recorder for the time of the recordings, not by a person to stay");

/* Probes are on while a session is configured; nobody pays for a module that is only loaded. */
static DEFINE_MUTEX(sessions_lock);
static unsigned int sessions;

#define UNPRIVILEGED_BLOCKS 65536u	/* 256 MiB */

/*
 * What sessions of users without CAP_SYS_PTRACE may hold. Their memory is charged
 * to the memory cgroup of the process that configures, too.
 */
static unsigned int user_mib = 384;
module_param(user_mib, uint, 0644);
MODULE_PARM_DESC(user_mib, "MiB that all recordings of one user may hold (384)");
static unsigned int all_mib;
module_param(all_mib, uint, 0644);
MODULE_PARM_DESC(all_mib, "MiB that all recordings of all users may hold; 0 (default): an eighth of the memory");

/* Ends the sessions of users without CAP_SYS_PTRACE and lets no more begin. The device's mode says who may open it. */
static bool unprivileged = true;
static LIST_HEAD(unprivileged_sessions);	/* open descriptors of such users; sessions_lock */

static int unprivileged_set(const char *value, const struct kernel_param *kp)
{
	int err = param_set_bool(value, kp);
	struct mtr_session *s;

	if (err || READ_ONCE(unprivileged))
		return err;
	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &unprivileged_sessions, of_users)
		queue_work(mtr_workqueue, &s->end_work);
	mutex_unlock(&sessions_lock);
	return 0;
}

static const struct kernel_param_ops unprivileged_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG, .set = unprivileged_set, .get = param_get_bool,
};
module_param_cb(unprivileged, &unprivileged_ops, &unprivileged, 0644);
MODULE_PARM_DESC(unprivileged, "users without CAP_SYS_PTRACE who may open the device may record; 0 ends their recordings, too (1)");

#define USER_SESSIONS 8u
#define USER_OPENS 64u		/* descriptors, most of them not configured: 7 KiB each, and 256 bytes for each processor */
/* Part of the quota of a session: what grows with the program, see mtr_reserve(). An eighth of the rest, within bounds. */
#define RESERVE_LEAST (1u << 20)
#define RESERVE_MOST (8u << 20)

/* Of all that one person has open. sessions_lock. */
struct mtr_user {
	struct list_head list;
	kuid_t uid;
	unsigned int opens, sessions;
	u64 bytes;
};
static LIST_HEAD(users);
static u64 users_bytes;

/* Who pays: the ids of a user namespace are those of whoever made it, else one person had as many quotas as ids. */
static kuid_t payer(const struct cred *c)
{
	const struct user_namespace *ns = c->user_ns;
	kuid_t uid = c->uid;

	for (; ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static struct mtr_user *user_of(kuid_t uid)
{
	struct mtr_user *u;

	list_for_each_entry(u, &users, list)
		if (uid_eq(u->uid, uid))
			return u;
	return NULL;
}

/* An open descriptor. 0, -EMFILE, -ENOMEM. Sleeps. */
static int user_enter(struct mtr_session *s)
{
	struct mtr_user *u;
	int err = 0;

	if (s->privileged)
		return 0;
	mutex_lock(&sessions_lock);
	u = user_of(payer(s->cred));
	if (!u) {
		u = kzalloc(sizeof(*u), GFP_KERNEL);
		if (u) {
			u->uid = payer(s->cred);
			list_add(&u->list, &users);
		}
	}
	if (!u)
		err = -ENOMEM;
	else if (u->opens >= USER_OPENS)
		err = -EMFILE;
	else
		u->opens++;
	mutex_unlock(&sessions_lock);
	return err;
}

static void user_leave(struct mtr_session *s)
{
	struct mtr_user *u;

	if (s->privileged)
		return;
	mutex_lock(&sessions_lock);
	u = user_of(payer(s->cred));
	if (!--u->opens) {
		list_del(&u->list);
		kfree(u);
	}
	mutex_unlock(&sessions_lock);
}

/* 0, -EDQUOT. Sleeps. */
static int quota_take(struct mtr_session *s, u64 bytes)
{
	const u64 all = all_mib ? (u64)all_mib << 20 : (u64)mtr_ram_pages() << PAGE_SHIFT >> 3;
	struct mtr_user *u;
	int err = 0;

	if (s->privileged)
		return 0;
	mutex_lock(&sessions_lock);
	u = user_of(payer(s->cred));
	if (u->sessions >= USER_SESSIONS || u->bytes + bytes > (u64)user_mib << 20 || users_bytes + bytes > all) {
		err = -EDQUOT;
	} else {
		u->sessions++;
		u->bytes += bytes;
		users_bytes += bytes;
		s->quota = bytes;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

static void quota_give(struct mtr_session *s)
{
	struct mtr_user *u;

	if (!s->quota)
		return;
	mutex_lock(&sessions_lock);
	u = user_of(payer(s->cred));
	u->bytes -= s->quota;
	users_bytes -= s->quota;
	s->quota = 0;
	u->sessions--;
	mutex_unlock(&sessions_lock);
}

/* Of a session that was never configured, or is not any more. */
static void session_free(struct mtr_session *s)
{
	if (s->cred) {
		user_leave(s);
		put_cred(s->cred);
	}
	free_cpumask_var(s->flush_cpus);
	free_percpu(s->counter);
	vfree(s->page);
	kfree(s);
}

static void end_work(struct work_struct *work);

static int mtr_open(struct inode *inode, struct file *f)
{
	struct mtr_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!s)
		return err;
	s->privileged = capable(CAP_SYS_PTRACE);
	s->physical = capable(CAP_SYS_ADMIN);
	s->cred = mtr_access_cred(s->privileged);
	if (s->cred) {
		err = user_enter(s);
		if (err) {
			put_cred(s->cred);
			s->cred = NULL;
		}
	}
	if (!s->cred) {
		kfree(s);
		return err;
	}
	s->counter = __alloc_percpu_gfp(sizeof(u64) * MEMTRACE_COUNTERS, sizeof(u64), GFP_KERNEL_ACCOUNT);
	s->page = vmalloc_user(PAGE_SIZE);
	if (!zalloc_cpumask_var(&s->flush_cpus, GFP_KERNEL_ACCOUNT) || !s->counter || !s->page) {
		session_free(s);
		return -ENOMEM;
	}
	mutex_init(&s->lock);
	mutex_init(&s->read_lock);
	spin_lock_init(&s->done_lock);
	init_waitqueue_head(&s->wait);
	INIT_LIST_HEAD(&s->tasks);
	INIT_LIST_HEAD(&s->images);
	INIT_WORK(&s->late_work, mtr_late_work);
	INIT_WORK(&s->end_work, end_work);
	s->pid_ns = get_pid_ns(task_active_pid_ns(current));
	f->private_data = s;
	mutex_lock(&sessions_lock);
	if (!s->privileged)
		list_add(&s->of_users, &unprivileged_sessions);
	mutex_unlock(&sessions_lock);
	return stream_open(inode, f);
}

static void free_memory(struct mtr_session *s)
{
	struct mtr_block *b;

	while ((b = mtr_fifo_get(&s->done)))
		if (!b->first)
			kfree(b);
	vfree(s->set.e);
	vfree(s->past.e);
	vfree(s->data);
	vfree(s->blocks);
	s->set.e = NULL;
	s->past.e = NULL;
	s->data = NULL;
	s->blocks = NULL;
	quota_give(s);
}

/* One more session that is configured: probes are on. 0 or an error. Sleeps. */
static int probes_enter(void)
{
	int err = 0;

	mutex_lock(&sessions_lock);
	if (!sessions) {
		err = mtr_probes_on();
		if (!err) {
			err = mtr_tracepoints_on();
			if (err)
				mtr_probes_off();
		}
	}
	if (!err && !mtr_probes_see()) {
		pr_err("no session: a page fault was made on purpose and the probe has not seen it; are kernel.ftrace_enabled or kprobes off?\n");
		if (!sessions) {
			mtr_tracepoints_off();
			mtr_probes_off();
		}
		err = -EOPNOTSUPP;
	}
	if (!err)
		sessions++;
	mutex_unlock(&sessions_lock);
	return err;
}

/* One less. Sleeps. */
static void probes_leave(void)
{
	mutex_lock(&sessions_lock);
	if (!--sessions) {
		mtr_tracepoints_off();
		mtr_probes_off();
	}
	mutex_unlock(&sessions_lock);
}

/* Is it what abi.h allows, and may this opener have it? */
static int config_check(const struct mtr_session *s, const struct memtrace_config *c)
{
	if (c->pad || c->skip_start > c->skip_end)
		return -EINVAL;
	if ((c->flags & ~MEMTRACE_CONFIG_ALL) || c->interval_ns < NSEC_PER_MSEC ||
	    c->interval_ns > 100ull * NSEC_PER_SEC || c->subphases < 1 || c->subphases > 64 ||
	    c->pool_blocks < 4 || c->pool_blocks > 4194304 ||
	    (c->max_interval_ns && c->max_interval_ns < c->interval_ns) ||
	    c->max_interval_ns > 1000ull * NSEC_PER_SEC)
		return -EINVAL;
	/* each one empties TLBs */
	if (c->interval_ns < (u64)c->subphases * NSEC_PER_MSEC)
		return -EINVAL;
	if ((c->flags & MEMTRACE_CONFIG_PHYSICAL) && !s->physical)
		return -EPERM;
	if (c->pool_blocks > UNPRIVILEGED_BLOCKS && !s->privileged)
		return -EPERM;
	if (!s->privileged && !READ_ONCE(unprivileged))
		return -EACCES;
	return s->configured ? -EBUSY : 0;
}

/* Pool, set and table of a session, in its user's quota. 0, -EDQUOT, -ENOMEM; free_memory() gives back what it got. Sleeps. */
static int take_memory(struct mtr_session *s)
{
	/* no killing of others for us: rather no session */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	const u32 count = s->config.pool_blocks * MTR_BLOCKS_PER_4K;
	/* half as many pages as records: many are of several threads, and the rest is only told less exactly */
	const u32 bits = max(10, order_base_2((u64)count * MTR_BLOCK_RECORDS * 2 / 3));
	const bool sparing = (s->config.flags & MEMTRACE_CONFIG_SPARING) && s->config.subphases > 1;
	const u64 bytes = (u64)count * (MTR_BLOCK_BYTES + sizeof(*s->blocks)) + (sizeof(struct mtr_set_entry) << bits) +
		(sparing ? sizeof(u32) << bits : 0);
	const long reserve = clamp_t(u64, bytes / 8, RESERVE_LEAST, RESERVE_MOST);
	const int err = quota_take(s, bytes + reserve);

	if (err)
		return err;
	atomic_long_set(&s->reserve, reserve);
	s->blocks = mtr_vmalloc(array_size(count, sizeof(*s->blocks)), gfp | __GFP_ZERO);
	s->data = mtr_vmalloc(array_size(count, MTR_BLOCK_BYTES), gfp);
	s->set.e = mtr_vmalloc(sizeof(struct mtr_set_entry) << bits, gfp | __GFP_ZERO);
	s->past.e = sparing ? mtr_vmalloc(sizeof(u32) << bits, gfp | __GFP_ZERO) : NULL;
	s->past.bits = bits;
	if (!s->blocks || !s->data || !s->set.e || (sparing && !s->past.e))
		return -ENOMEM;
	mtr_pool_init(&s->pool, s->blocks, s->data, count);
	mtr_set_init(&s->set, s->set.e, bits);
	s->frames = true;
	return 0;
}

/* session->lock; sleeps. */
static int configure(struct mtr_session *s, const struct memtrace_config *c)
{
	int err = config_check(s, c);

	if (err)
		return err;
	s->config = *c;
	err = take_memory(s);
	if (err)
		goto no;
	s->rule.target_ns = s->rule.now_ns = c->interval_ns;
	s->rule.max_ns = c->max_interval_ns ?: 20 * c->interval_ns;
	s->rule.max_load_ppm = c->max_load_ppm;
	s->rule.fault_cost_ns = c->fault_cost_ns;
	s->start_ns = ktime_get_mono_fast_ns();
	err = probes_enter();
	if (err)
		goto no;
	s->configured = true;
	err = mtr_monitor_start(s);
	if (!err)
		return 0;
	s->configured = false;
	probes_leave();
no:
	free_memory(s);
	return err;
}

/* session->lock */
static void stop(struct mtr_session *s)
{
	if (!s->configured || s->stopped)
		return;
	mtr_interval_end(s);
	WRITE_ONCE(s->stopping, true);
	mtr_show_all(s);
	mtr_unregister_all(s);
	s->stopped = true;
}

/* The session of a user who may have none any more, see unprivileged. Its reader gets what there is, and the end. */
static void end_work(struct work_struct *work)
{
	struct mtr_session *s = container_of(work, struct mtr_session, end_work);

	mtr_monitor_stop(s);
	mutex_lock(&s->lock);
	stop(s);
	mutex_unlock(&s->lock);
	wake_up_interruptible(&s->wait);
}

static int mtr_release(struct inode *inode, struct file *f)
{
	struct mtr_session *s = f->private_data;

	mutex_lock(&sessions_lock);
	if (!s->privileged)
		list_del(&s->of_users);
	mutex_unlock(&sessions_lock);
	cancel_work_sync(&s->end_work);
	mtr_monitor_stop(s);
	mutex_lock(&s->lock);
	stop(s);
	mutex_unlock(&s->lock);
	if (s->configured) {
		probes_leave();
		synchronize_rcu();	/* handlers that have found the session */
	}
	cancel_work_sync(&s->late_work);	/* of this session alone: another one's may wait for what its user does */
	free_memory(s);
	if (s->reader)
		put_task_struct(s->reader);
	put_pid_ns(s->pid_ns);
	session_free(s);
	return 0;
}

static void stats(struct mtr_session *s, struct memtrace_stats *st)
{
	unsigned int i;

	memset(st, 0, sizeof(*st));
	for (i = 0; i < MEMTRACE_C_N; i++)
		st->counter[i] = mtr_counter(s, i);
	st->intervals = s->intervals;
	st->late_intervals = s->late;
	st->close_ns = s->close_ns;
	st->sweep_ns = s->sweep_ns;
	st->flush_ns = s->flush_ns;
	st->newborn_ns = atomic64_read(&s->newborn_ns);
	st->longest_ns = s->longest_ns;
	st->missed_probes = mtr_probes_missed();
	st->interval_ns = s->rule.now_ns;
	st->followed = s->followed;
	st->tasks = atomic_read(&s->ntasks);
	st->images = atomic_read(&s->nimages);
	st->pool_blocks = s->pool.count / MTR_BLOCKS_PER_4K;
	st->pool_free = READ_ONCE(s->pool.nfree) / MTR_BLOCKS_PER_4K;
	st->pool_low = READ_ONCE(s->pool.low) / MTR_BLOCKS_PER_4K;
}

static long mtr_ioctl(struct file *f, unsigned int request, unsigned long arg)
{
	struct mtr_session *s = f->private_data;
	void __user *u = (void __user *)arg;
	struct memtrace_config config;
	struct memtrace_attach attach;
	struct memtrace_stats *st;
	long err = 0;

	BUILD_BUG_ON(MEMTRACE_C_N > MEMTRACE_COUNTERS);
	switch (request) {
	case MEMTRACE_INFO: {
		struct memtrace_info info = {
			.major = MEMTRACE_ABI_MAJOR, .minor = MEMTRACE_ABI_MINOR,
			.record_bytes = sizeof(struct memtrace_record), .counters = MEMTRACE_C_N,
			.features = (s->physical ? MEMTRACE_FEATURE_PHYSICAL : 0) |
				    (s->privileged ? MEMTRACE_FEATURE_ALL_USERS : 0),
		};

		return copy_to_user(u, &info, sizeof(info)) ? -EFAULT : 0;
	}
	case MEMTRACE_CONFIGURE:
		if (copy_from_user(&config, u, sizeof(config)))
			return -EFAULT;
		mutex_lock(&s->lock);
		err = configure(s, &config);
		mutex_unlock(&s->lock);
		return err;
	case MEMTRACE_ATTACH:
		if (copy_from_user(&attach, u, sizeof(attach)))
			return -EFAULT;
		return mtr_attach(s, &attach);
	case MEMTRACE_STATS:
		st = kmalloc(sizeof(*st), GFP_KERNEL);
		if (!st)
			return -ENOMEM;
		mutex_lock(&s->lock);
		stats(s, st);
		mutex_unlock(&s->lock);
		if (copy_to_user(u, st, sizeof(*st)))
			err = -EFAULT;
		kfree(st);
		return err;
	case MEMTRACE_TICK:
		mutex_lock(&s->lock);
		if (s->configured && !s->stopped) {
			/* no faster than the monitor could be asked to */
			if (!s->privileged && ktime_get_mono_fast_ns() - s->start_ns < NSEC_PER_MSEC)
				usleep_range(1000, 1100);
			mtr_interval_end(s);
		} else {
			err = -EINVAL;
		}
		mutex_unlock(&s->lock);
		return err;
	case MEMTRACE_STOP:
		mtr_monitor_stop(s);
		mutex_lock(&s->lock);
		if (s->configured)
			stop(s);
		else
			err = -EINVAL;
		mutex_unlock(&s->lock);
		wake_up_interruptible(&s->wait);
		return err;
	}
	return -ENOTTY;
}

#ifdef CONFIG_COMPAT
/* Of 32-bit programs; the structures are the same. (compat_ptr_ioctl() of 5.5.) */
static long mtr_compat_ioctl(struct file *f, unsigned int request, unsigned long arg)
{
	return mtr_ioctl(f, request, (unsigned long)compat_ptr(arg));
}
#endif

/* Whole messages, as many as there are and fit; see abi.h. */
static ssize_t mtr_read(struct file *f, char __user *ub, size_t len, loff_t *off)
{
	struct mtr_session *s = f->private_data;
	ssize_t got = 0;

	if (len < MEMTRACE_MESSAGE_MAX)
		return -EINVAL;
	if (mutex_lock_interruptible(&s->read_lock))
		return -EINTR;
	if (s->reader != current) {	/* only we change it */
		struct task_struct *before = s->reader;

		spin_lock(&s->done_lock);
		get_task_struct(current);
		s->reader = current;
		s->reader_cpu_ns = mtr_cpu_ns(current);
		spin_unlock(&s->done_lock);
		if (before)
			put_task_struct(before);
	}
	for (;;) {
		struct mtr_block *b;
		u32 bytes;

		/* only we take from the head, so it can be looked at first */
		spin_lock(&s->done_lock);
		b = s->done.head;
		spin_unlock(&s->done_lock);
		if (!b)
			break;
		bytes = b->data->head.bytes;
		if (bytes > len - got)
			break;
		if (copy_to_user(ub + got, b->data, bytes)) {
			if (!got)
				got = -EFAULT;
			break;
		}
		got += bytes;
		spin_lock(&s->done_lock);
		mtr_fifo_get(&s->done);
		if (!b->first)
			s->notes--;
		spin_unlock(&s->done_lock);
		if (b->first) {
			mtr_pool_put(&s->pool, b);
		} else {
			mtr_unreserve(s, sizeof(*b) + bytes);
			kfree(b);
		}
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	mutex_unlock(&s->read_lock);
	return got;
}

static __poll_t mtr_poll(struct file *f, poll_table *wait)
{
	struct mtr_session *s = f->private_data;

	poll_wait(f, &s->wait, wait);
	return (READ_ONCE(s->done.head) ? EPOLLIN | EPOLLRDNORM : 0) | (READ_ONCE(s->stopped) ? EPOLLHUP : 0);
}

static int mtr_mmap(struct file *f, struct vm_area_struct *vma)
{
	struct mtr_session *s = f->private_data;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	/* the one page: before 5.1, and in RHEL 8, remap_vmalloc_range() takes the gap behind it for a part of it, and the kernel dies */
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start > PAGE_SIZE)
		return -EINVAL;
	mtr_never_writable(vma);	/* by mprotect() neither */
	return remap_vmalloc_range(vma, s->page, 0);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,		/* an open session keeps the module */
	.open = mtr_open,
	.release = mtr_release,
	.unlocked_ioctl = mtr_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = mtr_compat_ioctl,
#endif
	.read = mtr_read,
	.poll = mtr_poll,
	.mmap = mtr_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memtrace",
	.fops = &fops,
	.mode = 0600,			/* root; docs/howto/administrator.md says what a group could do */
};

static int __init mtr_init(void)
{
	const char *refusal;
	int err;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_PREEMPT_RT_FULL)) {
		pr_err("not on a PREEMPT_RT kernel: the probe takes spinlocks, which sleep there\n");
		return -EOPNOTSUPP;
	}
	if (!IS_ENABLED(CONFIG_NUMA_BALANCING)) {
		/* pte_protnone() is constant false: an entry that escapes us faults for ever */
		pr_err("not without CONFIG_NUMA_BALANCING: a hidden entry that is copied at the wrong moment could not heal\n");
		return -EOPNOTSUPP;
	}
	refusal = mtr_cpu_refusal();
	if (refusal) {
		pr_err("%s\n", refusal);
		return -EOPNOTSUPP;
	}
	err = mtr_tasks_init();
	if (err)
		return err;
	mtr_workqueue = alloc_workqueue("memtrace", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!mtr_workqueue)
		return -ENOMEM;
	err = misc_register(&device);
	if (err) {
		pr_err("no device: error %d\n", err);
		destroy_workqueue(mtr_workqueue);
	}
	return err;
}

static void __exit mtr_exit(void)
{
	misc_deregister(&device);
	destroy_workqueue(mtr_workqueue);
	rcu_barrier();			/* kfree_rcu() */
}

module_init(mtr_init);
module_exit(mtr_exit);
