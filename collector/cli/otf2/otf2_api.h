/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * The part of libotf2 (soname 10, OTF2 3.x) that cmd_otf2.c calls, declared
 * here so that neither its headers nor the library are needed to build or to
 * start memtrace. tests/unit/test_otf2_api.c compares each declaration with
 * the library's own headers where these are installed.
 */
#ifndef MEMTRACE_CLI_OTF2_API_H
#define MEMTRACE_CLI_OTF2_API_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef MT_OTF2_HEADERS	/* only for the comparison */
#include <otf2/otf2.h>
typedef OTF2_ErrorCode otf2_error;
typedef OTF2_CallbackCode otf2_next;
typedef OTF2_Reader otf2_reader;
typedef OTF2_GlobalDefReader otf2_global;
typedef OTF2_GlobalDefReaderCallbacks otf2_global_callbacks;
typedef OTF2_DefReader otf2_local;
typedef OTF2_EvtReader otf2_events;
typedef OTF2_EvtReaderCallbacks otf2_event_callbacks;
typedef OTF2_AttributeList otf2_list;
typedef OTF2_AttributeValue otf2_attribute;
typedef OTF2_MetricValue otf2_metric;
typedef OTF2_Archive otf2_archive;
typedef OTF2_EvtWriter otf2_writer;
typedef OTF2_DefWriter otf2_local_writer;
typedef OTF2_GlobalDefWriter otf2_global_writer;
typedef OTF2_FlushCallbacks otf2_flush;
#else
typedef int otf2_error;			/* enum OTF2_ErrorCode */
typedef int otf2_next;			/* enum OTF2_CallbackCode */
typedef struct otf2_reader otf2_reader;
typedef struct otf2_global otf2_global;
typedef struct otf2_global_callbacks otf2_global_callbacks;
typedef struct otf2_local otf2_local;
typedef struct otf2_events otf2_events;
typedef struct otf2_event_callbacks otf2_event_callbacks;
typedef struct otf2_list otf2_list;
typedef struct otf2_archive otf2_archive;
typedef struct otf2_writer otf2_writer;
typedef struct otf2_local_writer otf2_local_writer;
typedef struct otf2_global_writer otf2_global_writer;
typedef struct {
	uint8_t (*otf2_pre_flush)(void *, uint8_t file, uint64_t location, void *caller, bool final);
	uint64_t (*otf2_post_flush)(void *, uint8_t file, uint64_t location);
} otf2_flush;
typedef union { uint64_t uint64; uint32_t stringRef; double float64; } otf2_attribute;
typedef union { int64_t signed_int; uint64_t unsigned_int; double floating_point; } otf2_metric;
#endif
#define OTF2_OK 0	/* OTF2_SUCCESS, OTF2_CALLBACK_SUCCESS */

typedef otf2_error (*otf2_error_fn)(void *, const char *file, uint64_t line, const char *function, otf2_error code,
				    const char *format, va_list va);

/* What is called: X(result, name without OTF2_, arguments...). */
#define OTF2_FUNCTIONS(X)							\
	X(otf2_error_fn, Error_RegisterCallback, otf2_error_fn, void *)		\
	X(const char *, Error_GetDescription, otf2_error)			\
	X(otf2_reader *, Reader_Open, const char *)				\
	X(otf2_error, Reader_Close, otf2_reader *)				\
	X(otf2_error, Reader_SetSerialCollectiveCallbacks, otf2_reader *)	\
	X(otf2_global *, Reader_GetGlobalDefReader, otf2_reader *)		\
	X(otf2_error, Reader_RegisterGlobalDefCallbacks, otf2_reader *, otf2_global *, const otf2_global_callbacks *, void *)	\
	X(otf2_error, Reader_ReadAllGlobalDefinitions, otf2_reader *, otf2_global *, uint64_t *)	\
	X(otf2_error, Reader_SelectLocation, otf2_reader *, uint64_t)		\
	X(otf2_error, Reader_OpenDefFiles, otf2_reader *)			\
	X(otf2_error, Reader_CloseDefFiles, otf2_reader *)			\
	X(otf2_error, Reader_OpenEvtFiles, otf2_reader *)			\
	X(otf2_local *, Reader_GetDefReader, otf2_reader *, uint64_t)		\
	X(otf2_error, Reader_ReadAllLocalDefinitions, otf2_reader *, otf2_local *, uint64_t *)	\
	X(otf2_error, Reader_CloseDefReader, otf2_reader *, otf2_local *)	\
	X(otf2_events *, Reader_GetEvtReader, otf2_reader *, uint64_t)		\
	X(otf2_error, Reader_RegisterEvtCallbacks, otf2_reader *, otf2_events *, const otf2_event_callbacks *, void *)	\
	X(otf2_error, Reader_ReadAllLocalEvents, otf2_reader *, otf2_events *, uint64_t *)	\
	X(otf2_error, Reader_CloseEvtReader, otf2_reader *, otf2_events *)	\
	X(otf2_global_callbacks *, GlobalDefReaderCallbacks_New, void)		\
	X(otf2_event_callbacks *, EvtReaderCallbacks_New, void)			\
	X(uint32_t, AttributeList_GetNumberOfElements, const otf2_list *)	\
	X(otf2_error, AttributeList_GetAttributeByIndex, const otf2_list *, uint32_t, uint32_t *, uint8_t *, otf2_attribute *)

