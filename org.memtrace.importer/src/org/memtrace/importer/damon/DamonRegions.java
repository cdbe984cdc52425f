// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.damon;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.model.RegularFile;

/**
 * The lines of {@code damon:damon_aggregated}, as perf script and trace-cmd print them. They are read once and kept in the scratch folder,
 * because how large the blocks are that they become depends on all of them. Used by one thread.
 */
public final class DamonRegions implements AutoCloseable {
	/** A range of addresses in an aggregation {@code [sinceNs, timeNs)}; the begin of the first one is estimated by the others. */
	record Region(long target, long sinceNs, long timeNs, long start, long end, long accesses) {
	}

	/** All regions of a target at the end of an aggregation, whose lines follow each other. */
	private static final class Snapshot {
		long sinceNs;
		long timeNs = NEVER;
		long left;
		long lastStart;
	}

	/** Gets the regions again. */
	interface Receiver<E extends Exception> {
		void region(Region region) throws E, IOException;
	}

	/** Time, target, addresses in decimal as the kernel prints them, counts; the age is not kept. */
	private static final Pattern LINE = Pattern.compile(".*?\\s(\\d{1,9}\\.\\d{1,9}):\\s+(?:damon:)?damon_(?:region_)?aggregated:\\s+target_id=(\\d{1,18})"
			+ " nr_regions=(\\d{1,9}) (\\d{1,20})-(\\d{1,20}): (\\d{1,18})(?: \\d+)?\\s*");
	private static final Pattern ANY = Pattern.compile(".*\\bdamon_(?:region_)?aggregated: .*");
	private static final int NS_DIGITS = 9;
	/** Smallest and largest block, as powers of two. */
	static final int LEAST_SHIFT = 12;
	static final int MOST_SHIFT = 30;
	/** What an aggregation lasts by default. */
	private static final long USUAL_NS = 100_000_000;
	private static final long NEVER = Long.MIN_VALUE;

	private final Path kept;
	private final DataOutputStream out;
	private long count;
	/** How many blocks of each size have accesses. */
	private final long[] blocks = new long[MOST_SHIFT + 1];
	private final Map<Long, Snapshot> snapshots = new HashMap<>();
	private long shortestNs = Long.MAX_VALUE;
	private long idle;

	DamonRegions(Path scratch) throws IOException {
		kept = scratch.resolve("damon");
		out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(kept)));
	}

	/** Whether the beginning of a text has lines of DAMON. */
	public static boolean isOne(String head) {
		return head.lines().limit(200).anyMatch(line -> line.length() < 1000 && ANY.matcher(line).matches());
	}

	/** Takes a line. @return why it is not used, or null; nothing is wrong with comments and other lines of the tools */
	String line(String text) throws IOException {
		Matcher m = LINE.matcher(text);
		if (!m.matches()) {
			return text.isBlank() || text.startsWith("#") || text.startsWith("cpus=") ? null
					: ANY.matcher(text).matches() ? "fields that are not those of damon_aggregated" : "not an event of DAMON";
		}
		long time;
		long target = Long.parseLong(m.group(2));
		long start;
		long end;
		long accesses = Long.parseLong(m.group(6));
		try {
			time = DecimalNumber.scaled(m.group(1), NS_DIGITS);
			start = Long.parseUnsignedLong(m.group(4));
			end = Long.parseUnsignedLong(m.group(5));
		} catch (NumberFormatException | ArithmeticException e) {
			return "number out of range";
		}
		if (Long.compareUnsigned(start, end) >= 0) {
			return "a range that ends before it starts";
		}
		Snapshot snapshot = snapshots.computeIfAbsent(target, t -> new Snapshot());
		if (snapshot.left == 0 || Long.compareUnsigned(start, snapshot.lastStart) <= 0) {
			snapshot.sinceNs = snapshot.timeNs;
			snapshot.timeNs = time;
			snapshot.left = Long.parseLong(m.group(3));
			if (snapshot.sinceNs != NEVER && time > snapshot.sinceNs) {
				shortestNs = Math.min(shortestNs, time - snapshot.sinceNs);
			}
		}
		snapshot.left = Math.max(0, snapshot.left - 1);
		snapshot.lastStart = start;
		count++;
		if (accesses == 0) {
			idle++;
		} else {
			for (int shift = LEAST_SHIFT; shift <= MOST_SHIFT; shift++) {
				blocks[shift] += (end - 1 >>> shift) - (start >>> shift) + 1;
			}
		}
		for (long number : new long[] { target, snapshot.sinceNs, snapshot.timeNs, start, end, accesses }) {
			out.writeLong(number);
		}
		return null;
	}

	long count() {
		return count;
	}

	/** Regions in which nothing was accessed. */
	long idle() {
		return idle;
	}

	/** Power of two of the smallest blocks of which there are not more than so many; {@link #MOST_SHIFT} when there always are. */
	int shift(long most) {
		int shift = LEAST_SHIFT;
		while (shift < MOST_SHIFT && blocks[shift] > most) {
			shift++;
		}
		return shift;
	}

	/** Gives all again, in their order. */
	<E extends Exception> void visit(Receiver<E> receiver) throws E, IOException {
		out.close();
		long usual = shortestNs == Long.MAX_VALUE ? USUAL_NS : shortestNs;
		try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(RegularFile.check(kept))))) {
			for (long i = 0; i < count; i++) {
				Region r = new Region(in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
				receiver.region(r.sinceNs == NEVER || r.sinceNs >= r.timeNs
						? new Region(r.target, r.timeNs - usual, r.timeNs, r.start, r.end, r.accesses) : r);
			}
		}
	}

	@Override
	public void close() throws IOException {
		out.close();
	}
}
