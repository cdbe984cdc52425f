// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/*
 * access.c - whose processes a session may trace: those that its opener may
 * ptrace for reading (PTRACE_MODE_READ with real ids): user and group ids,
 * capabilities, dumpable, security modules.
 *
 * ptrace_may_access() and mm_access() are not exported. /proc/PID/environ asks
 * them when it is opened, with exec shut out, and keeps the address space that
 * the answer is for: the module opens it as the opener of the session and takes
 * that very address space. What is at that path in the opener's mounts does not
 * matter, since a file of procfs with this name holds the address space that it was
 * opened for, and it must be the one of the process. /proc asks for the
 * ids of file access: in the session's credentials they are the real ones.
 */
#include "memtrace.h"

#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>

/* A copy of the caller's, to be put. NULL: no memory. */
struct cred *mtr_access_cred(bool privileged)
{
	struct cred *c = prepare_creds();

	if (!c)
		return NULL;
	c->fsuid = c->uid;
	c->fsgid = c->gid;
	/*
	 * The file is its owner's alone; may a tracer of everybody not read files of
	 * everybody, the file mode shall not decide. (For others this capability
	 * could make up for one that the process has.)
	 */
	if (privileged)
		cap_raise(c->cap_effective, CAP_DAC_READ_SEARCH);
	return c;
}

struct mm_struct *mtr_access_mm(const struct mtr_session *s, struct task_struct *k, pid_t nr)
{
	struct mm_struct *mm, *opened;
	const struct cred *old;
	struct file *f;
	char path[32];
	int try, err = -EPERM;

	snprintf(path, sizeof(path), "/proc/%d/environ", nr);
	for (try = 0; try < 3; try++) {		/* an exec meanwhile: ask again */
		mm = get_task_mm(k);
		if (!mm)
			return ERR_PTR(-ESRCH);		/* kernel thread, or dead */
		old = override_creds(s->cred);
		f = filp_open(path, O_RDONLY, 0);
		revert_creds(old);
		opened = NULL;
		if (IS_ERR(f)) {
			err = PTR_ERR(f) == -ESRCH ? -ESRCH : -EPERM;
		} else {
			if (file_inode(f)->i_sb->s_magic == PROC_SUPER_MAGIC && !strcmp(f->f_path.dentry->d_name.name, "environ"))
				opened = f->private_data;
			fput(f);
		}
		if (opened == mm)
			return mm;
		mmput(mm);
		if (!opened)
			break;
	}
	return ERR_PTR(err);
}

bool mtr_access_exec(const struct mtr_session *s, const struct linux_binprm *bprm)
{
	const struct cred *c = current_cred(), *o = s->cred;

	if (s->privileged)
		return true;
	/* a program that may be executed, but not read, is not dumpable */
	return !bprm->secureexec && !(bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP) && c->user_ns == o->user_ns &&
	       uid_eq(c->uid, o->uid) && uid_eq(c->euid, o->uid) && uid_eq(c->suid, o->uid) &&
	       gid_eq(c->gid, o->gid) && gid_eq(c->egid, o->gid) && gid_eq(c->sgid, o->gid) &&
	       cap_issubset(c->cap_permitted, o->cap_permitted);
}
