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

if ! compiles "$@" <<'C'
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pgtable.h>
vm_fault_t (*fault)(struct vm_area_struct *, unsigned long, unsigned int, struct pt_regs *) = handle_mm_fault;
bool lock(struct mm_struct *mm) { return mmap_read_trylock(mm); }
pte_t get(pte_t *p) { return ptep_get(p); }
C
then
	echo "memtrace: this kernel is older than the module can work with, or has been changed: $(grep -m 1 error: "$dir/log")" >&2
	exit 1
fi
