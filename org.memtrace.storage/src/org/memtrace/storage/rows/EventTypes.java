// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.rows;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;

/**
 * The event types of a memory trace. 0 to 3 are {@code Private_Read}, {@code Private_Write}, {@code Shared_Read} and
 * {@code Shared_Write}; the four types of thread index {@code t} begin with {@code 4 + 4 * t}, those of accesses without a
 * thread come after all threads. Where it is not known of some accesses whether they are shared, all these are there, and after them
 * {@code NotKnown_Read} and {@code NotKnown_Write}, then two for each thread, and two for accesses without one.
 */
public final class EventTypes {
	private static final String[] NAMES = { EventType.PRIVATE_READ, EventType.PRIVATE_WRITE, EventType.SHARED_READ,
			EventType.SHARED_WRITE };
	private static final String[] NOT_KNOWN = { EventType.NOT_KNOWN_READ, EventType.NOT_KNOWN_WRITE };

	private EventTypes() {
	}

	/**
	 * Type of the reads or writes of an access by the number of threads that used its page at the time.
	 *
	 * @param threads number of threads
	 */
	public static int of(int threads, int sharing, boolean write) {
		int first = sharing == AccessBatch.SHARING_NOT_KNOWN ? NAMES.length * (2 + threads) : sharing > 1 ? 2 : 0;
		return first + (write ? 1 : 0);
	}

	/**
	 * The type of an access where each thread has types of its own.
	 *
	 * @param thread index, or {@link AccessBatch#NO_THREAD}
	 * @param threads number of threads
	 */
	public static int of(int thread, int threads, int sharing, boolean write) {
		int place = 1 + (thread == AccessBatch.NO_THREAD ? threads : thread);
		int each = sharing == AccessBatch.SHARING_NOT_KNOWN ? NOT_KNOWN.length : NAMES.length;
		return each * place + of(threads, sharing, write);
	}

	/**
	 * All types.
	 *
	 * @param withUnknownThread whether there are accesses without a thread
	 * @param sharingNotKnown whether there are accesses of which it is not known whether they are shared
	 */
	public static List<EventType> of(List<ThreadInfo> threads, boolean withUnknownThread, boolean sharingNotKnown) {
		List<EventType> types = new ArrayList<>();
		List<String> suffixes = suffixes(threads, withUnknownThread || sharingNotKnown);
		suffixes.forEach(s -> add(types, NAMES, s));
		if (sharingNotKnown) {
			suffixes.forEach(s -> add(types, NOT_KNOWN, s));
		}
		return List.copyOf(types);
	}

	private static List<String> suffixes(List<ThreadInfo> threads, boolean withUnknownThread) {
		List<String> suffixes = new ArrayList<>(List.of(""));
		Set<String> used = new HashSet<>();
		for (ThreadInfo thread : threads) {
			String suffix = "_T" + thread.taskId();
			if (!used.add(suffix)) { // the same number in another process image
				suffix += "_p" + thread.image();
				while (!used.add(suffix)) {
					suffix += "_";
				}
			}
			suffixes.add(suffix);
		}
		if (withUnknownThread) {
			suffixes.add("_T" + AccessBatch.NO_THREAD);
		}
		return suffixes;
	}

	private static void add(List<EventType> types, String[] names, String suffix) {
		for (String name : names) {
			types.add(new EventType(types.size(), EventCategory.VARIABLE, name + suffix));
		}
	}
}
