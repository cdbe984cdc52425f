// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.importer.reader.EventSink;

/**
 * Tracks of a trace and the event producers that they are: process, thread, or a track of its own below another one. Descriptions may come
 * in parts and late; the first reading of a file collects them. Used by one thread.
 */
final class PerfettoTracks {
	/** Of a track that has too many above it; its events are skipped and counted. */
	private static final List<String> TOO_DEEP = Collections.nCopies(EventSink.DEEPEST_PATH + 1, "track");

	/** What is known of a track, by its number. */
	static final class Track {
		long parent;
		String name = "";
		long pid = -1;
		long tid = -1;
		boolean isCounter;
		boolean isIncremental;
		long multiplier = 1;
		/** Events of it go back in time; known after the first reading. */
		boolean isUnordered;
		long lastNs = Long.MIN_VALUE;
		private List<String> path;
		private int producer = -1;
	}

	private final EventSink sink;
	private final Map<Long, Track> tracks = new LinkedHashMap<>();
	private final Map<Long, String> processes = new HashMap<>();
	private final Map<Long, String> threads = new HashMap<>();
	private final Map<List<String>, Long> taken = new HashMap<>();

	PerfettoTracks(EventSink sink) {
		this.sink = sink;
	}

	Track of(long uuid) {
		return tracks.computeIfAbsent(uuid, u -> new Track());
	}

	void process(long pid, String name) {
		if (!name.isBlank()) {
			processes.put(pid, name.strip());
		}
	}

	void thread(long tid, String name) {
		if (!name.isBlank()) {
			threads.put(tid, name.strip());
		}
	}

	/** A description; what it leaves out stays as it was. */
	void describe(ProtoFields f) {
		long uuid = 0;
		long parent = 0;
		String name = "";
		ProtoFields process = null;
		ProtoFields thread = null;
		ProtoFields counter = null;
		while (f.next()) {
			switch (f.number()) {
			case 1 -> uuid = f.number64();
			case 5 -> parent = f.number64();
			case 2, 10, 13 -> name = f.text();
			case 3 -> process = f.message();
			case 4 -> thread = f.message();
			case 8 -> counter = f.message();
			default -> { }
			}
		}
		Track track = of(uuid);
		track.parent = parent != 0 ? parent : track.parent;
		track.name = name.isBlank() ? track.name : name.strip();
		if (process != null) {
			track.pid = processOf(process);
		}
		if (thread != null) {
			threadOf(thread, track);
		}
		if (counter != null) {
			track.isCounter = true;
			while (counter.next()) {
				switch (counter.number()) {
				case 4 -> track.multiplier = counter.number64() == 0 ? 1 : counter.number64();
				case 5 -> track.isIncremental = counter.number64() != 0;
				default -> { }
				}
			}
		}
	}

	/** A description of a process; returns its id. */
	long processOf(ProtoFields f) {
		long pid = 0;
		String name = "";
		String command = "";
		while (f.next()) {
			switch (f.number()) {
			case 1 -> pid = (int) f.number64();
			case 2 -> command = command.isEmpty() ? f.text() : command;
			case 6 -> name = f.text();
			default -> { }
			}
		}
		process(pid, name.isBlank() ? command : name);
		return pid;
	}

	/** A description of a thread, for its track. */
	void threadOf(ProtoFields f, Track track) {
		while (f.next()) {
			switch (f.number()) {
			case 1 -> track.pid = (int) f.number64();
			case 2 -> track.tid = f.number64();
			case 5 -> track.name = f.text().isBlank() ? track.name : f.text().strip();
			default -> { }
			}
		}
	}

	/** Gives all tracks their paths in the order in which they were described, so that equal names are told apart in the same way. */
	void name() {
		List.copyOf(tracks.keySet()).forEach(u -> path(u, new HashSet<>()));
	}

	/** The event producer of a track; of a counter that of what is counted. */
	int producer(long uuid) {
		Track track = of(uuid);
		if (track.producer < 0) {
			track.producer = sink.producer(path(uuid, new HashSet<>()));
		}
		return track.producer;
	}

	private List<String> path(long uuid, Set<Long> above) {
		Track track = of(uuid);
		if (track.path != null) {
			return track.path;
		}
		boolean isNested = track.parent != 0 && track.parent != uuid && above.add(uuid);
		if (above.size() > EventSink.DEEPEST_PATH) {
			return TOO_DEEP;
		}
		if (isNested && track.tid < 0 && track.pid < 0) {
			List<String> parent = path(track.parent, above);
			if (parent.size() >= (track.isCounter ? EventSink.DEEPEST_PATH + 1 : EventSink.DEEPEST_PATH)) {
				track.path = parent == TOO_DEEP && tracks.get(track.parent).path != TOO_DEEP ? null : TOO_DEEP;
				return TOO_DEEP;
			}
		}
		List<String> path = new ArrayList<>();
		if (track.tid >= 0) {
			path.add(processName(track.pid));
			String name = track.name.isEmpty() ? threads.getOrDefault(track.tid, "") : track.name;
			path.add(name.isEmpty() ? "thread " + track.tid : name + " (" + track.tid + ")");
		} else if (track.pid >= 0) {
			path.add(processName(track.pid));
		} else if (track.isCounter) {
			path.addAll(isNested ? path(track.parent, above) : List.of("trace"));
		} else {
			if (isNested) {
				path.addAll(path(track.parent, above));
			}
			path.add(uuid == 0 ? "trace" : track.name.isEmpty() ? "track " + Long.toUnsignedString(uuid) : track.name);
			String own = path.remove(path.size() - 1);
			for (int n = 1;; n++) { // siblings with equal names
				path.add(n == 1 ? own : own + " (" + n + ")");
				if (taken.putIfAbsent(List.copyOf(path), uuid) == null) {
					break;
				}
				path.remove(path.size() - 1);
			}
		}
		track.path = List.copyOf(path);
		return track.path;
	}

	private String processName(long pid) {
		String name = processes.getOrDefault(pid, "");
		return name.isEmpty() ? "process " + pid : name + " (" + pid + ")";
	}
}
