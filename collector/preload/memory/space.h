// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * space.h - the traced memory: MAP_SHARED mappings of one sparse memfd whose file
 * offset is the virtual address. Of the backend rwp: private memory as it is (rwp.h).
 *
 * So no table of offsets is needed, neighbours merge into one mapping, and unmapping
 * is punching a hole at the same place.
 *
 * Lock: zap_space.lock protects everything but `active`, and orders each change of the
 * address space by a hook against scan and zap of the monitor. It is held with all
 * signals blocked (else a handler that calls mmap would wait for its own thread).
 * Nothing is called under it that could wait for a thread of the program.
 */
#ifndef MEMTRACE_SPACE_H
#define MEMTRACE_SPACE_H

#include <stdint.h>

#include "common/faultprobe.h"
#include "common/maps.h"
#include "common/rawsys.h"
#include "preload/memory/gone.h"
#include "preload/memory/ranges.h"

/* Memory of the program is in the file at its address: the user address space, and room for ourselves behind it. */
#define ZAP_OWN_OFFSET (1ull << MT_ADDRESS_BITS)
#define ZAP_FILE_BYTES (ZAP_OWN_OFFSET + 256 * MT_PAGE_MAX)

/* Sorted, disjoint ranges with the time at which each one was unmapped. */
struct mt_map;
struct zap_regions;

/* How memory is traced that stays private (rwp.h); functions as those of this header. */
struct zap_private {
	int (*create)(unsigned int without, const char **what);
	long (*add)(uint64_t addr, uint64_t len);	/* registers a range that is in the set again */
	void (*share)(uint64_t addr, uint64_t len, int prot);
	long (*share_file)(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset);
	long (*convert)(uint64_t start, uint64_t data_start, uint64_t end, int prot, int anonymous);
	void (*hide_all)(void);
	int (*refresh)(const struct zap_regions *old, const struct mt_map *m, uint64_t *own_end, uint64_t own_ino);
};

/* For zap_refresh(): a begin, then each mapping of the kernel's. 1 when it needs not be looked at further. */
struct zap_adopted {
	void (*begin)(void);
	int (*look)(const struct mt_map *m);
};

