// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import org.memtrace.model.memory.TypeMembers;

/**
 * What of an element of an array is padding: bytes of no member, and of members that are named so. An element that has 64 bytes or more is
 * judged by cache lines: a line with a byte of a member is used. Immutable.
 */
public final class ElementPadding {
	private static final int LINE_BYTES = 64;
	/** An element with a smaller share is not looked at. */
	private static final double LEAST = 0.25;
	/** The recorder tells so many members at most, so an element with more may have others. */
	private static final int MOST_MEMBERS = 100;

	private record Range(long from, long to) {
	}

	/** Bytes of an element. */
	public final long bytes;
	/** Bytes of the lines of it that members use, or of the members when it is smaller than a line. */
	public final long used;
	/** Bytes of the members. */
	public final long members;
	/** Members without those that are padding, in the order of memory, those that touch each other as one. */
	private final List<Range> ranges;

	private ElementPadding(long bytes, List<Range> ranges) {
		this.bytes = bytes;
		this.ranges = ranges;
		members = ranges.stream().mapToLong(r -> r.to - r.from).sum();
		long lines = 0;
		long end = 0;
		for (Range r : ranges) {
			long from = Math.max(end, r.from / LINE_BYTES * LINE_BYTES);
			end = Math.max(end, Math.ceilDiv(r.to, LINE_BYTES) * LINE_BYTES);
			lines += end - from;
		}
		used = bytes < LINE_BYTES ? members : Math.min(bytes, lines);
	}

	/** Whether a member is there only to fill: {@code pad}, {@code _padding2}, {@code reserved}. */
	public static boolean isFiller(TypeMembers.Member m) {
		String name = m.name().substring(m.name().lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
		return name.matches("_*(pad|padding|fill|filler|reserved|unused|dummy)_*\\d*_*");
	}

	/** Empty when a quarter or less is padding, or when the members are not known. */
	static Optional<ElementPadding> of(TypeMembers type) {
		if (type == null || type.members().isEmpty() || type.members().size() >= MOST_MEMBERS) {
			return Optional.empty();
		}
		List<Range> ranges = new ArrayList<>();
		type.members().stream().filter(m -> !isFiller(m) && m.bytes() > 0).sorted(Comparator.comparingLong(TypeMembers.Member::offset))
				.forEach(m -> {
					Range last = ranges.isEmpty() ? null : ranges.get(ranges.size() - 1);
					long to = Math.min(type.bytes(), m.offset() + m.bytes());
					if (last != null && m.offset() <= last.to) {
						ranges.set(ranges.size() - 1, new Range(last.from, Math.max(last.to, to)));
					} else {
						ranges.add(new Range(m.offset(), to));
					}
				});
		ElementPadding p = new ElementPadding(type.bytes(), List.copyOf(ranges));
		return ranges.isEmpty() || p.share() <= LEAST ? Optional.empty() : Optional.of(p);
	}

	/** Share of an element that nobody needs. */
	public double share() {
		return (double) (bytes - used) / bytes;
	}

	/** Whether a byte is padding, by its distance from the first byte of the array. */
	boolean has(long place) {
		long at = Math.floorMod(place, bytes);
		return ranges.stream().noneMatch(r -> r.from <= at && at < r.to);
	}
}
