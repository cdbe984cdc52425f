// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * monitor.c - ends intervals.
 *
 * Interval n runs while session->number == 2n. Its end, with session->lock held:
 *
 *	number = 2n + 1			faults belong to n + 1 from here on
 *	take the blocks of n from all tasks
 *	set := pages recorded in them
 *	for each address space: TLB bracket on, sweep (hide; infer)
 *	one flush of the CPUs that use them, brackets off
 *	number = 2n + 2
 *	drop inferred records of recorded pages, fill in frames, hand out
 *
 * The bracket (tlb_flush_pending) is necessary: pte_accessible() takes a
 * PROT_NONE entry for already flushed, reclaim or migration would free a page
 * that is still in a TLB.
 *
 * A subphase is a sweep inside an interval: pages that were touched fault
 * again, so that the next thread that touches them is seen, too.
 */
#include "memtrace.h"

#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/mmzone.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "compat/mm.h"
#include "compat/tlb.h"

/* A message that is not a block of the pool. May sleep. False: no memory. */
static bool note(struct mtr_session *s, struct mtr_fifo *out, const void *message, u32 bytes)
{
	struct mtr_block *b = NULL;

	if (READ_ONCE(s->notes) <= 1u << 16 && mtr_reserve(s, sizeof(*b) + bytes)) {
		b = kzalloc(sizeof(*b) + bytes, GFP_KERNEL);
		if (!b)
			mtr_unreserve(s, sizeof(*b) + bytes);
	}
	if (!b) {
		mtr_count(s, NOTE_LOST);
		return false;
	}
	b->data = (struct memtrace_block *)(b + 1);
	memcpy(b->data, message, bytes);
	b->data->head.bytes = bytes;
	spin_lock(&s->done_lock);
	s->notes++;
	spin_unlock(&s->done_lock);
	mtr_fifo_put(out, b);
	return true;
}

/* Blocks of a task that it is still filling. */
static void take_open(struct mtr_session *s, struct mtr_task *t)
{
	struct mtr_block *b;
	u32 full = 0;

	/* only we take blocks out of open: b stays valid without the lock */
	spin_lock(&t->lock);
	b = t->chunk.open.head;
	spin_unlock(&t->lock);
	while (b) {
		spin_lock(&t->lock);
		full += mtr_set_take_block(&s->set, b);
		b = b->next;
		spin_unlock(&t->lock);
	}
	mtr_count_n(s, SET_FULL, full);
	cond_resched();
}

/*
 * Sweeps one address space, which may end meanwhile; begins its TLB bracket. session->lock; sleeps.
 *
 * Whoever follows its page tables (KVM, RDMA on demand, a GPU, an IOMMU) goes on with what it has of a hidden page: no
 * function that would tell it is exported. Such an address space is counted, since nobody knows which pages it uses.
 */
static void hide(struct mtr_session *s, struct mtr_image *im, u64 label, bool again, u64 *resident)
{
	struct mtr_sweep w = { .s = s, .im = im, .mode = again ? MTR_AGAIN : MTR_HIDE, .label = label };

	WRITE_ONCE(im->late, false);
	if (!im->followed && mm_has_notifiers(im->mm)) {
		im->followed = true;
		s->followed++;
	}
	inc_tlb_flush_pending(im->mm);
	mtr_sweep_mm(&w);
	if (w.hidden)
		mtr_flush_mm(im->mm, s->flush_cpus);
	*resident += w.seen;
}

/* All address spaces; one flush. @again: pages may be spared. */
static void hide_all(struct mtr_session *s, u64 label, bool again)
{
	u64 resident = 0, t0 = ktime_get_mono_fast_ns(), t1;
	struct mtr_image *im;

	list_for_each_entry(im, &s->images, list) {
		im->swept = atomic_read(&im->mm->mm_users);
		if (im->swept)
			hide(s, im, label, again, &resident);
	}
	t1 = ktime_get_mono_fast_ns();
	mtr_flush_finish(s->flush_cpus);
	s->closed_ns = ktime_get_mono_fast_ns();
	list_for_each_entry(im, &s->images, list)
		if (im->swept)
			dec_tlb_flush_pending(im->mm);
	s->resident = resident;
	s->sweep_ns += t1 - t0;
	s->flush_ns += s->closed_ns - t1;
}

static void reap_task(struct mtr_session *s, struct mtr_task *t)
{
	spin_lock(&mtr_reg_lock);
	hash_del_rcu(&t->hash);
	list_del_rcu(&t->list);
	spin_unlock(&mtr_reg_lock);
	atomic_dec(&s->ntasks);
	mtr_task_free(t);
}