struct zap_space {
	struct mt_lock lock;
	int active;		/* memory is being converted; set and cleared under the lock */
	int memfd, uffd;	/* numbers are the same in the monitor's descriptor table */
	uint64_t dev, ino;	/* of memfd: tells our mappings from others; rwp: of uffd */
	/*
	 * The backend rwp: no memory file, the program's own private memory is registered for read-write protection, see rwp.h.
	 * Ranges that cannot be registered yet, since they are inaccessible, are in @reserved.
	 */
	int rwp, rwp_tried;
	const struct zap_private *private_memory;	/* where rwp is 1; set with it */
	const struct zap_adopted *adopted;	/* set with it */
	struct zap_regions reserved, regions_scratch;
	uint64_t stack_start;	/* down to here the main stack may grow, 0 not known */
	int monitor_tid;
	/*
	 * Tasks of ours in this process: 1, the monitor, unless it is a process of its own. Then the kernel clears monitor_alive when
	 * that ends, and monitor_locks says that it holds the lock, which whoever waits for it gets from it when it is gone.
	 */
	int our_tasks;
	uint32_t monitor_alive, monitor_locks;
	/*
	 * Without userfaultfd (uffd is -1): what a fault does. See zap_space_create() and
	 * zap_see_writes().
	 */
	struct mt_fault_traits faults;
	const char *no_uffd;		/* why, for a person; NULL: there is one */
	int writes_unseen;		/* there are mappings in which a write after a read does not fault yet */
	int rescue_uffd;	/* the program closed uffd: the monitor must register */
	struct zap_regions regions;
	/*
	 * There are mappings of the memory file, whether they are traced or not. They have MADV_DONTFORK but while a fork of ours makes
	 * a child: a child that is made behind our back has no memory of the parent, and cannot write to it. See zap_let_fork().
	 */
	int mapped;
	struct zap_regions not_forked;	/* of @regions: the program itself wants no copy of it in its children */
	/*
	 * Private mappings of the memory file, after fork had no memory for a copy: the memory that was traced. The hooks make new
	 * memory of what is dropped, which would else be the file again, and of what grows. It stays in the set then.
	 */
	struct zap_regions frozen;
	/*
	 * Memory that the program itself shares (MAP_SHARED, shmat): registered and zapped like
	 * ours, but its mappings and contents are never changed.
	 */
	struct zap_regions shared;
	/*
	 * Of @shared: mappings of files without the right to write, which nobody has had since they were made; so that all their pages
	 * are the file's. @lent: in the place of shared ones, which nobody could ever give that right (adopt.c).
	 */
	struct zap_regions files, lent;
	int files_too;		/* also of files on disks (Linux 6.7) */
	/* Of the last refresh: writable memory of the program that cannot be traced. */
	uint64_t unseen_shared;		/* bytes mapped */
	struct zap_regions file_copies;	/* private mappings of files: what was written is unseen */
	/*
	 * Traced ranges that were unmapped lately, while their faults may still be in the
	 * rings: [0] since the last boundary, [1] before it. See zap_turn_gone().
	 */
	struct zap_gone gone[2];
	/*
	 * Without events of faults in kernel mode (set by the monitor): pages that were
	 * mapped when hooks dropped them. The monitor takes them at the boundary.
	 */
	int note_dropped;
	/*
	 * The same for events that were lost, or may be: set when that is seen, cleared at the
	 * boundary. @rings_tight: asked by hooks, set by the monitor, NULL: there are no rings.
	 */
	int events_lost;
	int (*rings_tight)(void);
	struct zap_regions dropped;
	struct mt_maps maps;	/* scratch for lookups under the lock */
	uint64_t late_bytes;	/* writable data of libraries loaded later, not traced (yet) */
	int late_pending;	/* a hook may try to convert it */
	uint64_t hook_begin_ns;	/* of the hook that holds the lock */
	uint64_t hook_ns;	/* in hooks, since the monitor asked last; waiting for the CPU is left out */
};

#define ZAP_HOOK_NS_MAX 50000	/* longer ones were interrupted, or do what costs as much without us */

extern struct zap_space zap_space;

/*
 * constructor or fork. 0, or negative errno with the failed step in *what. @without: see mt_without().
 * Where userfaultfd cannot protect shared memory against writes it is tried what faults do there.
 */
int zap_space_create(unsigned int without, const char **what);
/* Does the kernel map pages around one that is read? Then only scans tell the page set. Any context. */
static inline int zap_reads_in_groups(void);
/*
 * Where there is no userfaultfd: makes the first write after a read fault in all mappings of now, if the
 * kernel can do that. @clear_refs_fd: /proc/self/clear_refs, or -1 to open it. Under the lock, or
 * single-threaded.
 */
void zap_see_writes(int clear_refs_fd);
/* Closes the descriptors; mappings stay. */
void zap_space_forget(void);

/*
 * Converts what exists: data of the program and of libraries, heap, other private
 * anonymous memory, main stack. constructor, single-threaded, signals blocked, on a
 * stack that is not converted. @stack_end: the main stack is traced below this address, 0 = all
 * of it. 0, or negative errno when nothing was converted;
 * single ranges that cannot be converted stay private and untraced.
 */
int zap_space_convert(uint64_t stack_end);

/* ---- under the lock */

/* Replaces fresh private memory [addr, addr+len) by traced zeroes. 0 or negative errno. */
long zap_share(uint64_t addr, uint64_t len, int prot, int flags);
/*
 * Replaces the fresh private mapping [addr, addr+len) of a file, which nobody has used yet, by
 * traced memory with the contents of the file. 0 or negative errno; it is unchanged then.
 */
long zap_share_file(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset);
/*
 * Before a range is unmapped or zeroed: notes which of its pages are mapped, that is
 * touched, when no fault event may tell (note_dropped).
 */
