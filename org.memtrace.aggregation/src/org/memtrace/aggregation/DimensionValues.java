// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Set;

import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;

/**
 * The values of a {@link Dimension} in one trace. A value is a number; {@link #UNKNOWN} stands for what is not known. The values of
 * a dimension that can colour are {@code 0 .. size() - 1}. Safe for all threads.
 */
public abstract class DimensionValues {
	/** What is not known. */
	public static final long UNKNOWN = -1;
	private static final int[] NONE = {};

	/** How an access belongs to values. */
	public enum Kind {
		/** To one. */
		SINGLE,
		/** The reads to one value, the writes to the next one. */
		BY_DIRECTION,
		/** To each of {@link DimensionValues#members} an equal share. */
		SHARES
	}

	/** How accesses belong to values. */
	public Kind kind() {
		return Kind.SINGLE;
	}

	/** Number of values; -1 when there is no limit. Of {@link Kind#SHARES} it is that of the members. */
	public abstract long size() throws MemtraceException;

	/** Number of sets of members, of {@link Kind#SHARES}; -1 for other kinds. */
	public int sets() {
		return -1;
	}

	/** What a person reads for a value; for {@link #UNKNOWN} an empty text. Of {@link Kind#SHARES} it is that of a member. */
	public abstract String name(long value);

	/** What stands for a value in a picture. */
	public ModelType type(long value) {
		return value == UNKNOWN ? unknownType() : new ModelType(name(value), Role.OTHER, (int) value);
	}

	/** What stands for {@link #UNKNOWN} in a picture. */
	protected static ModelType unknownType() {
		return new ModelType("unknown", Role.UNKNOWN, 0);
	}

	/**
	 * What a table or a file has for a value: a text or a {@link Long}, as {@link Dimension#type} says; null for what is not known. Of
	 * {@link Kind#SHARES} it is a text with all members.
	 */
	public Object cell(long value) {
		return value == UNKNOWN ? null : name(value);
	}

	/** What a table has for a record that reads, writes, or both; only {@link Kind#BY_DIRECTION} looks at that. */
	public String text(long value, boolean reads, boolean writes) {
		if (kind() == Kind.BY_DIRECTION) {
			return !writes ? name(value) : !reads ? name(value + 1) : name(value) + "+" + name(value + 1);
		}
		Object cell = cell(value);
		return cell == null ? "" : cell.toString();
	}

	/** The number that a value stands for, of a dimension whose values are numbers or addresses. */
	public long number(long value) {
		return value;
	}

	/** What a person reads for a value that stands alone, in a legend or a pie; null when the name of its type says enough. */
	public String label(long value) {
		return null;
	}

	/** The event producer that a value stands for, which has a colour by its name; -1 for none. */
	public int producer(long value) {
		return -1;
	}

	/** The name in a list from which a person chooses; it may tell more than {@link #name}. */
	public String choice(long value) {
		return name(value);
	}

	/**
	 * Whether a value has one of some names: the text that tables show or, of {@link Kind#SHARES}, the name of a member. An empty name is
	 * that of what is not known.
	 */
	public boolean isNamed(long value, Set<String> names) {
		if (kind() == Kind.BY_DIRECTION) {
			return names.contains(name(value));
		}
		if (names.contains(text(value, true, true))) {
			return true;
		}
		if (kind() == Kind.SHARES) {
			for (int member : members(value)) {
				if (names.contains(name(member))) {
					return true;
				}
			}
		}
		return false;
	}

	/** Whether a value has one of some numbers or, of {@link Kind#SHARES}, a member that has. -1 is that of what is not known. */
	public boolean isNumbered(long value, Set<Long> numbers) {
		if (kind() == Kind.SHARES) {
			int[] members = members(value);
			for (int member : members) {
				if (numbers.contains((long) member)) {
					return true;
				}
			}
			return members.length == 0 && numbers.contains(UNKNOWN);
		}
		return numbers.contains(value == UNKNOWN ? UNKNOWN : number(value));
	}

	/** Whether a value is known and its number, or that of a member, is between two limits, which belong to it. */
	public boolean isBetween(long value, long min, long max) {
		if (kind() == Kind.SHARES) {
			for (int member : members(value)) {
				if (member >= min && member <= max) {
					return true;
				}
			}
			return false;
		}
		return value != UNKNOWN && number(value) >= min && number(value) <= max;
	}

	/** Whether a value stands for something; {@link #UNKNOWN} does not, unless all numbers are possible. */
	public boolean isKnown(long value) {
		return value != UNKNOWN;
	}

	/** A number that puts values in order, what is not known first. */
	public long order(long value) {
		return value == UNKNOWN ? Long.MIN_VALUE : number(value);
	}

	/** The values among which accesses of a value are divided, for {@link Kind#SHARES}; empty when they are not known. */
	public int[] members(long value) {
		return NONE;
	}

	/**
	 * Gives the value of each row of some leaves. Leaves of a chunk may be in any order, and a leaf may be there several times: rows of
	 * a table come so.
	 *
	 * @param chunk has the columns of the dimension
	 * @param out gets the value of row {@code r} at place {@code r}; of {@link Kind#BY_DIRECTION} that of the reads
	 */
	public abstract void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out);
}
