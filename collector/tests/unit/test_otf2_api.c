/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* What cli/otf2/otf2_api.h says of libotf2 is what the library's own headers say, if they are here (libopen-trace-format2-dev). */
#include "harness.h"

#if __has_include(<otf2/otf2.h>)
#define MT_OTF2_HEADERS
#include "cli/otf2/otf2_api.h"

#define SAME(a, b) CHECK(__builtin_types_compatible_p(a, b));
#define FUNCTION(result, name, ...) SAME(result (*)(__VA_ARGS__), __typeof__(&OTF2_##name))
#define DEFINITION(name, ...)							\
	SAME(otf2_def_##name, OTF2_GlobalDefReaderCallback_##name)		\
	SAME(otf2_error (*)(otf2_global_callbacks *, otf2_def_##name),		\
	     __typeof__(&OTF2_GlobalDefReaderCallbacks_Set##name##Callback))
#define EVENT(name, ...)							\
	SAME(otf2_evt_##name, OTF2_EvtReaderCallback_##name)			\
	SAME(otf2_error (*)(otf2_event_callbacks *, otf2_evt_##name),		\
	     __typeof__(&OTF2_EvtReaderCallbacks_Set##name##Callback))

int main(void)
{
	OTF2_FUNCTIONS(FUNCTION)
	OTF2_WRITE_FUNCTIONS(FUNCTION)
	OTF2_DEFINITIONS(DEFINITION)
	OTF2_EVENTS(EVENT)
	CHECK_EQ(OTF2_SUCCESS, OTF2_OK);
	CHECK_EQ(OTF2_CALLBACK_SUCCESS, OTF2_OK);
	CHECK_EQ(sizeof(OTF2_AttributeValue), 8);
	CHECK_EQ(sizeof(OTF2_MetricValue), 8);
	SAME(uint8_t, OTF2_FileType)
	SAME(OTF2_PreFlushCallback, uint8_t (*)(void *, uint8_t, uint64_t, void *, bool))
	SAME(OTF2_PostFlushCallback, uint64_t (*)(void *, uint8_t, uint64_t))
	CHECK_EQ(offsetof(OTF2_FlushCallbacks, otf2_post_flush), sizeof(void *));
	return mt_test_done();
}
#else
#include "cli/otf2/otf2_api.h"

int main(void)
{
	CHECK_EQ(sizeof(otf2_attribute), 8);
	CHECK_EQ(sizeof(otf2_metric), 8);
	printf("the headers of libotf2 are not here: nothing was compared\n");
	return mt_test_done();
}
#endif
