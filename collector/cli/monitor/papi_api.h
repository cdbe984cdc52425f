/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * papi_api.h - what is used of PAPI, which is loaded while running: nothing is compiled
 * against it. Written from its documentation.
 */
#ifndef MEMTRACE_MONITOR_PAPI_API_H
#define MEMTRACE_MONITOR_PAPI_API_H

#define MT_PAPI_OK 0
#define MT_PAPI_NULL (-1)
#define MT_PAPI_CPU_ATTACH 27
/* PAPI_library_init() wants the version of the header that one was compiled with: its major and minor number. */
#define MT_PAPI_VERSION(major, minor) ((major) << 24 | (minor) << 16)

/* the member of the union PAPI_option_t for PAPI_CPU_ATTACH, and room for all others */
struct mt_papi_cpu_option {
	int eventset;
	unsigned int cpu_num;
	char others[512];
};

#define MT_PAPI_FUNCTIONS(F)						\
	F(int, library_init, int)					\
	F(int, multiplex_init, void)					\
	F(int, create_eventset, int *)					\
	F(int, assign_eventset_component, int, int)			\
	F(int, set_opt, int, void *)					\
	F(int, set_multiplex, int)					\
	F(int, add_named_event, int, const char *)			\
	F(int, event_name_to_code, const char *, int *)			\
	F(int, start, int)						\
	F(int, read, int, long long *)					\
	F(int, stop, int, long long *)					\
	F(int, cleanup_eventset, int)					\
	F(int, destroy_eventset, int *)					\
	F(char *, strerror, int)

#endif
