/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR EPL-2.0 */
/*
 * abi.h - the interface between the kernel module and its user-space side.
 *
 * One character device. An open descriptor is a session: it has its own pool,
 * its own monitor and its own traced tasks. Everything that a session has done
 * is undone when the last reference to the descriptor goes, however that comes
 * about; the module cannot be unloaded as long as a session exists.
 *
 *	open -> INFO (compare the version) -> CONFIGURE -> ATTACH ... -> read,
 *	read, read -> STOP -> read until it returns 0 -> close
 *
 * read() gives whole messages, each with a struct memtrace_head in front; it
 * never waits and returns 0 when there is nothing; poll() waits. The buffer
 * must hold the largest message (MEMTRACE_MESSAGE_MAX bytes). Order: an image is
 * announced before its first block; the blocks of interval n come before the
 * interval message n.
 *
 * Versions: MAJOR changes when an old user would misread the data, MINOR when
 * something is added that an old user can ignore, and with each fix: it is the version of the module, too,
 * and DKMS builds a version once. Padding is zero; the module
 * refuses (EINVAL) padding and flags that are not, so that they can get a
 * meaning later. Times are ns of CLOCK_MONOTONIC. All fields have fixed widths
 * and natural alignment; 32- and 64-bit programs use the same layout.
 */
#ifndef MEMTRACE_ABI_H
#define MEMTRACE_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MEMTRACE_SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), "layout of struct " #type)

#define MEMTRACE_ABI_MAJOR	1
#define MEMTRACE_ABI_MINOR	7
#define MEMTRACE_DEVICE		"/dev/memtrace"

#define MEMTRACE_BLOCK_BYTES	4096
#define MEMTRACE_MESSAGE_MAX	MEMTRACE_BLOCK_BYTES

/* ---- requests */

struct memtrace_info {
	__u32 major, minor;		/* out: version of the interface */
	__u32 record_bytes;		/* out: sizeof(struct memtrace_record) */
	__u32 counters;			/* out: number of counters of struct memtrace_stats */
	__u32 features;			/* out: MEMTRACE_FEATURE_* */
	__u32 pad[3];
};
MEMTRACE_SIZE(memtrace_info, 32);

#define MEMTRACE_FEATURE_PHYSICAL	0x1	/* this opener may see physical addresses */
#define MEMTRACE_FEATURE_ALL_USERS	0x2	/* this opener may attach to processes of others */

struct memtrace_config {
	__u64 interval_ns;		/* target, >= 1 ms, <= 100 s */
	__u64 max_interval_ns;		/* the rule never stretches beyond; 0 = 20 x interval_ns */
	__u32 subphases;		/* times per interval that pages are hidden, 1..64 */
	__u32 flags;			/* MEMTRACE_CONFIG_* */
	__u32 pool_blocks;		/* 4 KiB blocks, 4..4194304 */
	__u32 max_load_ppm;		/* cost / CPU time of the program, in millionths; 0 = never stretch */
	__u32 fault_cost_ns;		/* what one injected fault costs, for the rule */
	__u32 pad;
	__u64 skip_start, skip_end;	/* mappings inside of these addresses are left alone (1.1; 0 before) */
};
MEMTRACE_SIZE(memtrace_config, 56);

#define MEMTRACE_CONFIG_WRITES		0x1	/* the first write after a read is seen as well */
#define MEMTRACE_CONFIG_PHYSICAL	0x2	/* fill memtrace_record.phys (EPERM without the right) */
#define MEMTRACE_CONFIG_MANUAL		0x4	/* intervals end at MEMTRACE_TICK only (tests, measurements) */
#define MEMTRACE_CONFIG_CHILDREN	0x8	/* follow fork */
#define MEMTRACE_CONFIG_AROUND		0x10	/* let the kernel map the pages around a read fault of a file */
#define MEMTRACE_CONFIG_SPARING		0x20	/* subphases hide again only pages that may have another thread (1.4) */
#define MEMTRACE_CONFIG_ALL		0x3f

struct memtrace_attach {
	__s32 pid;			/* a process (or one of its threads); all its threads are traced */
	__u32 flags;			/* MEMTRACE_ATTACH_* */
	__u32 pad[2];
};
MEMTRACE_SIZE(memtrace_attach, 16);

#define MEMTRACE_ATTACH_ON_EXEC		0x1	/* nothing is recorded before its next exec */

#define MEMTRACE_COUNTERS	32