/* session->lock; within an interval, so that all blocks are of it. Tasks that have ended; their blocks wait for its end. */
static void reap_early(struct mtr_session *s)
{
	struct mtr_task *t, *tn;

	atomic_set(&s->newborns, 0);
	list_for_each_entry_safe(t, tn, &s->tasks, list) {
		if (!READ_ONCE(t->task->exit_state))
			continue;
		spin_lock(&t->lock);
		mtr_chunk_take(&t->chunk, ~0ull, &s->orphans);
		spin_unlock(&t->lock);
		if (!READ_ONCE(t->waiting))
			s->reaped_cpu_ns += mtr_cpu_ns(t->task) - t->cpu_ns;
		reap_task(s, t);
		cond_resched();
	}
}

/* What forks have left to do: the rest of their sweeps, mtr_newborn_fork(), and tasks that have ended. */
void mtr_late_work(struct work_struct *work)
{
	struct mtr_session *s = container_of(work, struct mtr_session, late_work);
	struct mtr_image *im;
	struct mtr_task *t;
	u64 resident = 0, t0;
	bool late = false;

	mutex_lock(&s->lock);
	t0 = ktime_get_mono_fast_ns();
	if (!s->stopping) {
		reap_early(s);
		list_for_each_entry(im, &s->images, list)
			late |= READ_ONCE(im->late);
	}
	if (late) {
		list_for_each_entry(t, &s->tasks, list)
			take_open(s, t);
		list_for_each_entry(im, &s->images, list) {
			if (!READ_ONCE(im->late) || !atomic_read(&im->mm->mm_users))
				continue;
			hide(s, im, s->number / 2, false, &resident);
			mtr_flush_finish(s->flush_cpus);
			dec_tlb_flush_pending(im->mm);
		}
	}
	atomic64_add(ktime_get_mono_fast_ns() - t0, &s->late_ns);
	mutex_unlock(&s->lock);
}

static void subphase(struct mtr_session *s)
{
	struct mtr_task *t;

	list_for_each_entry(t, &s->tasks, list)
		take_open(s, t);
	s->past.turn++;
	hide_all(s, s->number / 2, s->past.e);
}

static struct mtr_image *image_of(struct mtr_session *s, u32 number)
{
	struct mtr_image *im;

	list_for_each_entry(im, &s->images, list)
		if (im->note.image == number)
			return im;
	return NULL;
}

/*
 * The node of a frame that was mapped in this interval, or -1: its memory may have been taken out of the machine since.
 * @only: the only node of the machine, as usual, and then no page is looked at; else -1. *valid: 2 MiB of which it is known
 * that they are there.
 */
static s16 node_of(u64 pfn, s16 only, u64 *valid)
{
	if (only >= 0)
		return only;
	if (pfn >> (21 - PAGE_SHIFT) != *valid) {
		if (!pfn_valid(pfn))
			return -1;
		*valid = pfn >> (21 - PAGE_SHIFT);
	}
	return page_to_nid(pfn_to_page(pfn));
}

/* What is the same for all records of an interval. */
struct for_reader {
	s16 only;			/* the only node of the machine, or -1 */
	bool physical;
	u64 valid;			/* see node_of() */
};

/* A record whose frame is known, for the reader. @frame: its number. */
static __always_inline void finish(struct for_reader *c, struct memtrace_record *r, u64 frame)
{
	r->chain = 0;
	r->node = node_of(frame, c->only, &c->valid);
	r->phys = c->physical ? (frame << PAGE_SHIFT) | (r->virt & ~PAGE_MASK) : 0;
}

/*
 * A block that has been taken from its task: its records into the set, where they are not yet, and completed as far as the
 * fault knew the frame. What is left for complete_block() has node -1. Returns how many the set had no room for.
 */
static u32 take_closed(struct mtr_session *s, struct mtr_block *b, struct for_reader *c)
{
	struct memtrace_block *d = b->data;
	const u32 n = d->records, set_from = b->in_set;
	u32 i, full = 0;

	b->in_set = n;
	for (i = 0; i < n; i++) {
		struct memtrace_record *r = &d->record[i];

		if (i >= set_from && !mtr_set_take(&s->set, r, d->image))
			full++;
		if (likely(r->phys))
			finish(c, r, r->phys >> PAGE_SHIFT);
		else
			b->in_set = min(b->in_set, i);
	}
	return full;
}

