/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* manifest.h - the machine, the environment and the result as JSON. */
#ifndef MEMTRACE_CLI_MANIFEST_H
#define MEMTRACE_CLI_MANIFEST_H

#include <jansson.h>

/* The machine, its system and the settings of its kernel; the same as long as nobody changes them. Nothing of who asks. */
json_t *mt_machine_describe(void);
/* The same and who records, for `host` of the manifest; writes topology.xml into `trace` when hwloc can. */
json_t *mt_host_describe(const char *trace);
/* Variables that matter. */
json_t *mt_environment_describe(void);
/* {directory, commit, branch} of the repository around a directory, or NULL. */
json_t *mt_revision_describe(const char *directory);
/* Build id of an ELF file as hexadecimal string, or NULL. Caller frees. */
char *mt_build_id(const char *path);

/*
 * Fills in what is known after the end from the files of the images: images,
 * losses, overhead, backend that really worked. `recorder_cpu_ns` < 0: unknown.
 */
void mt_manifest_complete(json_t *manifest, const char *trace, long long recorder_cpu_ns);

/*
 * A trace whose recorder was killed: when the manifest says `running` and the
 * recorder is gone, the state becomes `aborted` and the manifest is completed.
 * Returns 1 when the trace is still being recorded, 0 otherwise, or a negative
 * errno when the manifest cannot be written.
 */
int mt_manifest_repair(json_t *manifest, const char *trace);

#endif
