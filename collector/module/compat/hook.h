/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * compat/hook.h - functions of ours before some of the kernel's.
 *
 * Each has a kprobe. Where ftrace gives the arguments (x86-64, 5.11) those at places of ftrace stay switched off, and one
 * ftrace_ops calls us for all of them: a kprobe there is one of ftrace, too, costs 90 instructions more for each fault, has a
 * switch of its own (kprobes/enabled), and misses what happens inside of another one. One, since its end waits for a grace
 * period of tasks, which lasts a tenth of a second.
 *
 * A handler runs in the context of the function, preemption off. on() and off() sleep; callers serialise. No handler runs when
 * off() returns.
 */
#ifndef MEMTRACE_COMPAT_HOOK_H
#define MEMTRACE_COMPAT_HOOK_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>

#include "probed.h"

#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && defined(MTR_HAS_FTRACE_ARGUMENTS)
#define MTR_HOOK_FTRACE 1
#ifndef arch_ftrace_regs	/* 6.13 */
#define arch_ftrace_regs(regs) (regs)
#endif

/*
 * The arguments and the instruction pointer, to be read and changed; the other registers are not there, it is a fifth cheaper
 * than with all of them.
 */
static __always_inline struct pt_regs *mtr_hook_regs(struct ftrace_regs *regs)
{
	return &arch_ftrace_regs(regs)->regs;
}
#endif

struct mtr_hook {
	char *symbol;
	kprobe_pre_handler_t handler;	/* its first argument is not used */
	char *without;			/* what is said without it; NULL: it must be */
	bool wanted;
	bool registered;
	struct kprobe probe;
	unsigned long ip;		/* where ftrace calls, 0: it does not */
};

#ifdef MTR_HOOK_FTRACE
/* True: ftrace calls for all hooks that have an ip. */
static inline bool mtr_hooks_by_ftrace(struct mtr_hook *h, int n, struct ftrace_ops *ops, ftrace_func_t func)
{
	bool some = false;
	int i, err = 0;

	/* it keeps a pointer to a filter that is free again */
	memset(ops, 0, sizeof(*ops));
	ops->func = func;
	for (i = 0; i < n && !err; i++) {
		if (!h[i].registered || !(h[i].probe.flags & KPROBE_FLAG_FTRACE))
			continue;
		err = ftrace_set_filter_ip(ops, (unsigned long)h[i].probe.addr, 0, !some);
		some = true;
	}
	if (some && !err)
		err = register_ftrace_function(ops);
	if (some && err)
		ftrace_free_filter(ops);
	if (!some || err)
		return false;
	for (i = 0; i < n; i++)
		if (h[i].registered && (h[i].probe.flags & KPROBE_FLAG_FTRACE))
			WRITE_ONCE(h[i].ip, (unsigned long)h[i].probe.addr);
	return true;
}
#endif

/* Those that are registered. */
static inline void mtr_hooks_unregister(struct mtr_hook *h, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (h[i].registered)
			unregister_kprobe(&h[i].probe);
		h[i].registered = false;
		h[i].ip = 0;
	}
}

static inline int mtr_hooks_register(struct mtr_hook *h, int n)
{
	int i, err;

	for (i = 0; i < n; i++) {
		/* kprobes keep state: begin from a clean one each time */
		memset(&h[i].probe, 0, sizeof(h[i].probe));
		h[i].probe.symbol_name = h[i].symbol;
		h[i].probe.pre_handler = h[i].handler;
		h[i].probe.flags = KPROBE_FLAG_DISABLED;
		err = h[i].wanted ? register_kprobe(&h[i].probe) : -EOPNOTSUPP;
		h[i].registered = !err;
		if (err && !h[i].without) {
			mtr_hooks_unregister(h, i);
			return err;
		}
	}
	return 0;
}

/* Those that ftrace does not call. */
static inline int mtr_hooks_enable(struct mtr_hook *h, int n)
{
	int i, err;

	for (i = 0; i < n; i++) {
		err = h[i].registered && !h[i].ip ? enable_kprobe(&h[i].probe) : 0;
		if (err && !h[i].without)
			return err;
		if (err) {
			unregister_kprobe(&h[i].probe);
			h[i].registered = false;
		}
	}
	return 0;
}

#endif