/* Frames and NUMA nodes of the records from b->in_set on that have none yet; clears what is not for the reader. */
static void complete_block(struct mtr_session *s, struct mtr_block *b, struct for_reader *c, struct mtr_image **last)
{
	struct memtrace_block *d = b->data;
	struct mtr_image *im = *last;
	bool locked = false;
	u32 i;

	if (b->in_set < d->records && (!im || im->note.image != d->image))
		*last = im = image_of(s, d->image);
	for (i = b->in_set; i < d->records; i++) {
		struct memtrace_record *r = &d->record[i];
		u64 frame = r->phys ? (r->phys >> PAGE_SHIFT) + 1 : 0;

		if (r->node >= 0)
			continue;
		if (!frame) {
			struct mtr_set_entry *e = mtr_set_find(&s->set, r->virt, d->image);

			frame = e ? mtr_set_frame(e) : 0;
		}
		if (!frame && im && im->swept) {
			if (!locked) {
				im->swept = mmget_not_zero(im->mm);	/* it may have ended */
				locked = im->swept;
				if (locked)
					mmap_read_lock(im->mm);
			}
			if (locked)
				frame = mtr_frame_of(im->mm, r->virt);
		}
		if (frame) {
			finish(c, r, frame - 1);
		} else {
			r->chain = 0;
			mtr_count(s, NO_FRAME);
		}
	}
	if (locked) {
		mmap_read_unlock(im->mm);
		mtr_put_later(im->mm);
	}
	d->head.bytes = sizeof(*d) + d->records * sizeof(struct memtrace_record);
}

/* More hash heads for a task that needs them, fewer for one that does not. */
static void resize(struct mtr_session *s, struct mtr_task *t, u32 records)
{
	const u32 want = mtr_chunk_bits(records), before = t->chunk.bits;
	u32 *heads;

	/* smaller only when it stays calm: a program has phases */
	t->calm = want + 2 < before ? min(t->calm + 1, 100) : 0;
	if (want <= before && t->calm < 16)
		return;
	t->calm = 0;
	if (!mtr_reserve(s, sizeof(u32) << want))
		return;		/* longer chains, nothing worse */
	heads = kvcalloc(1u << want, sizeof(u32), GFP_KERNEL);
	if (!heads) {
		mtr_unreserve(s, sizeof(u32) << want);
		return;
	}
	spin_lock(&t->lock);
	heads = mtr_chunk_rehash(&t->chunk, heads, want);
	spin_unlock(&t->lock);
	kvfree(heads);
	mtr_unreserve(s, sizeof(u32) << before);
}

/* Images whose last user is gone; after their last blocks. */
static void reap_images(struct mtr_session *s, struct mtr_fifo *out)
{
	struct mtr_image *im, *in;

	list_for_each_entry_safe(im, in, &s->images, list) {
		struct memtrace_image_end end = { .head.kind = MEMTRACE_IMAGE_END, .image = im->note.image };
		bool dead;

		if (atomic_read(&im->mm->mm_users))
			continue;
		/* exit_mmap() may not have run yet; blocks of n + 1 may be under way */
		if (im->waited < 255)
			im->waited++;
		if (im->waited < (READ_ONCE(im->exit_swept) ? 2 : 20))
			continue;
		spin_lock(&im->lock);
		im->dead = !im->chunk.open.head;
		dead = im->dead;
		spin_unlock(&im->lock);
		if (!dead)
			continue;
		spin_lock(&mtr_reg_lock);
		hash_del_rcu(&im->hash);
		list_del_rcu(&im->list);
		spin_unlock(&mtr_reg_lock);
		atomic_dec(&s->nimages);
		end.time_ns = ktime_get_mono_fast_ns();
		note(s, out, &end, sizeof(end));
		/* a probe in exit_mmap() may still look at it */
		mtr_image_free(im);
	}
}

static u64 since(struct mtr_session *s, unsigned int c)
{
	const u64 v = mtr_counter(s, c), d = v - s->at[c];

	s->at[c] = v;
	return d;
}

/*
 * CPU time of whoever read since the last call. A program that traces itself is no cost of the recording.
 * The counter of a task that runs is as old as its last tick.
 */
static u64 reader_cpu(struct mtr_session *s)
{
	u64 now, d = 0;
	bool own;

	rcu_read_lock();
	spin_lock(&s->done_lock);
	if (s->reader) {
		now = mtr_cpu_ns(s->reader);
		own = mtr_find_task(s->reader);
		d = own ? 0 : now - s->reader_cpu_ns;
		s->reader_cpu_ns = now;
	}
	spin_unlock(&s->done_lock);
	rcu_read_unlock();
	return d;
}

