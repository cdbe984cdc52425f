/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * opened.h - libraries that are opened when they are needed, and go with the command all the same: packages depend on them
 * (releng/deb.sh), archives have them (releng/portable.sh), record --host takes them along.
 */
#ifndef MEMTRACE_CLI_OPENED_H
#define MEMTRACE_CLI_OPENED_H

#include <capstone/capstone.h>

#define MT_OPENED_NUMBER(n) #n
#define MT_OPENED_NAME(base, n) base MT_OPENED_NUMBER(n)

/* decodes instructions */
#define MT_OPENED_CAPSTONE MT_OPENED_NAME("libcapstone.so.", CS_API_MAJOR)
/* knows the names of C++ */
#define MT_OPENED_STDCXX "libstdc++.so.6"

#endif
