#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: GPL-2.0-only
# probe.sh COMPILER AND FLAGS...: what the headers of a kernel have, as a header
# on standard output. Asked of the compiler, not of the version: distributions
# bring new interfaces into old versions. Called by Kbuild. A probe is a small
# source that compiles or not. Without the interfaces of the last part the
# module cannot work: status 1 and a sentence.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

compiles() { # flags of the compiler...; the source on standard input
	cat > "$dir/probe.c"
	"$@" -DMODULE -DKBUILD_MODNAME='"memtrace"' -Wno-missing-prototypes -Wno-missing-declarations -Wno-unused -Wno-implicit-fallthrough \
		-Werror=implicit-function-declaration -Werror=incompatible-pointer-types -fsyntax-only "$dir/probe.c" 2> "$dir/log"
}
has() { # NAME flags...: defines it
	name=$1
	shift
	if compiles "$@"; then echo "#define $name 1"; else echo "/* no $name */"; fi
}
# without a compiler it is not the kernel's fault
compiles "$@" <<'C' || { cat "$dir/log" >&2; exit 1; }
int probe;
C
echo "/* made by probe.sh */"
# handle_mm_fault() gets the registers and counts the faults of the task (5.9)
has MTR_HAS_FAULT_REGS "$@" <<'C'
#include <linux/mm.h>
vm_fault_t (*probe)(struct vm_area_struct *, unsigned long, unsigned int, struct pt_regs *) = handle_mm_fault;
C
# the lock of the mappings: its functions (5.8), its new name (5.8), does anybody wait for it? (5.11)
has MTR_HAS_MMAP_LOCK "$@" <<'C'
#include <linux/mm.h>
#include <linux/mmap_lock.h>
bool probe(struct mm_struct *mm) { mmap_read_lock(mm); mmap_read_unlock(mm); return mmap_read_trylock(mm); }
C
has MTR_HAS_MMAP_LOCK_FIELD "$@" <<'C'
#include <linux/mm_types.h>
struct rw_semaphore *probe(struct mm_struct *mm) { return &mm->mmap_lock; }
C
has MTR_HAS_MMAP_CONTENDED "$@" <<'C'
#include <linux/mm.h>
#include <linux/mmap_lock.h>
bool probe(struct mm_struct *mm) { return mmap_lock_is_contended(mm); }
C
# entries of page tables (5.8, 5.5)
has MTR_HAS_PTEP_GET "$@" <<'C'
#include <linux/mm.h>
pte_t probe(pte_t *p) { return ptep_get(p); }
C
has MTR_HAS_LEAF "$@" <<'C'
#include <linux/mm.h>
bool probe(pmd_t p, pud_t q) { return pmd_leaf(p) || pud_leaf(q); }
C
has MTR_HAS_REGS_ARGUMENT "$@" <<'C'
#include <linux/ptrace.h>
unsigned long probe(struct pt_regs *regs) { return regs_get_kernel_argument(regs, 3); }
C
# ftrace gives the arguments of a function (5.11), under a name of the architecture (6.13)
has MTR_HAS_FTRACE_ARGUMENTS "$@" <<'C'
#include <linux/ftrace.h>
#ifndef arch_ftrace_regs
#define arch_ftrace_regs(regs) (regs)
#endif
static void probe(unsigned long ip, unsigned long parent, struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	struct pt_regs *r = &arch_ftrace_regs(regs)->regs;
}
struct ftrace_ops ops = { .func = probe };
C
# the lock of a page table is in the description of its page (6.6)
has MTR_HAS_PTDESC "$@" <<'C'
#include <linux/mm.h>
spinlock_t *probe(struct page *page) { return ptlock_ptr(page_ptdesc(page)); }
C
has MTR_HAS_TOTALRAM_FUNCTION "$@" <<'C'
#include <linux/mm.h>
unsigned long probe(void) { return totalram_pages(); }
C
# __vmalloc() with a protection, until 5.7
has MTR_HAS_VMALLOC_PROT "$@" <<'C'
#include <linux/mm.h>
#include <linux/vmalloc.h>
void *probe(void) { return __vmalloc(1, GFP_KERNEL, PAGE_KERNEL); }
C
# the flags of a mapping are changed by functions (6.3)
has MTR_HAS_VM_FLAGS_CLEAR "$@" <<'C'
#include <linux/mm.h>
void probe(struct vm_area_struct *vma) { vm_flags_clear(vma, VM_MAYWRITE); }
C
has MTR_HAS_STREAM_OPEN "$@" <<'C'
#include <linux/fs.h>
int (*probe)(struct inode *, struct file *) = stream_open;
C
# which file systems write back (5.10)
has MTR_HAS_BDI_WRITEBACK "$@" <<'C'
#include <linux/backing-dev.h>
int probe(void) { return BDI_CAP_WRITEBACK; }
C
has MTR_HAS_USERFAULTFD_WP "$@" <<'C'
#include <linux/mm.h>
#include <linux/userfaultfd_k.h>
bool probe(struct vm_area_struct *vma) { return userfaultfd_wp(vma); }
C
# flags of an address space are a bitmap with functions (6.18)
has MTR_HAS_MM_FLAGS "$@" <<'C'
#include <linux/mm.h>
#include <linux/sched/coredump.h>
void probe(struct mm_struct *mm) { mm_flags_clear(MMF_DISABLE_THP_COMPLETELY, mm); }
C
# faults under the lock of the VMA alone (6.4)
has MTR_HAS_VMA_LOCK "$@" <<'C'
#include <linux/mm.h>
int probe(void) { return FAULT_FLAG_VMA_LOCK; }
C
# get_user_pages() takes entries without access unless it is told not to (6.6)
has MTR_HAS_HONOR_NUMA_FAULT "$@" <<'C'
#include <linux/mm.h>
int probe(void) { return FOLL_HONOR_NUMA_FAULT; }
C
# filemap_map_pages(): the first page goes with vmf->address before 5.12
has MTR_AROUND_PAIRED "$@" <<'C'
#include <linux/mm.h>
void (*probe)(struct vm_fault *, pgoff_t, pgoff_t) = filemap_map_pages;
C
has MTR_AROUND_FREE "$@" <<'C'
#include <linux/mm.h>
vm_fault_t (*probe)(struct vm_fault *, pgoff_t, pgoff_t) = filemap_map_pages;
C
# flags of clone() have 64 bits in the tracepoint task_newtask (7.2)
has MTR_NEWTASK_U64 "$@" <<'C'
#include <trace/events/task.h>
void handler(void *data, struct task_struct *k, u64 flags);
void probe(void) { check_trace_callback_type_task_newtask(handler); }
C
# an anonymous page says that it is of one address space alone (5.19): a write needs no copy
has MTR_HAS_ANON_EXCLUSIVE "$@" <<'C'
#include <linux/mm.h>
#include <linux/page-flags.h>
int probe(struct page *page) { return PageAnon(page) && PageAnonExclusive(page); }
C
# x86: the number of the last flush of an address space; its function is hidden from modules
has MTR_HAS_TLB_GEN "$@" <<'C'
#include <linux/mm.h>
s64 probe(struct mm_struct *mm) { return atomic64_inc_return(&mm->context.tlb_gen); }
C
case $(uname -m)$ARCH in
*arm64* | *aarch64*)
	# set_pte() under this name (6.9)
	has MTR_HAS___SET_PTE "$@" <<'C'