/* Indexes of memtrace_stats.counter; only ever appended to. */
enum memtrace_counter {
	MEMTRACE_C_FAULTS,		/* faults of traced tasks on their own memory */
	MEMTRACE_C_HIDDEN,		/* ... on an entry that the module had hidden */
	MEMTRACE_C_REAL,		/* ... that the kernel has to populate */
	MEMTRACE_C_WRITE_PROTECT,	/* ... write to a visible read-only entry */
	MEMTRACE_C_SPURIOUS,		/* ... already resolved by another thread */
	MEMTRACE_C_HUGE,		/* ... on a huge page */
	MEMTRACE_C_KERNEL,		/* ... made by the kernel for the task */
	MEMTRACE_C_ALIEN,		/* ... on a NUMA hint, left to the kernel */
	MEMTRACE_C_REMOTE,		/* faults on the memory of another process */
	MEMTRACE_C_REMOTE_SHOWN,	/* ... on an entry of ours, repaired, not recorded */
	MEMTRACE_C_VMA_LOCK,		/* faults handled under the per-VMA lock */
	MEMTRACE_C_RECORDS,		/* records made from faults */
	MEMTRACE_C_MERGED,		/* faults merged into an existing record */
	MEMTRACE_C_INFERRED,		/* records made by the sweep */
	MEMTRACE_C_DROPPED,		/* LOSS: accesses without a record, pool empty */
	MEMTRACE_C_SET_FULL,		/* LOSS of detail: page not in the set, may be inferred as well */
	MEMTRACE_C_SWEPT,		/* entries hidden at the ends of intervals and subphases */
	MEMTRACE_C_SEEN,		/* present entries looked at by these sweeps */
	MEMTRACE_C_NEWBORN,		/* entries hidden in address spaces before they ran */
	MEMTRACE_C_NEWBORN_BUSY,	/* LOSS: new address space could not be swept */
	MEMTRACE_C_HUGE_SKIPPED,	/* LOSS: huge pages met by sweeps, not hidden */
	MEMTRACE_C_UNSEEN_REGION,	/* LOSS: mappings met by sweeps that cannot be traced (hugetlbfs) */
	MEMTRACE_C_NO_FRAME,		/* records whose frame was gone at the end of the interval */
	MEMTRACE_C_TASK_LOST,		/* LOSS: tasks not traced, no memory */
	MEMTRACE_C_NOTE_LOST,		/* LOSS: messages dropped, reader too slow */
	MEMTRACE_C_RESTORED,		/* entries made visible at the end */
	MEMTRACE_C_EXIT_SWEPT,		/* address spaces swept once more when they ended */
	MEMTRACE_C_DETACHED,		/* processes left alone after exec of a privileged program */
	MEMTRACE_C_UNSEEN_PAGES,	/* LOSS: pages of the mappings of UNSEEN_REGION, at each end of an interval (1.1) */
	MEMTRACE_C_SPARED,		/* visible entries that a subphase left alone (1.4) */
	MEMTRACE_C_STRANGER,		/* faults of processes that share the memory and are no threads: thread not known (1.5) */
	MEMTRACE_C_AGED,		/* visible pages without an accessed bit: whether they were accessed is not known (1.5) */
	MEMTRACE_C_N
};

struct memtrace_stats {
	__u64 counter[MEMTRACE_COUNTERS];
	__u64 intervals, late_intervals;	/* late: ended after the next one should have begun */
	__u64 close_ns, sweep_ns, flush_ns, newborn_ns;	/* time spent, sums */
	__u64 longest_ns;		/* longest work at the end of an interval */
	__u64 missed_probes;		/* faults of the machine that the kprobe missed */
	__u64 interval_ns;		/* in force */
	__u32 tasks, images;		/* alive */
	__u32 pool_blocks, pool_free, pool_low;	/* low: the smallest number of free blocks ever */
	__u32 followed;			/* LOSS: address spaces whose pages others use by tables of their own (KVM, RDMA, GPUs): unseen (1.6; 0 before) */
	__u32 pad[2];
};
MEMTRACE_SIZE(memtrace_stats, MEMTRACE_COUNTERS * 8 + 72 + 32);

#define MEMTRACE_IOC		0xb7
#define MEMTRACE_INFO		_IOR(MEMTRACE_IOC, 0, struct memtrace_info)
#define MEMTRACE_CONFIGURE	_IOW(MEMTRACE_IOC, 1, struct memtrace_config)
#define MEMTRACE_ATTACH		_IOW(MEMTRACE_IOC, 2, struct memtrace_attach)
#define MEMTRACE_STATS		_IOR(MEMTRACE_IOC, 3, struct memtrace_stats)
#define MEMTRACE_TICK		_IO(MEMTRACE_IOC, 4)	/* end the interval now */
#define MEMTRACE_STOP		_IO(MEMTRACE_IOC, 5)	/* last interval, make everything visible */

/* ---- messages */

enum memtrace_kind {
	MEMTRACE_BLOCK = 1,
	MEMTRACE_INTERVAL,
	MEMTRACE_IMAGE,
	MEMTRACE_IMAGE_END,
};

struct memtrace_head {
	__u16 kind;			/* enum memtrace_kind; skip what is unknown */
	__u16 pad;
	__u32 bytes;			/* of the message, this head included */
};