/* What cmd_otf2_write.c calls beside the first two of those. */
#define OTF2_WRITE_FUNCTIONS(X)							\
	X(otf2_archive *, Archive_Open, const char *, const char *, uint8_t, uint64_t, uint64_t, uint8_t, uint8_t)	\
	X(otf2_error, Archive_SetFlushCallbacks, otf2_archive *, const otf2_flush *, void *)	\
	X(otf2_error, Archive_SetSerialCollectiveCallbacks, otf2_archive *)	\
	X(otf2_error, Archive_SetCreator, otf2_archive *, const char *)		\
	X(otf2_error, Archive_OpenEvtFiles, otf2_archive *)			\
	X(otf2_error, Archive_CloseEvtFiles, otf2_archive *)			\
	X(otf2_error, Archive_OpenDefFiles, otf2_archive *)			\
	X(otf2_error, Archive_CloseDefFiles, otf2_archive *)			\
	X(otf2_error, Archive_Close, otf2_archive *)				\
	X(otf2_writer *, Archive_GetEvtWriter, otf2_archive *, uint64_t)	\
	X(otf2_error, Archive_CloseEvtWriter, otf2_archive *, otf2_writer *)	\
	X(otf2_local_writer *, Archive_GetDefWriter, otf2_archive *, uint64_t)	\
	X(otf2_error, Archive_CloseDefWriter, otf2_archive *, otf2_local_writer *)	\
	X(otf2_global_writer *, Archive_GetGlobalDefWriter, otf2_archive *)	\
	X(otf2_error, Archive_CloseGlobalDefWriter, otf2_archive *, otf2_global_writer *)	\
	X(otf2_list *, AttributeList_New, void)					\
	X(otf2_error, AttributeList_AddAttribute, otf2_list *, uint32_t, uint8_t, otf2_attribute)	\
	X(otf2_error, EvtWriter_GetNumberOfEvents, otf2_writer *, uint64_t *)	\
	X(otf2_error, EvtWriter_Enter, otf2_writer *, otf2_list *, uint64_t, uint32_t)	\
	X(otf2_error, EvtWriter_Leave, otf2_writer *, otf2_list *, uint64_t, uint32_t)	\
	X(otf2_error, EvtWriter_MpiSend, otf2_writer *, otf2_list *, uint64_t, uint32_t, uint32_t, uint32_t, uint64_t)	\
	X(otf2_error, EvtWriter_MpiRecv, otf2_writer *, otf2_list *, uint64_t, uint32_t, uint32_t, uint32_t, uint64_t)	\
	X(otf2_error, EvtWriter_ParameterString, otf2_writer *, otf2_list *, uint64_t, uint32_t, uint32_t)	\
	X(otf2_error, EvtWriter_Metric, otf2_writer *, otf2_list *, uint64_t, uint32_t, uint8_t, const uint8_t *, const otf2_metric *)	\
	X(otf2_error, GlobalDefWriter_WriteClockProperties, otf2_global_writer *, uint64_t, uint64_t, uint64_t, uint64_t)	\
	X(otf2_error, GlobalDefWriter_WriteString, otf2_global_writer *, uint32_t, const char *)	\
	X(otf2_error, GlobalDefWriter_WriteAttribute, otf2_global_writer *, uint32_t, uint32_t, uint32_t, uint8_t)	\
	X(otf2_error, GlobalDefWriter_WriteSystemTreeNode, otf2_global_writer *, uint32_t, uint32_t, uint32_t, uint32_t)	\
	X(otf2_error, GlobalDefWriter_WriteLocationGroup, otf2_global_writer *, uint32_t, uint32_t, uint8_t, uint32_t, uint32_t)	\
	X(otf2_error, GlobalDefWriter_WriteLocation, otf2_global_writer *, uint64_t, uint32_t, uint8_t, uint64_t, uint32_t)	\
	X(otf2_error, GlobalDefWriter_WriteRegion, otf2_global_writer *, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t,	\
	  uint32_t, uint32_t, uint32_t, uint32_t)				\
	X(otf2_error, GlobalDefWriter_WriteGroup, otf2_global_writer *, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t, uint32_t,	\
	  const uint64_t *)							\
	X(otf2_error, GlobalDefWriter_WriteComm, otf2_global_writer *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t)	\
	X(otf2_error, GlobalDefWriter_WriteParameter, otf2_global_writer *, uint32_t, uint32_t, uint8_t)	\
	X(otf2_error, GlobalDefWriter_WriteMetricMember, otf2_global_writer *, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t, uint8_t,	\
	  uint8_t, int64_t, uint32_t)						\
	X(otf2_error, GlobalDefWriter_WriteMetricClass, otf2_global_writer *, uint32_t, uint8_t, const uint32_t *, uint8_t, uint8_t)