void zap_note_present(uint64_t addr, uint64_t len);
/* The range is not ours any more (unmapped, or replaced by a mapping of another kind). */
void zap_unshare(uint64_t addr, uint64_t len);

/*
 * Nothing is traced from here on. What was touched until now stays known to the monitor, as after
 * zap_unshare() of everything. Lock held, before the mappings are replaced.
 */
void zap_let_go(void);
/*
 * At a boundary: forgets what was unmapped before the boundary before. A fault in a
 * range unmapped between two boundaries is read after the second one at the latest.
 */
void zap_turn_gone(void);
/* Is the address traced, or was it at @time, lately? The bits of enum zap_traced. */
enum zap_traced { ZAP_NOT_TRACED = 0, ZAP_TRACED = 1, ZAP_TRACED_SHARED = 2 };
enum zap_traced zap_was_traced(uint64_t addr, uint64_t time);
/*
 * A new mapping of the program that is shared, or of a file for reading, @fd its file or -1: traced from now on if the
 * kernel can do that for memory of its kind and it is no code. The address, or negative errno: the mapping is gone.
 */
long zap_adopt(uint64_t addr, uint64_t len, int prot, int flags, int fd, int64_t offset);
/* Bytes of the System V segment that is attached at @addr, 0 = none is. */
uint64_t zap_segment_bytes(uint64_t addr);
/* Such memory is not looked at any more, and is as without us. zap_leave_out(): the bookkeeping of it. */
void zap_let_alone(uint64_t addr, uint64_t len);
void zap_leave_out(uint64_t addr, uint64_t len);
/* mprotect(), or with a @key of 0 or more pkey_mprotect(), of any memory: before somebody may write to it we let it alone. */
long zap_protect(uint64_t addr, uint64_t len, int prot, int key);
extern const struct zap_adopted zap_adopted;
/* Asks for the faults of a range. 0 or negative errno. */
long zap_register(uint64_t addr, uint64_t len);
/* A mapping of the memory file at its address, which children do not have: 0 or negative errno. */
long zap_map_file(uint64_t addr, uint64_t len, int prot, int flags, int fd);
/* Shared memory of the program was moved, or got another size. */
void zap_adopt_moved(uint64_t old, uint64_t old_len, uint64_t addr, uint64_t len);
/* The range reads as zeroes. 0, or negative errno: it does not. */
long zap_zero(uint64_t addr, uint64_t len);
/* The parts of the range that are of @frozen become new private memory, which reads as zeroes. 0 or negative errno. */
long zap_zero_frozen(uint64_t addr, uint64_t len);
/* Can the mapping be such memory, or has something else come to its place? */
int zap_is_frozen(const struct mt_map *m);
/* The kernel's maps of this process, also without /proc and without a free descriptor. 0 or negative errno. Lock held. */
int zap_maps_read(struct mt_maps *m);
/* Makes a traced range ordinary private anonymous memory with the same contents. */
long zap_make_private(uint64_t addr, uint64_t len);
/*
 * Private anonymous memory with the contents that file @memfd (-1: ours) has for one mapping of it with @prot takes its place; what
 * cannot be read is kept, too. ZAP_FROZEN: with those of the memory itself, since the process has pages of its own there. 0 or
 * negative errno. Lock held, or by the child in fork. Our tables do not change.
 */
#define ZAP_FROZEN (-2)
long zap_copy_private(uint64_t addr, uint64_t len, int prot, int memfd);
/* Copies contents between two traced ranges that do not overlap, without touching either mapping. */
long zap_copy(uint64_t to, uint64_t from, uint64_t len);
/* Has the program memory that is locked? */
int zap_locks_anything(void);
/*
 * If so, is it this page? Asked by an advice that changes nothing of the contents and is refused for locked memory (Linux 5.4; older ones
 * refuse it always).
 */
