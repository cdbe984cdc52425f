/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace otf2-stream: an OTF2 archive as a stream of plain records, for the
 * importer, which is Java. Reading is libotf2's, loaded here and nowhere else:
 * a damaged archive on which it crashes is an exit code for the importer.
 *
 * Each location is read by a reader of its own, to its end or its first error;
 * the library's own global reader gives nothing when one file is missing.
 * docs/reference/otf2-stream.md describes the records. One thread.
 */
#include "cli/table/args.h"
#include "cli/table/native.h"
#include "cli/otf2/otf2_library.h"
#include "cli/base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (1 << 20)

static struct {
#define FIELD(result, name, ...) result (*name)(__VA_ARGS__);
	OTF2_FUNCTIONS(FIELD)
#undef FIELD
} lib;

static char buffer[BUFFER];
static size_t used;
static uint64_t delivered;		/* events of this location that have a record */
static uint64_t *locations;
static size_t n_locations, cap_locations;

static void flush(void)
{
	size_t done = 0;

	while (done < used) {
		ssize_t n = write(STDOUT_FILENO, buffer + done, used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(MT_EXIT_CANCELLED);	/* the importer went away */
		done += (size_t)n;
	}
	used = 0;
}

static void put_bytes(const void *bytes, size_t n)
{
	while (n) {
		size_t part = n < BUFFER - used ? n : BUFFER - used;

		memcpy(buffer + used, bytes, part);
		used += part;
		bytes = (const char *)bytes + part;
		n -= part;
		if (used == BUFFER)
			flush();
	}
}

static void put(uint32_t kind, uint64_t a, uint32_t ref, uint64_t b, uint64_t c)
{
	struct record r = { .a = a, .kind = kind, .ref = ref, .b = b, .c = c };

	put_bytes(&r, sizeof r);
}

static void put_payload(uint32_t kind, uint64_t a, uint32_t ref, uint64_t b, const void *bytes, size_t n)
{
	static const char zeros[8];

	put(kind, a, ref, b, n);
	put_bytes(bytes, n);
	put_bytes(zeros, (8 - n % 8) % 8);
}

/* ---- definitions */

#define DEFINITION(name, ...) static otf2_next on_##name(void *user __attribute__((unused)), ##__VA_ARGS__)
#define UNUSED __attribute__((unused))

DEFINITION(ClockProperties, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
	put(CLOCK, resolution, 0, offset, length);
	put(REALTIME, realtime, 0, 0, 0);
	return OTF2_OK;
}

DEFINITION(String, uint32_t self, const char *text)
{
	put_payload(STRING, 0, self, 0, text, strlen(text));
	return OTF2_OK;
}

DEFINITION(Attribute, uint32_t self, uint32_t name, uint32_t description UNUSED, uint8_t type)
{
	put(ATTRIBUTE, name, self, type, 0);
	return OTF2_OK;
}

DEFINITION(SystemTreeNode, uint32_t self, uint32_t name, uint32_t class_name, uint32_t parent)
{
	put(TREE_NODE, name, self, class_name, parent);
	return OTF2_OK;
}

DEFINITION(LocationGroup, uint32_t self, uint32_t name, uint8_t type, uint32_t parent, uint32_t creator UNUSED)
{
	put(LOCATION_GROUP, name, self, parent, type);
	return OTF2_OK;
}

DEFINITION(Location, uint64_t self, uint32_t name, uint8_t type, uint64_t events UNUSED, uint32_t group)
{
	put(LOCATION, self, group, name, type);
	MT_GROW(locations, n_locations, cap_locations);
	locations[n_locations++] = self;
	return OTF2_OK;
}

DEFINITION(Region, uint32_t self, uint32_t name, uint32_t canonical UNUSED, uint32_t description UNUSED, uint8_t role, uint8_t paradigm,
	   uint32_t flags UNUSED, uint32_t file, uint32_t begin_line, uint32_t end_line UNUSED)
{
	put(REGION, name, self, role | (uint64_t)paradigm << 8, file | (uint64_t)begin_line << 32);
	return OTF2_OK;
}

DEFINITION(Group, uint32_t self, uint32_t name, uint8_t type, uint8_t paradigm, uint32_t flags UNUSED, uint32_t n, const uint64_t *members)
{
	put_payload(GROUP, type | (uint64_t)paradigm << 8, self, name, members, n * sizeof *members);
	return OTF2_OK;
}

DEFINITION(MetricMember, uint32_t self, uint32_t name, uint32_t description UNUSED, uint8_t type, uint8_t mode, uint8_t value, uint8_t base,
	   int64_t exponent, uint32_t unit)
{
	put(METRIC_MEMBER, name | (uint64_t)unit << 32, self, type | (uint64_t)mode << 8 | (uint64_t)value << 16 | (uint64_t)base << 24,
	    (uint64_t)exponent);
	return OTF2_OK;
}

DEFINITION(MetricClass, uint32_t self, uint8_t n, const uint32_t *members, uint8_t occurrence, uint8_t recorder UNUSED)
{
	put_payload(METRIC_CLASS, occurrence, self, 0, members, n * sizeof *members);
	return OTF2_OK;
}

DEFINITION(MetricInstance, uint32_t self, uint32_t metric_class, uint64_t recorder UNUSED, uint8_t scope_type UNUSED, uint64_t scope UNUSED)
{
	put(METRIC_INSTANCE, metric_class, self, 0, 0);
	return OTF2_OK;
}

DEFINITION(Comm, uint32_t self, uint32_t name, uint32_t group, uint32_t parent UNUSED, uint32_t flags UNUSED)
{
	put(COMM, name, self, group, 0);
	return OTF2_OK;
}

DEFINITION(InterComm, uint32_t self, uint32_t name, uint32_t group_a, uint32_t group_b, uint32_t common UNUSED, uint32_t flags UNUSED)
{
	put(INTER_COMM, name, self, group_a, group_b);
	return OTF2_OK;
}

DEFINITION(Parameter, uint32_t self, uint32_t name, uint8_t type)
{
	put(PARAMETER, name, self, type, 0);
	return OTF2_OK;
}

DEFINITION(CallingContext, uint32_t self, uint32_t region, uint32_t place UNUSED, uint32_t parent)
{
	put(CALLING_CONTEXT, region, self, parent, 0);
	return OTF2_OK;
}

DEFINITION(IoRegularFile, uint32_t self, uint32_t name, uint32_t scope UNUSED)
{
	put(IO_FILE, name, self, 0, 0);
	return OTF2_OK;
}

DEFINITION(IoHandle, uint32_t self, uint32_t name, uint32_t file, uint8_t paradigm UNUSED, uint32_t flags UNUSED, uint32_t comm UNUSED,
	   uint32_t parent UNUSED)
{
	put(IO_HANDLE, name, self, file, 0);
	return OTF2_OK;
}

/* ---- events */

/* What an event is told beside its own arguments; the record of the event follows. */
static void attributes(const otf2_list *list)
{
	uint32_t n = list ? lib.AttributeList_GetNumberOfElements(list) : 0;

	delivered++;
	for (uint32_t i = 0; i < n; i++) {
		otf2_attribute value = { .uint64 = 0 };
		uint32_t attribute;
		uint8_t type;

		if (!lib.AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value))
			put(EVENT_ATTRIBUTE, type, attribute, value.uint64, 0);
	}
}

