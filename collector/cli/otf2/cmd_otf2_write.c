/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace otf2-write: an OTF2 archive from records on standard input, the
 * other direction of otf2-stream and in its format (docs/reference/otf2-stream.md):
 * 'memtrace export --format otf2' sends them. Definitions may come at any
 * time; locations alternate as they like. Writing is libotf2's, loaded here.
 * One thread.
 */
#include "cli/table/args.h"
#include "cli/table/native.h"
#include "cli/otf2/otf2_library.h"
#include "cli/base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_EVENTS (1 << 18)		/* the least: each location has one */
#define CHUNK_DEFINITIONS (1 << 22)
#define LONGEST (1 << 20)
#define MOST_VALUES 16
#define NOTHING UINT32_MAX
#define TYPE_STRING 11

struct location {
	uint64_t id;
	otf2_writer *writer;
	uint64_t events;
};

static struct {
#define FIELD(result, name, ...) result (*name)(__VA_ARGS__);
	FIELD(otf2_error_fn, Error_RegisterCallback, otf2_error_fn, void *)
	OTF2_WRITE_FUNCTIONS(FIELD)
#undef FIELD
} lib;

static otf2_archive *archive;
static otf2_global_writer *global;
static otf2_list *attributes;
static struct location *locations;
static size_t n_locations, cap_locations, current;
static uint64_t realtime = UINT64_MAX;
static uint64_t last_time;
static union {
	char text[LONGEST + 8];
	uint32_t words[1];
	uint64_t longs[1];
} payload;

static bool load(void)
{
	void *library = mt_otf2_library();

	if (!library)
		return false;
#define LOAD(result, name, ...) lib.name = (result (*)(__VA_ARGS__))mt_otf2_symbol(library, "OTF2_" #name);
	LOAD(otf2_error_fn, Error_RegisterCallback, otf2_error_fn, void *)
	OTF2_WRITE_FUNCTIONS(LOAD)
#undef LOAD
	return !*mt_otf2_error;
}

static uint8_t before_flush(void *user __attribute__((unused)), uint8_t file __attribute__((unused)),
			    uint64_t location __attribute__((unused)), void *caller __attribute__((unused)), bool final __attribute__((unused)))
{
	return 1;	/* OTF2_FLUSH */
}

static uint64_t after_flush(void *user __attribute__((unused)), uint8_t file __attribute__((unused)),
			    uint64_t location __attribute__((unused)))
{
	return last_time;
}

/* The payload of @r behind it; false when it is too long or not there. */
static bool read_payload(const struct record *r)
{
	size_t padded = (r->c + 7) / 8 * 8;

	if (r->c > LONGEST || (padded && fread(payload.text, padded, 1, stdin) != 1))
		return false;
	payload.text[r->c] = '\0';
	return true;
}

static bool locate(uint64_t id)
{
	for (current = 0; current < n_locations; current++)
		if (locations[current].id == id)
			return true;
	return false;
}

/* Locations are numbered from 0 by the sender, so that one is found at once. */
static otf2_error begin(uint64_t id)
{
	if (id < n_locations && locations[id].id == id) {
		current = id;
		return OTF2_OK;
	}
	if (locate(id))
		return OTF2_OK;
	MT_GROW(locations, n_locations, cap_locations);
	locations[n_locations++] = (struct location){ .id = id, .writer = lib.Archive_GetEvtWriter(archive, id) };
	return locations[current].writer ? OTF2_OK : -1;
}