/*
 * session->lock. The copy first: a program that reads the same number before and after an access
 * knows that the access has this one.
 */
static void set_number(struct mtr_session *s, u64 number)
{
	WRITE_ONCE(s->page[0], number);
	smp_mb();	/* no fault has the new number before the program can read it */
	WRITE_ONCE(s->number, number);
	smp_mb();	/* and none the old one once the lock of its task was taken: it reads the number with that lock */
}

/* Blocks of interval @n of all tasks; those that have ended go. Returns their CPU time in it. session->lock; sleeps. */
static u64 take_tasks(struct mtr_session *s, u64 n, struct mtr_fifo *pending)
{
	u64 cpu = s->reaped_cpu_ns;
	struct mtr_task *t, *tn;

	mtr_fifo_join(pending, &s->orphans);
	s->reaped_cpu_ns = 0;
	atomic_set(&s->newborns, 0);
	list_for_each_entry_safe(t, tn, &s->tasks, list) {
		const bool dead = READ_ONCE(t->task->exit_state);
		const u64 now = mtr_cpu_ns(t->task);
		bool empty;
		u32 filled;

		spin_lock(&t->lock);
		filled = t->chunk.label == n ? t->chunk.filled : 0;
		mtr_chunk_take(&t->chunk, n, pending);
		empty = !t->chunk.open.head;
		spin_unlock(&t->lock);
		if (!READ_ONCE(t->waiting))
			cpu += now - t->cpu_ns;
		t->cpu_ns = now;
		if (dead && empty)
			reap_task(s, t);
		else
			resize(s, t, filled);
	}
	return cpu;
}

/* Inferred records of interval @n, without those of recorded pages. session->lock; sleeps. */
static void take_inferred(struct mtr_session *s, u64 n, struct mtr_fifo *pending)
{
	struct mtr_fifo inferred = {};
	struct mtr_image *im;
	struct mtr_block *b;

	list_for_each_entry(im, &s->images, list) {
		spin_lock(&im->lock);
		mtr_chunk_take(&im->chunk, n, &inferred);
		spin_unlock(&im->lock);
	}
	while ((b = mtr_fifo_get(&inferred))) {
		if (mtr_set_filter_block(&s->set, b))
			mtr_fifo_put(pending, b);
		else
			mtr_pool_put(&s->pool, b);
		cond_resched();
	}
}

/* What is told of the interval, all of it but its number, its borders and the CPU time of the program. session->lock. */
static void sum_up(struct mtr_session *s, struct memtrace_interval *iv)
{
	iv->subphases = s->config.subphases;
	iv->target_ns = s->rule.now_ns;
	iv->faults = since(s, MEMTRACE_C_FAULTS);
	iv->records = since(s, MEMTRACE_C_RECORDS);
	iv->inferred = since(s, MEMTRACE_C_INFERRED);
	iv->dropped = since(s, MEMTRACE_C_DROPPED);
	iv->hidden = since(s, MEMTRACE_C_SWEPT);
	iv->resident = s->resident;
	iv->monitor_cpu_ns = s->monitor ? mtr_cpu_ns(s->monitor) - s->monitor_cpu_ns : 0;
	s->monitor_cpu_ns += iv->monitor_cpu_ns;
	iv->monitor_cpu_ns += reader_cpu(s) + atomic64_xchg(&s->late_ns, 0);
	iv->stretch = mtr_rule_next(&s->rule, since(s, MEMTRACE_C_HIDDEN) +
		(s->config.flags & MEMTRACE_CONFIG_WRITES ? since(s, MEMTRACE_C_WRITE_PROTECT) : 0),
		iv->monitor_cpu_ns, iv->program_cpu_ns);
}

