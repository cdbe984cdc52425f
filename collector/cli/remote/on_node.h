/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * on_node.h - what `record --host` here (remote.c) and `on-node` there (cmd_on_node.c) agree on. Both are of one
 * build, as the program is copied for each recording: nothing has to be compatible with anything.
 *
 * The folder on the node:
 *   bin/, lib/        what was copied
 *   args              words that end with NUL: working directory or "", name of the trace here, arguments of record
 *   lock, pid         held by `on-node run` as long as it runs; its process
 *   trace/            the trace directory
 *   out, err          what the program wrote after the connection was lost
 *   exit              how record ended: its code, or "s" and the signal; and the bytes of output for which
 *                     there was no room. There when it has ended
 *
 * `on-node send` reads what is here already, entries "SIZE PATH" that end with NUL, and answers with entries that
 * end with NUL, each of them a letter and what it tells:
 *   X STATE           the content of exit, or ? where it was killed
 *   A N               N processes of the program still write: nothing is sent
 *   T BYTES           that many bytes of files will follow
 *   F OFFSET LENGTH PATH   followed by LENGTH bytes of that file
 *   S SIZE CRC PATH   size and CRC-32 of the whole file, hexadecimal
 *   L REASON          a file cannot be read: it stays there
 *   E FILES           all was sent
 */
#ifndef MEMTRACE_CLI_ON_NODE_H
#define MEMTRACE_CLI_ON_NODE_H

#define MT_NODE_HELLO "memtrace on-node"	/* a line; what comes before it is of the login shell */
#define MT_NODE_SHOWN "MEMTRACE_SHOWN"		/* variable for record: what messages call the trace */

#endif