static otf2_error event(const struct record *r)
{
	otf2_writer *w = n_locations ? locations[current].writer : NULL;
	uint8_t types[MOST_VALUES];
	otf2_metric values[MOST_VALUES];

	if (!w)
		return -1;
	last_time = r->a;
	switch (r->kind) {
	case ENTER:
		return lib.EvtWriter_Enter(w, attributes, r->a, r->ref);
	case LEAVE:
		return lib.EvtWriter_Leave(w, attributes, r->a, r->ref);
	case SEND:
		return lib.EvtWriter_MpiSend(w, attributes, r->a, r->ref, (uint32_t)r->b, (uint32_t)(r->b >> 32), r->c);
	case RECEIVE:
		return lib.EvtWriter_MpiRecv(w, attributes, r->a, r->ref, (uint32_t)r->b, (uint32_t)(r->b >> 32), r->c);
	case PARAMETER_STRING:
		return lib.EvtWriter_ParameterString(w, attributes, r->a, r->ref, (uint32_t)r->b);
	default:	/* METRIC: pairs {u64 type, u64 bits} */
		if (!read_payload(r) || r->b > MOST_VALUES || r->c != 16 * r->b)
			return -1;
		for (uint64_t i = 0; i < r->b; i++) {
			types[i] = (uint8_t)payload.longs[2 * i];
			values[i].unsigned_int = payload.longs[2 * i + 1];
		}
		return lib.EvtWriter_Metric(w, attributes, r->a, r->ref, (uint8_t)r->b, types, values);
	}
}

/* The events of a location are counted before it is closed: LOCATION records come last. */
static otf2_error location(const struct record *r)
{
	otf2_local_writer *local = lib.Archive_GetDefWriter(archive, r->a);
	uint64_t events = 0;

	if (!local || lib.Archive_CloseDefWriter(archive, local))
		return -1;
	if (locate(r->a))
		lib.EvtWriter_GetNumberOfEvents(locations[current].writer, &events);
	return lib.GlobalDefWriter_WriteLocation(global, r->a, (uint32_t)r->b, (uint8_t)r->c, events, r->ref);
}

static otf2_error take(const struct record *r)
{
	switch (r->kind) {
	case CLOCK:
		return lib.GlobalDefWriter_WriteClockProperties(global, r->a, r->b, r->c, realtime);
	case REALTIME:
		realtime = r->a;
		return OTF2_OK;
	case STRING:
		return read_payload(r) ? lib.GlobalDefWriter_WriteString(global, r->ref, payload.text) : -1;
	case TREE_NODE:
		return lib.GlobalDefWriter_WriteSystemTreeNode(global, r->ref, (uint32_t)r->a, (uint32_t)r->b, (uint32_t)r->c);
	case LOCATION_GROUP:
		return lib.GlobalDefWriter_WriteLocationGroup(global, r->ref, (uint32_t)r->a, (uint8_t)r->c, (uint32_t)r->b, NOTHING);
	case LOCATION:
		return location(r);
	case REGION:
		return lib.GlobalDefWriter_WriteRegion(global, r->ref, (uint32_t)r->a, (uint32_t)r->a, 0, (uint8_t)r->b, (uint8_t)(r->b >> 8), 0,
						       (uint32_t)r->c, (uint32_t)(r->c >> 32), 0);
	case ATTRIBUTE:
		return lib.GlobalDefWriter_WriteAttribute(global, r->ref, (uint32_t)r->a, 0, (uint8_t)r->b);
	case GROUP:
		return read_payload(r) ? lib.GlobalDefWriter_WriteGroup(global, r->ref, (uint32_t)r->b, (uint8_t)r->a, (uint8_t)(r->a >> 8), 0,
									(uint32_t)(r->c / 8), payload.longs) : -1;
	case COMM:
		return lib.GlobalDefWriter_WriteComm(global, r->ref, (uint32_t)r->a, (uint32_t)r->b, NOTHING, 0);
	case METRIC_MEMBER:
		return lib.GlobalDefWriter_WriteMetricMember(global, r->ref, (uint32_t)r->a, 0, (uint8_t)r->b, (uint8_t)(r->b >> 8),
							     (uint8_t)(r->b >> 16), (uint8_t)(r->b >> 24), (int64_t)r->c, (uint32_t)(r->a >> 32));
	case METRIC_CLASS:
		return read_payload(r) ? lib.GlobalDefWriter_WriteMetricClass(global, r->ref, (uint8_t)(r->c / 4), payload.words, (uint8_t)r->a, 0)
				       : -1;
	case PARAMETER:
		return lib.GlobalDefWriter_WriteParameter(global, r->ref, (uint32_t)r->a, (uint8_t)r->b);
	case LOCATION_BEGIN:
		return begin(r->a);
	case EVENT_ATTRIBUTE:
		return lib.AttributeList_AddAttribute(attributes, r->ref, (uint8_t)r->a,
						      (uint8_t)r->a == TYPE_STRING ? (otf2_attribute){ .stringRef = (uint32_t)r->b }
										   : (otf2_attribute){ .uint64 = r->b });
	case ENTER:
	case LEAVE:
	case SEND:
	case RECEIVE:
	case METRIC:
	case PARAMETER_STRING:
		return event(r);
	default:
		return -1;
	}
}

