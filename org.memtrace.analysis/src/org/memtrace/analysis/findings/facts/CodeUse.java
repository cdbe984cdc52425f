// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;

/** Which code uses a group, by the addresses of instructions. */
final class CodeUse {
	/** Share of the parts that code must write first to be told as the code that does so. */
	private static final double MOST = 0.5;
	private static final double NEARLY_ALL = 0.9;

	/** Parts that code wrote first, and late accesses. */
	private final CodeCounts firstWrites = new CodeCounts();
	private final CodeCounts lateUses = new CodeCounts();
	private final Map<Long, BitSet> writers = new HashMap<>();
	/** Most rows that follow each other are of the same code. */
	private long lastIp;
	private BitSet lastWriters;

	/**
	 * An instruction uses a part.
	 *
	 * @param thread -1 not known
	 * @param late accesses after the first interval of the part
	 * @param writes whether it writes, and if so whether nobody has written the part before
	 */
	void use(long ip, int thread, double late, boolean writes, boolean unwritten) {
		if (late > 0) {
			lateUses.add(ip, late);
		}
		if (writes && unwritten) {
			firstWrites.add(ip, 1);
		}
		if (writes && thread >= 0) {
			write(ip, thread);
		}
	}

	private void write(long ip, int thread) {
		if (ip != lastIp || lastWriters == null) {
			lastIp = ip;
			lastWriters = writers.computeIfAbsent(ip, k -> new BitSet());
		}
		lastWriters.set(thread);
	}

	void add(CodeUse o) {
		firstWrites.add(o.firstWrites);
		lateUses.add(o.lateUses);
		o.writers.forEach((ip, threads) -> writers.computeIfAbsent(ip, k -> new BitSet()).or(threads));
	}

	/** The code that makes most late accesses; null where no source line is known, or where code without one makes more. */
	Place used(CodePlaces places, int image) {
		Place most = Place.most(lateUses, places, image, 0);
		return most == null || Place.share(most, lateUses, places, image) < Place.withoutLine(lateUses, places, image) ? null : most;
	}

	/** Whether the function of a place makes nearly all late accesses. */
	boolean isNearlyAlone(Place used, CodePlaces places, int image) {
		return used != null && Place.share(used, lateUses, places, image) >= NEARLY_ALL;
	}

	/** The code that wrote half of the parts or more first; null where no source line is known. */
	Place firstWritten(CodePlaces places, int image) {
		return Place.most(firstWrites, places, image, MOST);
	}

	/** Threads that write with a line; 0 for null. */
	int writers(Place line, CodePlaces places, int image) {
		BitSet threads = new BitSet();
		writers.forEach((ip, its) -> {
			int frame = line == null ? -1 : places.of(image, ip);
			CallFrame f = frame < 0 ? null : places.frames().get(frame);
			if (f != null && f.line() == line.line() && f.file().equals(line.file())) {
				threads.or(its);
			}
		});
		return threads.cardinality();
	}
}
