// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.time.Instant;
import java.util.Map;

/**
 * What the catalogue knows about a trace (FrameSoc's TRACE row and its parameters).
 *
 * @param id number in the catalogue, -1 when the trace is in no catalogue
 * @param alias display name
 * @param databaseName name of the trace database in the directory of the catalogue
 * @param type trace format, {@code memtrace} for ours
 * @param application traced program
 * @param host board, machine
 * @param operatingSystem kernel and system
 * @param cpus number of CPUs of the machine, 0 unknown
 * @param events number of rows of FrameSoc's EVENT
 * @param producers number of event producers
 * @param startNs time of the first event
 * @param endNs time after the last event; {@code startNs < endNs}
 * @param recordedAt when it was recorded
 * @param pageSizeBytes size of a page, 0 when it is no memory trace
 * @param description free text
 * @param properties further properties (command, backend, guarantee, losses, ...), sorted keys
 */
public record TraceInfo(int id, String alias, String databaseName, String type, String application, String host,
		String operatingSystem, int cpus, long events, int producers, long startNs, long endNs, Instant recordedAt,
		int pageSizeBytes, String description, Map<String, String> properties) {
	/** Property of traces of monitors, followed by the name of a variable: smallest and largest value ("-": observed), 1 for a log scale. */
	public static final String PROPERTY_SCALE = "monitor_scale ";
	/** Type of the traces that our collectors record. */
	public static final String TYPE_MEMTRACE = "memtrace";
	/** Begin of the properties that are settings of the kernel, such as {@code setting_numa_balancing}. */
	public static final String PROPERTY_SETTING = "setting_";
	/** Begin of the properties that are variables of the environment which change what programs and their libraries do. */
	public static final String PROPERTY_ENVIRONMENT = "environment_";
	/** The names of these variables. */
	public static final String ENVIRONMENT_OF_PROGRAMS = "(OMP|GOMP|KMP|MALLOC|GLIBC|MKL|OPENBLAS|NUMA|TBB)_.*|LD_PRELOAD|LD_LIBRARY_PATH";
	/** Property: a sentence about records of pages that may not have been touched; absent when there are none. */
	public static final String PROPERTY_MAYBE_UNTOUCHED = "maybe_untouched";
	/** Property: a sentence about records of memory that several processes may have; absent when there are none. */
	public static final String PROPERTY_NOT_PRIVATE = "not_private";
	/** Property: a sentence about intervals that took longer than they should; absent when none did. */
	public static final String PROPERTY_LATE = "late_intervals";
	/** Property: by which part of its time recording made the run longer, at least; absent: not known. */
	public static final String PROPERTY_SLOWER_LOW = "overhead_wall_share_low";
	/** Property: the same, at most. */
	public static final String PROPERTY_SLOWER_HIGH = "overhead_wall_share_high";
	/** How many ticks of the CPU clock there are, as a sentence, or why there are none; empty: the recorder was to take none. */
	public static final String PROPERTY_TICKS = "ticks";
	/** Property: what memory cost on the machine, for {@link org.memtrace.model.memory.MeasuredMachine}; absent: not measured. */
	public static final String PROPERTY_MEASURED = "measured";
	/** Property: a sentence about blocks that no structure stands for, as too many lived too shortly; absent when there are none. */
	public static final String PROPERTY_UNLISTED = "unlisted_blocks";
	/** Property: a sentence about the part of the time in which accesses were counted; absent when it was all of it. */
	public static final String PROPERTY_WINDOWS = "windows";
	/** The name of the property with the sentence about processes of the program that were not recorded. */
	public static final String PROPERTY_UNRECORDED = "unrecorded";
	/** The name of the property with how many of them the recorder could not reach; not there: none. */
	public static final String PROPERTY_UNREACHED = "unreached";
	/** The name of the property that is there when of some accesses it is not known whether the memory was shared; stores set it. */
	public static final String PROPERTY_SHARING_NOT_KNOWN = "sharing_not_known";
	/** The name of the property with the sentence about memory of the program that the recorder did not see. */
	public static final String PROPERTY_UNSEEN = "unseen";
	/** The name of the property with the sentence that all memory was seen; without this and {@link #PROPERTY_UNSEEN} it is not known. */
	public static final String PROPERTY_ALL_SEEN = "all_seen";

	public TraceInfo {
		properties = Map.copyOf(properties);
	}

	public long durationNs() {
		return endNs - startNs;
	}

	/** This trace with another description and other properties. */
	public TraceInfo described(String newDescription, Map<String, String> newProperties) {
		return new TraceInfo(id, alias, databaseName, type, application, host, operatingSystem, cpus, events, producers, startNs,
				endNs, recordedAt, pageSizeBytes, newDescription, newProperties);
	}

	/** What its times count. */
	public TimeUnit timeUnit() {
		return TimeUnit.of(properties.get(TimeUnit.PROPERTY));
	}

	/** What its numbers of reads and writes count, and the word for it. */
	public CountUnit counts() {
		return CountUnit.of(type, properties);
	}

	/** Whether of all accesses it is known whether the memory was private or shared at that time. */
	public boolean isSharingKnown() {
		return !properties.containsKey(PROPERTY_SHARING_NOT_KNOWN);
	}

	/** Whether its times are ticks of a logical clock and no nanoseconds. */
	public boolean isInTicks() {
		return timeUnit() == TimeUnit.TICK;
	}

	/** This trace with the numbers that a store has given to it. */
	public TraceInfo stored(int newId, String newAlias, String newDatabaseName, long newEvents, int newProducers) {
		return new TraceInfo(newId, newAlias, newDatabaseName, type, application, host, operatingSystem, cpus, newEvents,
				newProducers, startNs, endNs, recordedAt, pageSizeBytes, description, properties);
	}

	/** For what part of the run accesses were counted; empty when it was all of it. */
	public String windows() {
		return properties.getOrDefault(PROPERTY_WINDOWS, "");
	}
}
