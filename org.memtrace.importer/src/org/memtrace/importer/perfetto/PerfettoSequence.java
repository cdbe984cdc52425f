// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import java.util.HashMap;
import java.util.Map;

/** What the packets of one writer refer to: texts by number, defaults, and clocks of its own. It is forgotten when the writer says so. */
final class PerfettoSequence {
	private static final int MOST_TEXTS = 1 << 20;

	/** A clock: how its times become those of the trace. */
	static final class Clock {
		boolean isIncremental;
		long multiplier = 1;
		/** Last time of an incremental clock. */
		long lastNs;
		long offsetNs;

		long ns(long time) {
			long own = time * multiplier;
			if (isIncremental) {
				lastNs += own;
				own = lastNs;
			}
			return own + offsetNs;
		}
	}

	/** Whether the texts are complete since the writer began, or began again. */
	boolean isComplete;
	int clock = -1;
	long track;
	long[] extraTracks = new long[0];
	long[] extraRealTracks = new long[0];
	final Map<Integer, Clock> clocks = new HashMap<>();
	final Map<Long, String> names = new HashMap<>();
	final Map<Long, String> annotations = new HashMap<>();
	final Map<Long, String> texts = new HashMap<>();

	/** The writer begins again. Its clocks go on. */
	void clear() {
		isComplete = true;
		clock = -1;
		track = 0;
		extraTracks = new long[0];
		extraRealTracks = new long[0];
		names.clear();
		annotations.clear();
		texts.clear();
	}

	/** Takes texts. */
	void intern(ProtoFields f) {
		while (f.next()) {
			switch (f.number()) {
			case 2 -> put(names, f.message());
			case 3 -> put(annotations, f.message());
			case 29 -> put(texts, f.message());
			default -> { }
			}
		}
	}

	private static void put(Map<Long, String> to, ProtoFields f) {
		long id = 0;
		String text = "";
		while (f.next()) {
			if (f.number() == 1) {
				id = f.number64();
			} else if (f.number() == 2) {
				text = f.text();
			}
		}
		if (to.size() < MOST_TEXTS) {
			to.put(id, text);
		}
	}

	/** Takes defaults; those before are no longer. */
	void defaults(ProtoFields f) {
		clock = -1;
		track = 0;
		extraTracks = new long[0];
		extraRealTracks = new long[0];
		while (f.next()) {
			if (f.number() == 58) {
				clock = (int) f.number64();
			} else if (f.number() == 11) {
				ProtoFields event = f.message();
				while (event.next()) {
					switch (event.number()) {
					case 11 -> track = event.number64();
					case 31 -> extraTracks = ProtoFields.add(extraTracks, event, ProtoFields.VARINT);
					case 45 -> extraRealTracks = ProtoFields.add(extraRealTracks, event, ProtoFields.VARINT);
					default -> { }
					}
				}
			}
		}
	}
}
