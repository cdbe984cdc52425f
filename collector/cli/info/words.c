/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* words.c - what a manifest says, as text for people. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/base/util.h"

const char *mt_info_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

uint64_t mt_info_number(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : 0;
}

const char *mt_info_promise_pages(const char *s)
{
	if (!strcmp(s, "complete"))
		return "every page touched in an interval is in the trace for that interval (as long as nothing was lost)";
	if (!strcmp(s, "sampled"))
		return "pages are sampled: a page that is missing may have been touched";
	if (*s && strcmp(s, "none"))	/* a word of another backend, or of a later version */
		return "nothing is promised that this version knows: pages may be missing";
	return "no accesses were recorded";
}

static const char *promise_threads(const char *s)
{
	if (!strcmp(s, "all"))
		return "every thread that touched a page is there";
	if (!strcmp(s, "first-per-subphase"))
		return "of the threads that touch a page in the same subphase, the first is certain to be seen";
	if (!strcmp(s, "first-per-interval"))
		return "of the threads that touch a page in the same interval, the first is certain to be seen; subphases look for others";
	return "threads are not known";
}

static const char *promise_writes(const char *s)
{
	if (!strcmp(s, "decoded"))
		return "reads and writes by decoding the instruction of each recorded access";
	if (!strcmp(s, "exact"))
		return "reads and writes are exact";
	if (!strcmp(s, "first-access"))
		return "a write after a read in the same interval is missed";
	return "reads and writes are not told apart";
}

static const char *promise_kernel(const char *s)
{
	if (!strcmp(s, "attributed"))
		return "accesses of system calls belong to the calling thread";
	if (!strcmp(s, "page-set"))
		return "pages touched by system calls are there, without thread";
	return "accesses of system calls are not recorded";
}

void mt_info_promise(const json_t *g, const char *label)
{
	printf("%-11s %s\n", label, mt_info_promise_pages(mt_info_text(g, "pages")));
	if (strcmp(mt_info_text(g, "pages"), "none")) {
		printf("            %s\n", promise_threads(mt_info_text(g, "threads")));
		printf("            %s\n", promise_writes(mt_info_text(g, "writes")));
		printf("            %s\n", promise_kernel(mt_info_text(g, "kernel_accesses")));
	}
	if (mt_info_number(g, "read_group_bytes"))
		printf("            reads by groups of up to %s: pages mapped around one that was read are marked, they may not\n"
		       "            have been touched\n", mt_human_bytes(mt_info_number(g, "read_group_bytes")));
}

char *mt_info_command(const json_t *m)
{
	char *out = mt_strdup("");
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(m, "command"), i, v) {
		const char *s = json_string_value(v);
		bool plain = s && *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%")];
		char *next, *q = NULL;

		if (!s)
			continue;
		if (!plain) {		/* so that it can be pasted into a shell */
			char *w;

			q = w = mt_alloc(strlen(s) * 4 + 3);
			*w++ = '\'';
			for (; *s; s++) {
				if (*s == '\'') {
					memcpy(w, "'\\''", 4); // NOLINT(bugprone-not-null-terminated-result): more follows
					w += 4;
				} else {
					*w++ = *s;
				}
			}
			*w = '\'';
			s = q;
		}
		next = mt_printf("%s%s%s", out, i ? " " : "", s);
		free(out);
		free(q);
		out = next;
	}
	return out;
}

char *mt_info_losses(const json_t *m)
{
	json_t *l = json_object_get(m, "losses"), *v;
	char *out = NULL;
	const char *key;

	if (!mt_info_number(l, "total"))
		return mt_strdup("none");
	json_object_foreach(json_object_get(l, "by_reason"), key, v) {
		char *next;

		if (!json_integer_value(v))
			continue;
		next = mt_printf("%s%s%s %s", out ? out : "", out ? ", " : "", key,
				 mt_human_count((uint64_t)json_integer_value(v)));
		free(out);
		out = next;
	}
	return out ? out : mt_strdup("unknown reason");
}