/* Definitions: D(name, arguments behind the user data...). */
#define OTF2_DEFINITIONS(D) \
	D(ClockProperties, uint64_t, uint64_t, uint64_t, uint64_t) \
	D(String, uint32_t, const char *) \
	D(Attribute, uint32_t, uint32_t, uint32_t, uint8_t) \
	D(SystemTreeNode, uint32_t, uint32_t, uint32_t, uint32_t) \
	D(LocationGroup, uint32_t, uint32_t, uint8_t, uint32_t, uint32_t) \
	D(Location, uint64_t, uint32_t, uint8_t, uint64_t, uint32_t) \
	D(Region, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t, uint32_t, uint32_t, uint32_t) \
	D(Group, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t, uint32_t, const uint64_t *) \
	D(MetricMember, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t, uint8_t, uint8_t, int64_t, uint32_t) \
	D(MetricClass, uint32_t, uint8_t, const uint32_t *, uint8_t, uint8_t) \
	D(MetricInstance, uint32_t, uint32_t, uint64_t, uint8_t, uint64_t) \
	D(Comm, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
	D(InterComm, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
	D(Parameter, uint32_t, uint32_t, uint8_t) \
	D(CallingContext, uint32_t, uint32_t, uint32_t, uint32_t) \
	D(IoRegularFile, uint32_t, uint32_t, uint32_t) \
	D(IoHandle, uint32_t, uint32_t, uint32_t, uint8_t, uint32_t, uint32_t, uint32_t)

/* Events: E(name, arguments behind location, time, position, user data and attributes...). */
#define OTF2_EVENTS(E) \
	E(BufferFlush, uint64_t) \
	E(MeasurementOnOff, uint8_t) \
	E(Enter, uint32_t) \
	E(Leave, uint32_t) \
	E(CallingContextEnter, uint32_t, uint32_t) \
	E(CallingContextLeave, uint32_t) \
	E(CallingContextSample, uint32_t, uint32_t, uint32_t) \
	E(MpiSend, uint32_t, uint32_t, uint32_t, uint64_t) \
	E(MpiIsend, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t) \
	E(MpiIsendComplete, uint64_t) \
	E(MpiIrecvRequest, uint64_t) \
	E(MpiRecv, uint32_t, uint32_t, uint32_t, uint64_t) \
	E(MpiIrecv, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t) \
	E(MpiCollectiveBegin) \
	E(MpiCollectiveEnd, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t) \
	E(NonBlockingCollectiveComplete, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t) \
	E(Metric, uint32_t, uint8_t, const uint8_t *, const otf2_metric *) \
	E(ParameterString, uint32_t, uint32_t) \
	E(ParameterInt, uint32_t, int64_t) \
	E(ParameterUnsignedInt, uint32_t, uint64_t) \
	E(ThreadFork, uint8_t, uint32_t) \
	E(ThreadJoin, uint8_t) \
	E(ThreadTeamBegin, uint32_t) \
	E(ThreadTeamEnd, uint32_t) \
	E(ThreadAcquireLock, uint8_t, uint32_t, uint32_t) \
	E(ThreadReleaseLock, uint8_t, uint32_t, uint32_t) \
	E(ThreadTaskCreate, uint32_t, uint32_t, uint32_t) \
	E(ThreadTaskSwitch, uint32_t, uint32_t, uint32_t) \
	E(ThreadTaskComplete, uint32_t, uint32_t, uint32_t) \
	E(ThreadCreate, uint32_t, uint64_t) \
	E(ThreadBegin, uint32_t, uint64_t) \
	E(ThreadWait, uint32_t, uint64_t) \
	E(ThreadEnd, uint32_t, uint64_t) \
	E(IoCreateHandle, uint32_t, uint8_t, uint32_t, uint32_t) \
	E(IoDestroyHandle, uint32_t) \
	E(IoSeek, uint32_t, int64_t, uint8_t, uint64_t) \
	E(IoOperationBegin, uint32_t, uint8_t, uint32_t, uint64_t, uint64_t) \
	E(IoOperationComplete, uint32_t, uint64_t, uint64_t) \
	E(ProgramBegin, uint32_t, uint32_t, const uint32_t *) \
	E(ProgramEnd, int64_t)

#define OTF2_EVENT_ARGUMENTS uint64_t, uint64_t, uint64_t, void *, otf2_list *

#define OTF2_D(name, ...) typedef otf2_next (*otf2_def_##name)(void *, ##__VA_ARGS__);
OTF2_DEFINITIONS(OTF2_D)
#undef OTF2_D
#define OTF2_E(name, ...) typedef otf2_next (*otf2_evt_##name)(OTF2_EVENT_ARGUMENTS, ##__VA_ARGS__);
OTF2_EVENTS(OTF2_E)
#undef OTF2_E

#endif
