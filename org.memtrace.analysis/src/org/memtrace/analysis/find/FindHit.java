// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.Comparator;

import org.memtrace.analysis.source.SourcePlace;

/**
 * Something that was found.
 *
 * @param kind what it is
 * @param name as a person knows it
 * @param detail what tells it from others; may be empty
 * @param rank how well it fits, 0 best
 * @param weight of two that fit equally well the heavier one comes first
 * @param target what to do with it
 */
public record FindHit(Kind kind, String name, String detail, int rank, double weight, Target target) {
	/** Kinds, in the order in which they stand where they fit equally well. */
	public enum Kind {
		ADDRESS("Address"), STRUCTURE("Structure"), LINE("Line"), FUNCTION("Function"), THREAD("Thread"), TRACE("Trace"), COMMAND("Command");

		private final String title;

		Kind(String title) {
			this.title = title;
		}

		/** For a person. */
		public String title() {
			return title;
		}
	}

	/** What a hit leads to. */
	public sealed interface Target {
	}

	/**
	 * Memory.
	 *
	 * @param producer what is shown, -1 when the memory was never accessed
	 * @param mark what is marked in it: itself, or the page of an address; -1 none
	 * @param structure id of the structure, -1 none
	 * @param life whether the memory was also that of other blocks at other times: what is meant is the memory in the life of the structure
	 */
	public record Memory(int producer, int mark, int structure, boolean life) implements Target {
		/** Memory that is what is meant at all times. */
		public Memory(int producer, int mark, int structure) {
			this(producer, mark, structure, false);
		}
	}

	/** A line of the source, or a file when its line is 0. */
	public record Place(SourcePlace place) implements Target {
	}

	/** A thread by its index in the trace. */
	public record OfThread(int index) implements Target {
	}

	/** Something of a list of the one who searches: a trace, a command. */
	public record Listed(int index) implements Target {
	}

	/** The best first. */
	public static final Comparator<FindHit> ORDER = Comparator.comparingInt(FindHit::rank).thenComparing(FindHit::kind)
			.thenComparing(Comparator.comparingDouble(FindHit::weight).reversed());
}
