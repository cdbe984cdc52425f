/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/finish/manifest.h"
#include "cli/io/io.h"
#include "cli/measure/measure.h"
#include "cli/table/native.h"
#include "cli/backend/orphan.h"
#include "cli/base/util.h"

static const char *const words[] = { "no", "partly", "yes" };

/* What record --io gives here, in words; to be freed. */
static char *io_text(enum mt_io_source source, const char *why)
{
	switch (source) {
	case MT_IO_TRACEFS:
		return mt_strdup("calls, page cache, file system and block requests, each with its time");
	case MT_IO_PROC:
		return mt_printf("the counters of /proc/PID/io only: %s", why);
	case MT_IO_NOTHING:
		break;
	}
	return mt_printf("nothing: %s, and there is no /proc/PID/io", why);
}

static enum mt_works io_works(enum mt_io_source source)
{
	return source == MT_IO_TRACEFS ? MT_YES : source == MT_IO_PROC ? MT_PARTLY : MT_NO;
}

/* What the monitor of a recorded program is here. */
static const char *monitor_text(const char *why)
{
	return why ? "a thread of the program, which the program can see: " : "a process of its own, which the program does not see";
}

static void print_json(const struct mt_probe *p, enum mt_io_source source, const char *io, const char *no_process)
{
	json_t *all = json_array(), *top;

	for (int i = 0; i < mt_n_backends; i++) {
		const struct mt_backend_probe *b = &p->backend[i];
		json_t *f = json_array(), *can = json_array();


		for (int k = 0; k < b->n_facilities; k++)
			json_array_append_new(f, json_pack("{s:s, s:s, s:s?}", "name",
				b->facility[k].name, "works", words[b->facility[k].works], "why",
				b->facility[k].why));
		for (int k = 0; k < MT_N_ABILITIES; k++)
			if (mt_backends[i]->abilities >> k & 1)
				json_array_append_new(can, json_string(mt_ability_name[k]));
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:o, s:o}", "name", mt_backends[i]->name,
			"title", mt_backends[i]->title, "works", words[b->works], "why", b->why, "fix", b->fix,
			"abilities", can, "facilities", f));
	}
	top = json_pack("{s:s, s:o, s:s, s:s, s:o, s:o}", "schema", "memtrace.check/1", "backends", all, "auto",
			p->best ? p->best->name : "none", "reason", p->reason,
			"io", json_pack("{s:s, s:s}", "works", words[io_works(source)], "why", io),
			"monitor", json_pack("{s:s, s:s+}", "works", words[no_process ? MT_PARTLY : MT_YES], "why", monitor_text(no_process),
					     no_process ? no_process : ""));
	json_dumpf(top, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(top);
}

/* What memory costs here: measured, kept, told. */
static int measure(bool json)
{
	json_t *m;
	char *path = NULL;
	int err;

	if (!json)
		mt_note("measures what memory costs on this machine, which takes less than ten seconds");
	m = mt_measure_now(MT_MEASURE_PART_NS, MT_MEASURE_MOST_NS);
	err = mt_measure_keep(m, &path);
	if (json) {
		json_dumpf(m, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else {
		mt_measure_print(m, stdout);
	}
	if (err)
		mt_error("check: the figures cannot be kept for recordings: %s", strerror(-err));
	else if (!json)
		printf("Kept in %s: each recording from now on has it, so that findings say what they cost.\n", path);
	free(path);
	json_decref(m);
	return err ? MT_EXIT_INTERNAL : MT_EXIT_OK;
}

int cmd_check(const struct mt_args *a)
{
	struct mt_probe p;
	enum mt_io_source source;
	char *why, *io;
	const char *no_process;
	bool works;

	if (mt_args_has(a, "machine")) {
		json_t *m = mt_machine_describe();

		json_dumpf(m, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
		json_decref(m);
		return MT_EXIT_OK;
	}
	if (mt_args_has(a, "measure"))
		return measure(mt_args_json(a));
	mt_probe_run(&p);
	source = mt_io_probe(&why);
	io = io_text(source, why);
	free(mt_orphan_setting(&no_process));
	works = p.best && p.best->abilities & MT_ABILITY_ACCESSES;
	if (mt_args_json(a)) {
		print_json(&p, source, io, no_process);
	} else {
		printf("%-8s %-7s %s\n", "BACKEND", "WORKS", "WHAT, OR WHY NOT");
		for (int i = 0; i < mt_n_backends; i++) {
			const struct mt_backend_probe *b = &p.backend[i];

			printf("%-8s %-7s %s\n", mt_backends[i]->name, words[b->works], b->why);
			for (int k = 0; k < b->n_facilities; k++)
				printf("%-8s   %-11s %-7s %s\n", "", b->facility[k].name,
				       words[b->facility[k].works], b->facility[k].why);
			if (b->fix)
				printf("%-8s   to change it: %s%s\n", "",
				       geteuid() && !strncmp(b->fix, "sysctl", 6) ? "sudo " : "", b->fix);
		}
		printf("\nauto takes %s.\n", p.best ? p.best->name : "none");
		printf("\n%-8s %-7s %s\n", "--io", words[io_works(source)], io);
		printf("%-8s %-7s %s%s\n", "monitor", words[no_process ? MT_PARTLY : MT_YES], monitor_text(no_process),
		       no_process ? no_process : "");
	}
	free(why);
	free(io);
	mt_probe_free(&p);
	return works ? MT_EXIT_OK : MT_EXIT_UNAVAILABLE;
}
