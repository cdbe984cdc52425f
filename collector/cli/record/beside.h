/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * beside.h - another tracer in the recorded program (record --with): today EZTrace.
 *
 * Its libraries are preloaded behind ours, in the program alone; its archive goes into the folder eztrace of the trace
 * directory. `memtrace join` puts both on one clock.
 */
#ifndef MEMTRACE_CLI_BESIDE_H
#define MEMTRACE_CLI_BESIDE_H

#include <jansson.h>
#include <stdbool.h>

struct mt_beside;

/*
 * What @spec, TOOL:MODULE[,MODULE...], asks for when @program (a path) is run. @libomp: with LLVM's OpenMP runtime in
 * place of gcc's. NULL: it cannot be had; *why is one sentence, to be freed, and *code an exit code. Says with
 * mt_note what works in part.
 */
struct mt_beside *mt_beside_open(const char *spec, const char *program, bool libomp, char **why, int *code);

/*
 * Makes the folder @folder for the archive, with what the program needs there. Absolute. Ranks of a job share one. 0 or
 * a negative errno.
 */
int mt_beside_prepare(struct mt_beside *b, const char *folder);

/* In the child, behind our own LD_PRELOAD: the environment of the tool. */
void mt_beside_environment(const struct mt_beside *b);

/* For the manifest: tool, modules, folder. */
json_t *mt_beside_describe(const struct mt_beside *b);

/* Takes back what mt_beside_prepare made only for the run. */
void mt_beside_ended(const struct mt_beside *b);

/*
 * The archive that the program has left, absolute, to be freed. Of several (a script starts more than one program) that
 * of @program. NULL: none, or it is not known which; *why is then one sentence, to be freed.
 */
char *mt_beside_archive(const struct mt_beside *b, const char *program, char **why);

void mt_beside_free(struct mt_beside *b);

#endif
