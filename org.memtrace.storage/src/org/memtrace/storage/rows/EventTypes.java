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
 * thread come after all threads.
 */
public final class EventTypes {
	private static final String[] NAMES = { EventType.PRIVATE_READ, EventType.PRIVATE_WRITE, EventType.SHARED_READ,
			EventType.SHARED_WRITE };

	private EventTypes() {
	}

	/** Type of the reads or writes of an access by the number of threads that used its page at the time. */
	public static int of(int sharing, boolean write) {
		return (sharing > 1 ? 2 : 0) + (write ? 1 : 0);
	}

	/**
	 * The type of an access where each thread has types of its own.
	 *
	 * @param thread index, or {@link AccessBatch#NO_THREAD}
	 * @param threads number of threads
	 */
	public static int of(int thread, int threads, int sharing, boolean write) {
		return NAMES.length * (1 + (thread == AccessBatch.NO_THREAD ? threads : thread)) + of(sharing, write);
	}

	public static List<EventType> of(List<ThreadInfo> threads, boolean withUnknownThread) {
		List<EventType> types = new ArrayList<>();
		add(types, "");
		Set<String> used = new HashSet<>();
		for (ThreadInfo thread : threads) {
			String suffix = "_T" + thread.taskId();
			if (!used.add(suffix)) { // the same number in another process image
				suffix += "_p" + thread.image();
				while (!used.add(suffix)) {
					suffix += "_";
				}
			}
			add(types, suffix);
		}
		if (withUnknownThread) {
			add(types, "_T" + AccessBatch.NO_THREAD);
		}
		return List.copyOf(types);
	}

	private static void add(List<EventType> types, String suffix) {
		for (String name : NAMES) {
			types.add(new EventType(types.size(), EventCategory.VARIABLE, name + suffix));
		}
	}
}
