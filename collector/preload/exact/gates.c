// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A processor takes an instruction whose first byte another one changes as it was or as it is: the byte is one store, and the
 * instruction is five bytes long in both cases. So no thread stops. That all threads run the new instruction from a moment on
 * is what membarrier(2) is for: it makes each of them fetch its instructions anew.
 *
 * Calls of hooks are no gates: the compiler made them. While gates are closed the call comes to a closed gate in the hook,
 * which tells where it came from; there the first byte of the call itself becomes that of a comparison. (Registers and flags
 * are the callee's, as the compiler knows.) A call is known from then on, and both kinds are changed together.
 *
 * The code stays writable as long as there are windows. No libc, no allocation but by mapping.
 */
#include "preload/exact/gates.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "common/rawsys.h"

#define PAGE 4096ul
#define INSTRUCTION 5

#ifndef MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE (1 << 5)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE (1 << 6)
#endif

/* Calls that are left out while gates are closed. */
#define CALLS ((64ul << 10) / sizeof(uint8_t *) - 2)
struct calls {
	struct calls *next;
	size_t n;
	uint8_t *at[CALLS];
};

uint32_t gates_are_open = 1;

static bool in_use;			/* there are windows */
static struct mt_lock lock;		/* all below, and the code. Signals are blocked under it */
static struct mt_count_module *modules;	/* whose gates can be changed */
static struct calls *calls;		/* the first one has room */
static const char *broken;
static bool registered;			/* at membarrier(2) */

static void put(uint8_t *at, uint32_t byte)
{
	__atomic_store_n(at, (uint8_t)byte, __ATOMIC_RELEASE);
}

static void fetch_anew(void)
{
	if (!registered)
		registered = !mt_failed(mt_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0));
	if (registered)
		mt_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

static void set_module(const struct mt_count_module *m, bool open)
{
	for (const struct mt_count_gate *g = m->gate; g != m->gate_end; g++)
		put((uint8_t *)(uintptr_t)&g->at + g->at, open ? g->open : g->open ^ MT_GATE_JUMP ^ MT_GATE_PASS);
}

/* The code of a module, [*start, *end) of it as a whole. Calls @f for each part; 0 or its error. */
static long each_code(const struct mt_count_module *m, uintptr_t *start, uintptr_t *end, long (*f)(uintptr_t start, uintptr_t end))
{
	const Elf64_Ehdr *h = m->image;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)h + h->e_phoff);
	uintptr_t base = 0;
	long err = 0;

	*start = ~0ul;
	*end = 0;
	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && !p[i].p_offset)
			base = (uintptr_t)h - p[i].p_vaddr;
	for (int i = 0; i < h->e_phnum && !err; i++) {
		const uintptr_t from = (base + p[i].p_vaddr) & ~(PAGE - 1);
		const uintptr_t to = (base + p[i].p_vaddr + p[i].p_memsz + PAGE - 1) & ~(PAGE - 1);

		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
			continue;
		*start = from < *start ? from : *start;
		*end = to > *end ? to : *end;
		if (f)
			err = f(from, to);
	}
	return err;
}

static long make_writable(uintptr_t start, uintptr_t end)
{
	return mt_sys(SYS_mprotect, start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
}

void gates_use(void)
{
	in_use = true;
	gates_are_open = 0;
}

void gates_module(struct mt_count_module *m)
{
	uintptr_t start, end;
	uint64_t mask;
	long err;

	/* without windows only gates that are closed matter, and only where something is counted */
	if (!in_use && (!m->closed || !gates_are_open))
		return;
	mask = mt_block_signals();
	mt_lock(&lock);
	if (m->gate == m->gate_end) {
		broken = "code without gates: link it again with MEMTRACE_WINDOWS=1 in the environment of 'memtrace cc'";
	} else {
		err = each_code(m, &start, &end, make_writable);
		if (mt_failed(err)) {
			broken = "the system does not let code be changed";
		} else {
			m->next = modules;
			modules = m;
			set_module(m, gates_are_open);
			fetch_anew();
		}
	}
	mt_unlock(&lock);
	mt_restore_signals(mask);
}

void gates_module_gone(struct mt_count_module *m)
{
	struct mt_count_module **link = &modules;
	uintptr_t start, end;
	uint64_t mask;

	mask = mt_block_signals();
	mt_lock(&lock);
	while (*link && *link != m)
		link = &(*link)->next;
	if (*link) {
		*link = m->next;
		each_code(m, &start, &end, NULL);
		for (struct calls *c = calls; c; c = c->next)
			for (size_t i = 0; i < c->n; i++)
				if ((uintptr_t)c->at[i] >= start && (uintptr_t)c->at[i] < end)
					c->at[i--] = c->at[--c->n];
	}
	mt_unlock(&lock);
	mt_restore_signals(mask);
}

/* Of a module with gates: its code can be written. */
static bool is_known(const void *code)
{
	uintptr_t start, end;

	for (const struct mt_count_module *m = modules; m; m = m->next) {
		each_code(m, &start, &end, NULL);
		if ((uintptr_t)code >= start && (uintptr_t)code < end)
			return true;
	}
	return false;
}

/* A function that ends with a jump to the hook has another caller: no call of this hook stands there. */
static bool is_call(const uint8_t *at, const void *hook)
{
	int32_t distance;

	memcpy(&distance, at + 1, sizeof(distance));
	return *at == MT_GATE_CALL && at + INSTRUCTION + distance == (const uint8_t *)hook;
}

void gates_idle_call(const void *hook, const void *back)
{
	uint8_t *at = (uint8_t *)(uintptr_t)back - INSTRUCTION;
	const uint64_t mask = mt_block_signals();

	mt_lock(&lock);
	if (!gates_are_open && is_known(at) && is_known(back) && is_call(at, hook)) {
		if (!calls || calls->n == CALLS) {
			struct calls *more = mt_rawmap(sizeof(*more));

			if (more) {	/* else it stays a call, which counts nothing either */
				more->next = calls;
				calls = more;
			}
		}
		if (calls && calls->n < CALLS) {
			calls->at[calls->n++] = at;
			put(at, MT_GATE_PASS);
		}
	}
	mt_unlock(&lock);
	mt_restore_signals(mask);
}

void gates_set(bool open)
{
	uint64_t mask;

	if (!__atomic_load_n(&modules, __ATOMIC_ACQUIRE)) {	/* at the start: no system call */
		__atomic_store_n(&gates_are_open, open, __ATOMIC_RELEASE);
		return;
	}
	mask = mt_block_signals();
	mt_lock(&lock);
	if (open != (gates_are_open != 0)) {
		/* calls last when they come back: what they call is open then */
		if (open)
			for (const struct mt_count_module *m = modules; m; m = m->next)
				set_module(m, true);
		for (const struct calls *c = calls; c; c = c->next)
			for (size_t i = 0; i < c->n; i++)
				put(c->at[i], open ? MT_GATE_CALL : MT_GATE_PASS);
		if (!open)
			for (const struct mt_count_module *m = modules; m; m = m->next)
				set_module(m, false);
		__atomic_store_n(&gates_are_open, open, __ATOMIC_RELEASE);
		fetch_anew();
	}
	mt_unlock(&lock);
	mt_restore_signals(mask);
}

const char *gates_broken(void)
{
	return __atomic_load_n(&broken, __ATOMIC_ACQUIRE);
}

void gates_fork_prepare(void)
{
	mt_lock(&lock);
}

void gates_fork_done(void)
{
	mt_unlock(&lock);
}