#include <linux/mm.h>
void probe(pte_t *p, pte_t v) { __set_pte(p, v); }
C
	;;
esac

# what nothing replaces; without the registers the module is tried with RHEL 8 (4.18) only, and nothing else before 5.10
if ! compiles "$@" <<'C'
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmap_lock.h>
#include <linux/version.h>
#if !defined(RHEL_MAJOR) && LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error the module needs Linux 5.10 or RHEL 8
#endif
vm_fault_t (*fault)(struct vm_area_struct *, unsigned long, unsigned int, struct pt_regs *) = handle_mm_fault;
void pending(struct mm_struct *mm) { inc_tlb_flush_pending(mm); dec_tlb_flush_pending(mm); }
C
then
	why=$(grep -m 1 error: "$dir/log")
	compiles "$@" <<'C' || {
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/version.h>
#ifndef RHEL_MAJOR
#error not a kernel of RHEL 8
#endif
vm_fault_t (*fault)(struct vm_area_struct *, unsigned long, unsigned int) = handle_mm_fault;
void pending(struct mm_struct *mm) { inc_tlb_flush_pending(mm); dec_tlb_flush_pending(mm); }
C
		echo "memtrace: this kernel is older than the module can work with, or has been changed: $why" >&2
		exit 1
	}
fi