/* EVENT(name, the record, its own arguments...) */
#define EVENT(name, record, ...)								\
	static otf2_next on_##name(uint64_t location UNUSED, uint64_t time, uint64_t position UNUSED, void *user UNUSED,	\
				   otf2_list *list, ##__VA_ARGS__)				\
	{											\
		attributes(list);								\
		record;										\
		return OTF2_OK;									\
	}

EVENT(Enter, put(ENTER, time, region, 0, 0), uint32_t region)
EVENT(Leave, put(LEAVE, time, region, 0, 0), uint32_t region)
EVENT(BufferFlush, put(FLUSH, time, 0, stop, 0), uint64_t stop)
EVENT(MeasurementOnOff, put(MEASUREMENT, time, mode, 0, 0), uint8_t mode)
EVENT(CallingContextEnter, put(CONTEXT_ENTER, time, context, unwind, 0), uint32_t context, uint32_t unwind)
EVENT(CallingContextLeave, put(CONTEXT_LEAVE, time, context, 0, 0), uint32_t context)
EVENT(CallingContextSample, put(CONTEXT_SAMPLE, time, context, unwind, 0), uint32_t context, uint32_t unwind, uint32_t generator UNUSED)
EVENT(MpiSend, put(SEND, time, receiver, comm | (uint64_t)tag << 32, bytes), uint32_t receiver, uint32_t comm, uint32_t tag, uint64_t bytes)
EVENT(MpiIsend, put(SEND, time, receiver, comm | (uint64_t)tag << 32, bytes), uint32_t receiver, uint32_t comm, uint32_t tag,
      uint64_t bytes,
      uint64_t request UNUSED)