/* session->lock; sleeps. */
void mtr_interval_end(struct mtr_session *s)
{
	const u64 n = s->number / 2, t0 = ktime_get_mono_fast_ns();
	struct memtrace_interval iv = { .head.kind = MEMTRACE_INTERVAL, .interval = n, .start_ns = s->start_ns, .end_ns = t0 };
	struct for_reader c = {
		.only = nr_online_nodes == 1 ? first_online_node : -1, .valid = ~0ull,
		.physical = s->config.flags & MEMTRACE_CONFIG_PHYSICAL,
	};
	struct mtr_fifo pending = {}, out = {};
	struct mtr_image *im, *last = NULL;
	struct mtr_block *b;
	u64 work;
	u32 full = 0;

	set_number(s, 2 * n + 1);
	iv.program_cpu_ns = take_tasks(s, n, &pending);
	s->close_ns += ktime_get_mono_fast_ns() - t0;
	s->frames = false;
	for (b = pending.head; b; b = b->next) {
		full += take_closed(s, b, &c);
		s->frames |= b->in_set < b->data->records;
		cond_resched();
	}
	mtr_count_n(s, SET_FULL, full);

	work = s->sweep_ns + s->flush_ns;
	hide_all(s, n, false);
	s->frames = true;	/* within an interval nobody knows */
	set_number(s, 2 * n + 2);
	iv.scan_ns = s->sweep_ns + s->flush_ns - work;

	take_inferred(s, n, &pending);
	for (b = pending.head; b; b = b->next) {
		complete_block(s, b, &c, &last);
		b->data->start_ns = s->start_ns;
		b->data->end_ns = t0;
		b->data->closed_ns = s->closed_ns;
		if (s->past.e && b->data->tid >= 0)
			mtr_past_take_block(&s->past, &s->set, b);
		cond_resched();
	}
	mtr_set_clear(&s->set);

	list_for_each_entry(im, &s->images, list) {
		if (!im->announced)
			im->announced = note(s, &out, &im->note, sizeof(im->note));
	}
	mtr_fifo_join(&out, &pending);
	reap_images(s, &out);
	sum_up(s, &iv);
	note(s, &out, &iv, sizeof(iv));

	s->start_ns = t0;
	s->intervals++;
	spin_lock(&s->done_lock);
	mtr_fifo_join(&s->done, &out);
	spin_unlock(&s->done_lock);
	wake_up_interruptible(&s->wait);
	work = ktime_get_mono_fast_ns() - t0;
	if (work > s->longest_ns)
		s->longest_ns = work;
}

/* session->lock; sleeps. Everything that is hidden becomes visible. */
void mtr_show_all(struct mtr_session *s)
{
	struct mtr_image *im;

	list_for_each_entry(im, &s->images, list) {
		struct mtr_sweep w = { .s = s, .im = im, .mode = MTR_SHOW };

		mtr_sweep_mm(&w);
		if (!im->huge_were_off)
			mtr_mm_huge_pages(im->mm);
	}
}

static int monitor(void *data)
{
	struct mtr_session *s = data;
	ktime_t begin = ktime_get(), next;
	ktime_t earliest = begin;
	unsigned int phase = 0;
	u64 length = s->rule.now_ns, t0;

	while (!kthread_should_stop()) {
		const unsigned int phases = s->config.subphases;

		phase++;
		next = ktime_add_ns(begin, div_u64(length * phase, phases));
		if (ktime_before(next, earliest))
			next = earliest;
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule_hrtimeout(&next, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
		if (kthread_should_stop())
			break;
		if (ktime_before(ktime_get(), next)) {
			phase--;	/* woken early */
			continue;
		}
		mutex_lock(&s->lock);
		t0 = ktime_get_mono_fast_ns();
		if (!s->stopped) {
			if (phase < phases)
				subphase(s);
			else
				mtr_interval_end(s);
		}
		/* its CPU time is outside of every limit of the user: at most a fifth of one processor */
		if (!s->privileged)
			earliest = ktime_add_ns(ktime_get(), 4 * (ktime_get_mono_fast_ns() - t0));
		mutex_unlock(&s->lock);
		if (phase < phases)
			continue;
		/* begin is the planned end, so that lengths do not drift, unless we are late */
		phase = 0;
		begin = next;
		length = s->rule.now_ns;
		if (ktime_before(ktime_add_ns(begin, length / 2), ktime_get())) {
			s->late++;
			begin = ktime_get();
		}
	}
	return 0;
}

int mtr_monitor_start(struct mtr_session *s)
{
	struct task_struct *k;

	if (s->config.flags & MEMTRACE_CONFIG_MANUAL)
		return 0;
	k = kthread_create(monitor, s, "memtrace");
	if (IS_ERR(k))
		return PTR_ERR(k);
	get_task_struct(k);
	s->monitor = k;
	/* starved, it would make intervals longer than they are said to be; a right of those who may trace everybody */
	if (s->privileged)
		set_user_nice(k, -10);
	wake_up_process(k);
	return 0;
}

/* session->lock is not held. */
void mtr_monitor_stop(struct mtr_session *s)
{
	struct task_struct *k;

	/* one caller alone stops it: two would wait for one end, and put one reference twice */
	mutex_lock(&s->lock);
	k = s->monitor;
	s->monitor = NULL;
	mutex_unlock(&s->lock);
	if (!k)
		return;
	kthread_stop(k);
	put_task_struct(k);
}