struct memtrace_record {
	__u64 virt;			/* address of the first recorded access of the page */
	__u64 phys;			/* its physical address, 0 = not known or not permitted */
	__u64 ip;			/* code address of that access, 0 = unknown (inferred) */
	__u64 cpus;			/* bit n: CPU n; or as the flags say */
	__u32 reads, writes;		/* recorded faults; not 0 in both */
	__u32 chain;			/* internal, 0 when read */
	__u16 flags;			/* MEMTRACE_RECORD_* */
	__s16 node;			/* NUMA node of the frame, -1 = unknown */
};
MEMTRACE_SIZE(memtrace_record, 48);

#define MEMTRACE_RECORD_HIDDEN		0x001	/* a page that the module had hidden */
#define MEMTRACE_RECORD_REAL		0x002	/* populated by the kernel */
#define MEMTRACE_RECORD_WRITE_PROTECT	0x004
#define MEMTRACE_RECORD_SPURIOUS	0x008
#define MEMTRACE_RECORD_KERNEL		0x010	/* made by the kernel for the task */
#define MEMTRACE_RECORD_INFERRED	0x020	/* no fault: accessed bit found by the sweep */
#define MEMTRACE_RECORD_EXEC		0x040	/* instruction fetch */
#define MEMTRACE_RECORD_SHARED		0x080	/* shared mapping */
#define MEMTRACE_RECORD_HUGE		0x100	/* huge page */
#define MEMTRACE_RECORD_DIRECTION	0x200	/* direction not known, counted as a read */
/* Before version 1.3 there are neither, and bit n of cpus is CPU n mod 64. */
#define MEMTRACE_RECORD_CPU_LIST	0x400	/* cpus: up to four numbers of CPUs, + 1, of 16 bits each, from the lowest bits on */
#define MEMTRACE_RECORD_CPUS_MANY	0x800	/* more CPUs than cpus can say: it is 0 */

/*
 * Records of one task in one interval; a task can have several blocks in one.
 * The end of an interval takes time: from end_ns on faults belong to the next
 * one, but a page that is still visible is touched without a fault, until all pages
 * are hidden and no processor has them in its TLB: closed_ns.
 * So the accesses of a record were in [start_ns, closed_ns).
 */
struct memtrace_block {
	struct memtrace_head head;
	__u32 image;			/* number of the address space */
	__s32 tid, pid;			/* tid -1: inferred by the sweep, not attributed */
	__u32 records;
	__u64 interval;			/* number, from 0 */
	__u64 start_ns, end_ns;		/* of the interval */
	__u64 closed_ns;		/* see below (1.2; 0 before) */
	__u64 pad;
	struct memtrace_record record[];
};
MEMTRACE_SIZE(memtrace_block, 64);
#define MEMTRACE_BLOCK_RECORDS \
	((MEMTRACE_BLOCK_BYTES - sizeof(struct memtrace_block)) / sizeof(struct memtrace_record))

/* The end of an interval: counts are those of the interval, of all images. */
struct memtrace_interval {
	struct memtrace_head head;
	__u32 subphases, pad0;
	__u64 interval;
	__u64 start_ns, end_ns;
	__u64 target_ns;		/* length in force */
	__u64 faults, records, inferred, dropped;
	__u64 resident;			/* present pages met by the last sweep */
	__u64 hidden;			/* entries hidden */
	__u64 scan_ns;			/* sweeps, flush included */
	__u64 monitor_cpu_ns;		/* CPU time of the monitor, and since 1.4 of the reader and of sweeps after a fork */
	__u64 program_cpu_ns;		/* CPU time of the traced tasks */
	__u32 stretch;			/* 0 no change, 1 lengthened, 2 shortened after this interval */
	__u32 pad1;
};
MEMTRACE_SIZE(memtrace_interval, 128);

enum memtrace_how { MEMTRACE_HOW_ATTACH, MEMTRACE_HOW_FORK, MEMTRACE_HOW_EXEC };

/* An address space that is traced from now on. */
struct memtrace_image {
	struct memtrace_head head;
	__u32 image;			/* number, from 0 */
	__u32 parent;			/* image it came from, ~0 = none */
	__s32 pid;
	__u32 how;			/* enum memtrace_how */
	__u64 time_ns;
	char comm[16];
};
MEMTRACE_SIZE(memtrace_image, 48);

/* It is gone; no block of it will follow. */
struct memtrace_image_end {
	struct memtrace_head head;
	__u32 image, pad;
	__u64 time_ns;
};
MEMTRACE_SIZE(memtrace_image_end, 24);

/*
 * mmap() of the first page of the descriptor, read only: word 0 is twice the
 * number of the running interval, plus one while its end is being worked on.
 * A program that reads it before and after an access knows the interval of it.
 */
#endif
