#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Writes example.base64 with Perfetto's own definitions: pip install perfetto==0.59.1 protobuf==7.36.2, then ./make.py"""
import base64
import pathlib
import zlib

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

BEGIN, END, INSTANT, COUNTER = (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END, TrackEvent.TYPE_INSTANT, TrackEvent.TYPE_COUNTER)
APP, MAIN, WORKER, QUEUE, MEMORY, CYCLES, LATE = 10, 11, 12, 13, 14, 15, 16
trace = Trace()


def packet(writer=1, to=trace, **values):
    p = to.packet.add(trusted_packet_sequence_id=writer, **values)
    return p


# the writer of the program: its own clock that counts from packet to packet, names by number
p = packet(sequence_flags=1, first_packet_on_sequence=True, previous_packet_dropped=1)
for clock, time in ((6, 1_000_000), (3, 400_000)):
    p.clock_snapshot.clocks.add(clock_id=clock, timestamp=time)
p.clock_snapshot.clocks.add(clock_id=64, timestamp=1_000_000, is_incremental=True)
p.clock_snapshot.primary_trace_clock = 6
p.trace_packet_defaults.timestamp_clock_id = 64
p.trace_packet_defaults.track_event_defaults.track_uuid = MAIN
p.trace_packet_defaults.track_event_defaults.extra_counter_track_uuids.append(CYCLES)
p = packet()
p.track_descriptor.uuid = APP
p.track_descriptor.process.pid = 4711
p.track_descriptor.process.process_name = "app"
p = packet()
p.track_descriptor.uuid = MAIN
p.track_descriptor.parent_uuid = APP
p.track_descriptor.thread.pid, p.track_descriptor.thread.tid, p.track_descriptor.thread.thread_name = 4711, 4711, "main"
p = packet()
p.track_descriptor.uuid, p.track_descriptor.parent_uuid, p.track_descriptor.name = CYCLES, MAIN, "cycles"
p.track_descriptor.counter.is_incremental, p.track_descriptor.counter.unit_multiplier = True, 1000
p = packet(timestamp=500, sequence_flags=2)
p.interned_data.event_names.add(iid=1, name="solve")
p.interned_data.event_names.add(iid=2, name="sweep")
p.interned_data.debug_annotation_names.add(iid=7, name="size")
p.track_event.type, p.track_event.name_iid = BEGIN, 1
p.track_event.extra_counter_values.append(5)
a = p.track_event.debug_annotations.add(name_iid=7)
a.uint_value = 4096
p = packet(timestamp=100, sequence_flags=2)
p.track_event.type, p.track_event.name_iid = BEGIN, 2
p.track_event.extra_counter_values.append(7)
p.track_event.flow_ids.append(99)
a = p.track_event.debug_annotations.add(name="where")
e = a.dict_entries.add(name="file")
e.string_value = "a.c"
e = a.dict_entries.add(name="lines")
e.array_values.add().int_value = -1
e.array_values.add().int_value = 2
p = packet(timestamp=250, sequence_flags=2)
p.track_event.type = END
p = packet(timestamp=50, sequence_flags=2)
p.track_event.type, p.track_event.name = INSTANT, "mark"
p = packet(timestamp=100, sequence_flags=2)
p.track_event.type = END

# another writer, with times of CLOCK_MONOTONIC, packets that were lost, and a thread whose name comes last
p = packet(2, timestamp=401_000, timestamp_clock_id=3, sequence_flags=2)
p.track_event.type, p.track_event.name_iid, p.track_event.track_uuid = BEGIN, 1, WORKER
p = packet(2, timestamp=402_000, timestamp_clock_id=3, sequence_flags=1)
p.track_event.type, p.track_event.name, p.track_event.track_uuid = BEGIN, "wait", WORKER
p.track_event.terminating_flow_ids.append(99)
p = packet(2, timestamp=404_000, timestamp_clock_id=3)
p.track_event.type, p.track_event.track_uuid = END, WORKER
p = packet(2, timestamp=404_000, timestamp_clock_id=3, previous_packet_dropped=1)
p.track_event.type, p.track_event.track_uuid = END, WORKER
p = packet(2, timestamp=404_500, timestamp_clock_id=3)
p.track_event.type, p.track_event.name, p.track_event.track_uuid = BEGIN, "never ends", WORKER

# a queue of the process, compressed; a counter
inner = Trace()
for time, kind, name in ((1_000_100, BEGIN, "request"), (1_000_900, END, "")):
    p = packet(3, inner, timestamp=time)
    p.track_event.type, p.track_event.track_uuid = kind, QUEUE
    if name:
        p.track_event.name = name
trace.packet.add(compressed_packets=zlib.compress(inner.SerializeToString()))
for time, value in ((1_000_000, 1.5), (1_002_000, 2.5)):
    p = packet(3, timestamp=time)
    p.track_event.type, p.track_event.track_uuid, p.track_event.double_counter_value = COUNTER, MEMORY, value
# a track that goes back in time
for time, kind, name in ((1_003_000, BEGIN, "b"), (1_003_500, END, ""), (1_001_000, BEGIN, "a"), (1_002_000, END, "")):
    p = packet(3, timestamp=time)
    p.track_event.type, p.track_event.track_uuid = kind, LATE
    if name:
        p.track_event.name = name
for uuid, parent, name in ((QUEUE, APP, "queue"), (MEMORY, APP, "memory"), (LATE, 0, "late")):
    p = packet(3)
    p.track_descriptor.uuid, p.track_descriptor.parent_uuid, p.track_descriptor.name = uuid, parent, name
    if uuid == MEMORY:
        p.track_descriptor.counter.unit_name = "MB"
p = packet(2)
p.track_descriptor.uuid = WORKER
p.track_descriptor.thread.pid, p.track_descriptor.thread.tid, p.track_descriptor.thread.thread_name = 4711, 4712, "worker"
# what is not imported, and what was lost
p = packet(4)
p.ftrace_events.cpu = 0
p.ftrace_events.event.add(timestamp=1_000_000, pid=1)
p = packet(4)
p.trace_stats.buffer_stats.add(trace_writer_packet_loss=3, chunks_overwritten=2)
p = packet(4, timestamp=5, timestamp_clock_id=99)
p.track_event.type, p.track_event.name = INSTANT, "nowhere"

data = trace.SerializeToString()
text = base64.encodebytes(data).decode()
(pathlib.Path(__file__).parent / "example.base64").write_text(text)
print(len(data), "bytes,", len(trace.packet), "packets")