static bool close_archive(void)
{
	bool good = true;

	for (size_t i = 0; i < n_locations; i++)
		good = lib.Archive_CloseEvtWriter(archive, locations[i].writer) == OTF2_OK && good;
	good = lib.Archive_CloseEvtFiles(archive) == OTF2_OK && good;
	good = lib.Archive_CloseDefFiles(archive) == OTF2_OK && good;
	good = lib.Archive_CloseGlobalDefWriter(archive, global) == OTF2_OK && good;
	return lib.Archive_Close(archive) == OTF2_OK && good;
}

int cmd_otf2_write(const struct mt_args *a)
{
	static const otf2_flush flush = { .otf2_pre_flush = before_flush, .otf2_post_flush = after_flush };
	char magic[sizeof MAGIC - 1];
	uint64_t n = 0;
	struct record r;

	if (isatty(STDIN_FILENO))
		return mt_fail(a, MT_EXIT_USAGE, "the records are from a program; send them through a pipe or from a file");
	if (!load())
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s", mt_otf2_error);
	lib.Error_RegisterCallback(mt_otf2_on_error, NULL);
	if (fread(magic, sizeof magic, 1, stdin) != 1 || memcmp(magic, MAGIC, sizeof magic))
		return mt_fail(a, MT_EXIT_INPUT, "standard input does not begin with %.15s", MAGIC);
	archive = lib.Archive_Open(a->argv[0], "traces", 0, CHUNK_EVENTS, CHUNK_DEFINITIONS, 1, 1);
	if (!archive || lib.Archive_SetFlushCallbacks(archive, &flush, NULL) || lib.Archive_SetSerialCollectiveCallbacks(archive) ||
	    lib.Archive_SetCreator(archive, "memtrace") || lib.Archive_OpenEvtFiles(archive) || lib.Archive_OpenDefFiles(archive) ||
	    !(global = lib.Archive_GetGlobalDefWriter(archive)) || !(attributes = lib.AttributeList_New()))
		return mt_fail(a, MT_EXIT_INTERNAL, "%s cannot be written: %s", a->argv[0], mt_otf2_error);
	while (fread(&r, sizeof r, 1, stdin) == 1 && r.kind != STREAM_END) {
		n++;
		if (take(&r) != OTF2_OK) {
			fprintf(stderr, "memtrace otf2-write: %s: record %llu of kind %u: %s\n", a->argv[0], (unsigned long long)n, r.kind,
				*mt_otf2_error ? mt_otf2_error : "is not as it should be");
			_exit(MT_EXIT_INPUT);	/* closing what is half written can crash the library */
		}
		r.kind = 0;
	}
	if (r.kind != STREAM_END) {
		fprintf(stderr, "memtrace otf2-write: %s: the records end too early\n", a->argv[0]);
		_exit(MT_EXIT_INPUT);
	}
	if (!close_archive())
		return mt_fail(a, MT_EXIT_INTERNAL, "%s cannot be written: %s", a->argv[0], mt_otf2_error);
	free(locations);
	return MT_EXIT_OK;
}