int zap_is_locked(uint64_t addr);
/* Data of an object, in [start, end), is a private mapping of its file again. 0, or negative errno: the file is not there any more. */
long zap_object_again(uint64_t start, uint64_t end);
/* What is at [at, at + len) now was one mapping of the program at [old, old + old_len): what was advised holds there. */
void zap_advice_moved(uint64_t old, uint64_t old_len, uint64_t at, uint64_t len);
/* Protection of the mapping at addr, negative when there is none. Read and write where that cannot be known. */
int zap_prot_at(uint64_t addr);
/* Builds the set of traced ranges anew from the kernel's maps (fd of mt_maps_open()). */
int zap_refresh(struct mt_maps *m, int maps_fd);
/*
 * Data of libraries that were loaded by dlopen: converted when this thread is the only one of
 * the program, since nobody else can write to it meanwhile. Called at the end of hooks.
 */
void zap_convert_late(void);
/* A child begins with nothing touched: the kernel copied the page tables of registered shared memory. */
void zap_unmap_shared(void);
/* Registers all ranges with uffd again. */
void zap_register_all(void);

/*
 * The memory file in this thread's descriptor table, which the program may have changed;
 * to be given back with zap_memfd_done(). Negative errno when it is lost.
 */
int zap_memfd(void);
void zap_memfd_done(int fd);

/*
 * Calls @fn on the monitor, see mt_monitor_call(), which sets it when it begins; NULL: there is none. Lock held.
 */
extern long (*zap_on_monitor)(long (*fn)(void *arg, int maps_fd, int memfd), void *arg);

/* What is to be done with the memory file, where it is: with a descriptor of this thread, or on the monitor. */
long zap_with_memfd(long (*fn)(void *arg, int maps_fd, int memfd), void *arg);

/* ---- for fork */

/* Data ranges of @from that are mapped in this process are copied to @to. */
long zap_copy_file(int to, int from, uint64_t start, uint64_t end);
/*
 * Will a child have the mappings of the memory file? But for what the program itself keeps from its children. Lock held. 0 or
 * negative errno.
 */
long zap_let_fork(int yes);
/*
 * All mappings of the memory file that @m has become private mappings of it as it is, which nobody changes any more: the memory is
 * the process's own. Lock held, after zap_let_go(). 0, or negative errno: some are still shared, and a next call goes on.
 */
long zap_freeze(struct mt_maps *m);
/* Is this one of the mappings of the memfd (dev, ino)? */
int zap_is_mapping(const struct mt_map *m, uint64_t dev, uint64_t ino);

static inline int zap_reads_in_groups(void)
{
	return zap_space.faults.around > 1;
}

#define ZAP_LOCK_LOOK_NS 500000000

/* The lock, for threads of the program: a monitor that was killed while it had it gives it back. */
static inline void zap_lock(void)
{
	struct zap_space *s = &zap_space;
	uint32_t c = 0;

	if (__atomic_compare_exchange_n(&s->lock.word, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&s->lock.word, 2, __ATOMIC_ACQUIRE) != 0) {
		const struct timespec ts = { 0, ZAP_LOCK_LOOK_NS };

		mt_futex_wait(&s->lock.word, 2, &ts);
		c = 1;
		if (!s->our_tasks && !__atomic_load_n(&s->monitor_alive, __ATOMIC_ACQUIRE) &&
		    __atomic_compare_exchange_n(&s->monitor_locks, &c, 0, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
}

/* Signals blocked and lock taken; returns the mask for zap_leave(). */
static inline uint64_t zap_enter(void)
{
	uint64_t mask = mt_block_signals();

	zap_lock();
	zap_space.hook_begin_ns = mt_now_ns();
	return mask;
}

static inline void zap_leave(uint64_t mask)
{
	uint64_t ns = mt_now_ns() - zap_space.hook_begin_ns;

	zap_space.hook_ns += ns < ZAP_HOOK_NS_MAX ? ns : ZAP_HOOK_NS_MAX;
	mt_unlock(&zap_space.lock);
	mt_restore_signals(mask);
}

#endif