EVENT(MpiIsendComplete, put(REQUEST, time, 0, request, 0), uint64_t request)
EVENT(MpiIrecvRequest, put(REQUEST, time, 1, request, 0), uint64_t request)
EVENT(MpiRecv, put(RECEIVE, time, sender, comm | (uint64_t)tag << 32, bytes), uint32_t sender, uint32_t comm, uint32_t tag, uint64_t bytes)
EVENT(MpiIrecv, put(RECEIVE, time, sender, comm | (uint64_t)tag << 32, bytes), uint32_t sender, uint32_t comm, uint32_t tag, uint64_t bytes,
      uint64_t request UNUSED)
EVENT(MpiCollectiveBegin, put(COLLECTIVE_BEGIN, time, 0, 0, 0))
EVENT(MpiCollectiveEnd, put(COLLECTIVE_END, time, comm, sent, received), uint8_t operation UNUSED, uint32_t comm, uint32_t root UNUSED,
      uint64_t sent, uint64_t received)
EVENT(NonBlockingCollectiveComplete, put(COLLECTIVE_END, time, comm, sent, received), uint8_t operation UNUSED, uint32_t comm,
      uint32_t root UNUSED, uint64_t sent, uint64_t received, uint64_t request UNUSED)
EVENT(ParameterString, put(PARAMETER_STRING, time, parameter, text, 0), uint32_t parameter, uint32_t text)
EVENT(ParameterInt, put(PARAMETER_INT, time, parameter, (uint64_t)value, 0), uint32_t parameter, int64_t value)
EVENT(ParameterUnsignedInt, put(PARAMETER_UNSIGNED, time, parameter, value, 0), uint32_t parameter, uint64_t value)
EVENT(ThreadFork, put(THREAD_FORK, time, threads, 0, 0), uint8_t model UNUSED, uint32_t threads)
EVENT(ThreadJoin, put(THREAD_JOIN, time, 0, 0, 0), uint8_t model UNUSED)
EVENT(ThreadTeamBegin, put(TEAM_BEGIN, time, team, 0, 0), uint32_t team)
EVENT(ThreadTeamEnd, put(TEAM_END, time, team, 0, 0), uint32_t team)
EVENT(ThreadAcquireLock, put(LOCK_ACQUIRE, time, lock, order, 0), uint8_t model UNUSED, uint32_t lock, uint32_t order)
EVENT(ThreadReleaseLock, put(LOCK_RELEASE, time, lock, order, 0), uint8_t model UNUSED, uint32_t lock, uint32_t order)
EVENT(ThreadTaskCreate, put(TASK_CREATE, time, team, thread, generation), uint32_t team, uint32_t thread, uint32_t generation)
EVENT(ThreadTaskSwitch, put(TASK_SWITCH, time, team, thread, generation), uint32_t team, uint32_t thread, uint32_t generation)
EVENT(ThreadTaskComplete, put(TASK_COMPLETE, time, team, thread, generation), uint32_t team, uint32_t thread, uint32_t generation)
EVENT(ThreadCreate, put(THREAD_CREATE, time, contingent, sequence, 0), uint32_t contingent, uint64_t sequence)
EVENT(ThreadBegin, put(THREAD_BEGIN, time, contingent, sequence, 0), uint32_t contingent, uint64_t sequence)
EVENT(ThreadWait, put(THREAD_WAIT, time, contingent, sequence, 0), uint32_t contingent, uint64_t sequence)
EVENT(ThreadEnd, put(THREAD_END, time, contingent, sequence, 0), uint32_t contingent, uint64_t sequence)
EVENT(IoCreateHandle, put(IO_CREATE, time, handle, mode, 0), uint32_t handle, uint8_t mode,
      uint32_t creation UNUSED, uint32_t status UNUSED)
