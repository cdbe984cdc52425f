// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessColumn;

/**
 * A property of accesses by which they can be told apart: its name, what it is good for, and how to get its values in a trace. Colours,
 * groups, filters, columns of tables and of files come from a list of these. Immutable, so safe for all threads; there is one object for
 * each dimension. docs/extend/dimension.md
 */
public abstract class Dimension {
	/** What a dimension can be used for. */
	public enum Use {
		/** Each value has a colour in pictures. Needs values {@code 0 .. size() - 1}. */
		COLOUR,
		/** Accesses are grouped by it and summed. */
		GROUP,
		/** Accesses of certain values are hidden. */
		FILTER,
		/** Rows of tables are put in its order. */
		SORT,
		/** Tables and files have a column of it. */
		COLUMN;

		/** All of them. */
		public static final Set<Use> ALL = Set.of(values());
		/** All but colours: there are too many values, or their order means more than their names. */
		public static final Set<Use> UNCOLOURED = Set.of(GROUP, FILTER, SORT, COLUMN);
	}

	/** What a value is in tables and files. */
	public enum Type {
		/** A text. */
		TEXT,
		/** A whole number. */
		NUMBER,
		/** An address in memory, unsigned. */
		ADDRESS
	}

	/** How a person says which values a filter is about. */
	public enum Picking {
		/** By their names. */
		NAMES,
		/** By their names, in a list of all values: they are few, and known before anything is read. */
		LISTED_NAMES,
		/** By their numbers, in such a list: names are not unique, or long. */
		LISTED_NUMBERS,
		/** By numbers and ranges of numbers. */
		NUMBERS
	}

	/** The same property of the events of traces without accesses. */
	public interface OfEvents {
		/** What a list offers. */
		String choice();

		/**
		 * The value of an event.
		 *
		 * @param type index of the name of its type
		 * @param cpu its CPU, -1 for what is not known
		 */
		long value(int type, int cpu);

		/**
		 * The name of a value.
		 *
		 * @param typeNames distinct names of event types
		 */
		String name(long value, List<String> typeNames);
	}

	/**
	 * What a question is about; only few dimensions need it.
	 *
	 * @param producer the part of memory that is looked at, 0 for all
	 * @param originNs begin of the first window of time
	 * @param windowNs length of windows of time, 0 without
	 * @param divided whether the structure that is looked at is divided into its parts
	 */
	public record Question(int producer, long originNs, long windowNs, boolean divided) {
	}

	private final String id;
	private final String title;
	private final String choice;
	private final Type type;
	private final String meaning;
	private final Set<Use> uses;

	/**
	 * A dimension.
	 *
	 * @param id name on the command line, in files and in JSON: small letters and underscores
	 * @param title head of a column, such as {@code Thread}
	 * @param choice what a list offers, such as {@code Threads}
	 * @param type what a value is
	 * @param meaning one sentence without a full stop
	 */
	protected Dimension(String id, String title, String choice, Type type, String meaning, Set<Use> uses) {
		this.id = Objects.requireNonNull(id);
		this.title = title;
		this.choice = choice;
		this.type = type;
		this.meaning = meaning;
		this.uses = uses.isEmpty() ? EnumSet.noneOf(Use.class) : EnumSet.copyOf(uses);
	}

	/** Name on the command line, in files and in JSON. */
	public final String id() {
		return id;
	}

	/** Head of a column. */
	public final String title() {
		return title;
	}

	/** What a list offers. */
	public final String choice() {
		return choice;
	}

	/** The title within a sentence. */
	public final String label() {
		return withinSentence(title);
	}

	/** What a list offers, within a sentence. */
	public final String choiceLabel() {
		return withinSentence(choice);
	}

	/** The meaning within a sentence. */
	public final String explanation() {
		return withinSentence(meaning);
	}

	private static String withinSentence(String text) {
		return text.length() > 1 && Character.isUpperCase(text.charAt(1)) ? text
				: Character.toLowerCase(text.charAt(0)) + text.substring(1);
	}

	/** What a value is in tables and files. */
	public final Type type() {
		return type;
	}

	/** One sentence without a full stop. */
	public final String meaning() {
		return meaning;
	}

	/** Whether it can be used for something. */
	public final boolean can(Use use) {
		return uses.contains(use);
	}

	/** Whether {@link #values} looks at all accesses of a trace first: a table on the screen has no such column. */
	public boolean looksAtAll() {
		return false;
	}

	/** Columns from which the values are made. */
	public abstract Set<AccessColumn> columns();

	/**
	 * The values in a trace.
	 *
	 * @param table the accesses whose values are wanted
	 * @param progress for dimensions that have to look at all accesses first
	 */
	public abstract DimensionValues values(AccessTable table, Progress progress) throws MemtraceException;

	/**
	 * Whether accesses of the same structure (or what has a name instead), the same thread, the same kind of sharing (one thread or several)
	 * and the same start have the same value, so that sums of such accesses ({@link AccessTable#rows}) are enough to group by it.
	 */
	public boolean isOfSums() {
		return false;
	}

	/** How a person says which values a filter is about. */
	public Picking picking() {
		return type == Type.TEXT ? Picking.NAMES : Picking.NUMBERS;
	}

	/** The same property of events; null when they have none. Then a filter by it hides no events. */
	public OfEvents ofEvents() {
		return null;
	}

	/** What a filter by the name of a value says; null when the label has to stand before the name. */
	public String told(String name) {
		return null;
	}

	/** What a filter by the number of a value says; null when the label and the number are enough. */
	public String told(long number, List<ThreadInfo> threads) {
		return null;
	}

	/** The dimension for a question: itself, unless its values depend on what is asked. */
	public Dimension of(Question question) {
		return this;
	}

	/** Its id. */
	@Override
	public final String toString() {
		return id;
	}
}
