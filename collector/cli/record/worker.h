/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MT_CLI_RECORD_WORKER_H
#define MT_CLI_RECORD_WORKER_H

/*
 * What a trace of a command is called: the file name of the program that does the work. That is not env, nice, timeout or
 * another program that becomes the one behind it or waits for it, nor a shell with one command in -c. Where it is not
 * certain, it is the first word. To be freed.
 */
char *mt_worker_name(int argc, char *const *argv);

#endif
