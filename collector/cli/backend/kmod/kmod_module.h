/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* kmod_module.h - the module itself: find, build, load, unload. */
#ifndef MEMTRACE_CLI_KMOD_MODULE_H
#define MEMTRACE_CLI_KMOD_MODULE_H

#include <stdbool.h>

bool mt_kmod_loaded(void);
/*
 * Loads it: the installed one (modprobe), else one that was built before for
 * this kernel, else builds it. 0; or -1 with *why and perhaps *fix.
 */
int mt_kmod_load(char **why, char **fix);
/* It was loaded by a recorder, not to stay: also one that found it loaded unloads it when it is the last. */
bool mt_kmod_temporary(void);
int mt_kmod_unload(void);	/* 0 or a negative errno */
/* The device exists now, made by hand where no udev runs. */
bool mt_kmod_device(void);

/* Directory with the sources of the module, NULL when there is none. Caller frees. */
char *mt_kmod_sources(void);
/* Directory of the kernel's headers, NULL when they are not there. Caller frees. */
char *mt_kmod_headers(void);
/* Where a module for this kernel is installed or was built before, NULL. Caller frees. */
char *mt_kmod_installed(void);
/* ... and is it installed, so that modprobe finds it? */
bool mt_kmod_installed_for_kernel(void);
/* A sentence that says why this kernel cannot be served, or NULL. Caller frees. */
char *mt_kmod_refusal(void);
/* A sentence when the kernel takes signed modules only, or NULL. Caller frees. */
char *mt_kmod_signature_needed(void);
/* The sentence for a kernel without headers, and the command that installs them, where there is such a package. Caller frees both. */
char *mt_kmod_no_headers(char **fix);
/* The command that installs a signed one. Caller frees. */
char *mt_kmod_install_signed(void);
/* A sentence when even a loaded module may not probe, or NULL. Caller frees. */
char *mt_kmod_no_probes(void);

#endif
