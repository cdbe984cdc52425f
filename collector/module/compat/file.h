/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/* compat/file.h - what the device needs and kernels have under other names. */
#ifndef MEMTRACE_COMPAT_FILE_H
#define MEMTRACE_COMPAT_FILE_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "probed.h"

/* Pages of the machine; a variable before 5.0. */
static inline unsigned long mtr_ram_pages(void)
{
#ifdef MTR_HAS_TOTALRAM_FUNCTION
	return totalram_pages();
#else
	return totalram_pages;
#endif
}

/* Before 5.8 __vmalloc() asks for the protection. */
static inline void *mtr_vmalloc(unsigned long bytes, gfp_t gfp)
{
#ifdef MTR_HAS_VMALLOC_PROT
	return __vmalloc(bytes, gfp, PAGE_KERNEL);
#else
	return __vmalloc(bytes, gfp);
#endif
}

/* A mapping that mprotect() cannot make writable. Its flags have functions since 6.3. */
static inline void mtr_never_writable(struct vm_area_struct *vma)
{
#ifdef MTR_HAS_VM_FLAGS_CLEAR
	vm_flags_clear(vma, VM_MAYWRITE);
#else
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
}

/* A file without a position; before 5.1 (RHEL 8) pread() is refused in the same way. */
#ifndef MTR_HAS_STREAM_OPEN
static inline int stream_open(struct inode *inode, struct file *f)
{
	return nonseekable_open(inode, f);
}
#endif

#endif