EVENT(IoDestroyHandle, put(IO_DESTROY, time, handle, 0, 0), uint32_t handle)
EVENT(IoSeek, put(IO_SEEK, time, handle, offset, 0), uint32_t handle, int64_t request UNUSED, uint8_t whence UNUSED, uint64_t offset)
EVENT(IoOperationBegin, put(IO_BEGIN, time, handle, mode, matching), uint32_t handle, uint8_t mode, uint32_t flags UNUSED,
      uint64_t bytes UNUSED, uint64_t matching)
EVENT(IoOperationComplete, put(IO_COMPLETE, time, handle, bytes, matching), uint32_t handle, uint64_t bytes, uint64_t matching)
EVENT(ProgramBegin, put(PROGRAM_BEGIN, time, program, 0, 0), uint32_t program, uint32_t n UNUSED, const uint32_t *arguments UNUSED)
EVENT(ProgramEnd, put(PROGRAM_END, time, 0, (uint64_t)status, 0), int64_t status)

/* The values are pairs {u64 type, u64 bits}. */
EVENT(Metric, {
	uint64_t values[2 * UINT8_MAX];

	for (int i = 0; i < n; i++) {
		values[2 * i] = types[i];
		values[2 * i + 1] = metrics[i].unsigned_int;
	}
	put_payload(METRIC, time, metric, n, values, 2 * n * sizeof *values);
}, uint32_t metric, uint8_t n, const uint8_t *types, const otf2_metric *metrics)

/* ---- the library */

/* The library with its callbacks; false with a sentence in mt_otf2_error. */
static bool load(otf2_global_callbacks **global, otf2_event_callbacks **events)
{
	void *library = mt_otf2_library();

	if (!library)
		return false;
#define LOAD(result, name, ...) lib.name = (result (*)(__VA_ARGS__))mt_otf2_symbol(library, "OTF2_" #name);
	OTF2_FUNCTIONS(LOAD)
#undef LOAD
	if (*mt_otf2_error)
		return false;
	*global = lib.GlobalDefReaderCallbacks_New();
	*events = lib.EvtReaderCallbacks_New();
#define SET(type, kind, callbacks, name)								\
	do {											\
		otf2_error (*set)(type *, otf2_##kind##_##name) = (otf2_error (*)(type *, otf2_##kind##_##name))mt_otf2_symbol(library, \
			"OTF2_" callbacks "_Set" #name "Callback");				\
		if (set)									\
			set(kind##_target, on_##name);						\
	} while (0);
#define def_target *global
#define evt_target *events
#define SET_DEFINITION(name, ...) SET(otf2_global_callbacks, def, "GlobalDefReaderCallbacks", name)
#define SET_EVENT(name, ...) SET(otf2_event_callbacks, evt, "EvtReaderCallbacks", name)
	OTF2_DEFINITIONS(SET_DEFINITION)
	OTF2_EVENTS(SET_EVENT)
	return !*mt_otf2_error;
}

/* What the references of a location's events mean; false when that cannot be known. */
static bool local_definitions(otf2_reader *reader, uint64_t location)
{
	otf2_local *local = lib.Reader_GetDefReader(reader, location);
	uint64_t n;
	bool good;

	if (!local) {		/* nothing to be mapped, as libotf2's own tools take it */
		*mt_otf2_error = '\0';
		return true;
	}
	good = lib.Reader_ReadAllLocalDefinitions(reader, local, &n) == OTF2_OK;
	lib.Reader_CloseDefReader(reader, local);
	return good;
}

static void read_location(otf2_reader *reader, uint64_t location, const otf2_event_callbacks *callbacks)
{
	otf2_events *events;
	otf2_error rc = OTF2_OK;
	uint64_t n = 0;

	delivered = 0;
	put(LOCATION_BEGIN, location, 0, 0, 0);
	if (local_definitions(reader, location)) {
		events = lib.Reader_GetEvtReader(reader, location);
		if (events) {
			lib.Reader_RegisterEvtCallbacks(reader, events, callbacks, NULL);
			rc = lib.Reader_ReadAllLocalEvents(reader, events, &n);
			lib.Reader_CloseEvtReader(reader, events);
		} else if (!*mt_otf2_error) {
			snprintf(mt_otf2_error, sizeof mt_otf2_error, "its events cannot be opened");
		}
	}
	if (rc != OTF2_OK && !*mt_otf2_error)
		snprintf(mt_otf2_error, sizeof mt_otf2_error, "%s", lib.Error_GetDescription(rc));
	put_payload(LOCATION_END, n, 0, delivered, mt_otf2_error, strlen(mt_otf2_error));
	*mt_otf2_error = '\0';
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A location that is defined twice is one. */
static void sort_locations(void)
{
	size_t n = 0;

	if (n_locations)
		qsort(locations, n_locations, sizeof *locations, by_number);
	for (size_t i = 0; i < n_locations; i++)
		if (!n || locations[n - 1] != locations[i])
			locations[n++] = locations[i];
	n_locations = n;
}

int cmd_otf2_stream(const struct mt_args *a)
{
	otf2_global_callbacks *global = NULL;
	otf2_event_callbacks *events = NULL;
	otf2_global *definitions;
	otf2_reader *reader;
	uint64_t n = 0;

	if (isatty(STDOUT_FILENO))
		return mt_fail(a, MT_EXIT_USAGE, "the records are for a program; send them to a pipe or a file");
	if (!load(&global, &events))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s", mt_otf2_error);
	lib.Error_RegisterCallback(mt_otf2_on_error, NULL);
	reader = lib.Reader_Open(a->argv[0]);
	if (!reader)
		return mt_fail(a, MT_EXIT_INPUT, "%s: %s", a->argv[0], *mt_otf2_error ? mt_otf2_error : "is no OTF2 archive");
	lib.Reader_SetSerialCollectiveCallbacks(reader);
	definitions = lib.Reader_GetGlobalDefReader(reader);
	if (!definitions)
		return mt_fail(a, MT_EXIT_INPUT, "%s: its definitions cannot be read: %s", a->argv[0], mt_otf2_error);
	put_bytes(MAGIC, sizeof MAGIC - 1);
	lib.Reader_RegisterGlobalDefCallbacks(reader, definitions, global, NULL);
	lib.Reader_ReadAllGlobalDefinitions(reader, definitions, &n);
	put_payload(DEFINITIONS_END, n, 0, 0, mt_otf2_error, strlen(mt_otf2_error));
	*mt_otf2_error = '\0';
	sort_locations();
	for (size_t i = 0; i < n_locations; i++)
		lib.Reader_SelectLocation(reader, locations[i]);
	lib.Reader_OpenDefFiles(reader);
	lib.Reader_OpenEvtFiles(reader);
	*mt_otf2_error = '\0';
	for (size_t i = 0; i < n_locations; i++)
		read_location(reader, locations[i], events);
	put(STREAM_END, n_locations, 0, 0, 0);
	flush();
	free(locations);
	_exit(MT_EXIT_OK);	/* closing a damaged archive can crash the library */
}
