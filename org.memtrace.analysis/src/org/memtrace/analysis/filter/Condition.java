// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.model.tree.ProducerTree;

/**
 * One property that an access or the memory it goes to can have. Immutable, equal when it means the same, and the same for
 * every trace; see {@link FilterSet} for what it does to one.
 */
public sealed interface Condition {
	/** What a count or share is of. */
	enum Per {
		/** Each page, or part of a page that belongs to a structure. */
		PAGE,
		/** Each structure, stack or range outside of all. */
		STRUCTURE
	}

	/**
	 * In memory with a certain name: the expression is found in the name of the producer or of one above it.
	 *
	 * @param regex Java regular expression
	 */
	record Name(String regex) implements Condition {
		public Name {
			Pattern.compile(regex);
		}
	}

	/**
	 * A producer of a trace. In another trace it is found by its name.
	 *
	 * @param producer its number
	 * @param name its name in the tree
	 */
	record Part(int producer, String name) {
	}

	/** In one of these parts of memory. */
	record Subtree(List<Part> parts) implements Condition {
		public Subtree {
			parts = List.copyOf(parts);
		}

		/** Parts by their numbers. */
		public static Subtree of(ProducerTree tree, int... producers) {
			return new Subtree(java.util.Arrays.stream(producers).mapToObj(id -> new Part(id, tree.name(id))).toList());
		}
	}

	/**
	 * In memory of one of these kinds: {@link #KINDS}.
	 */
	record Kind(SortedSet<String> kinds) implements Condition {
		/** Kinds of structures in small letters, and what is outside of all structures. */
		public static final List<String> KINDS = List.of("static", "heap", "mmap", "stack", "brk", "file", "range");

		public Kind {
			kinds = sorted(kinds);
			if (!KINDS.containsAll(kinds)) {
				throw new IllegalArgumentException("kinds are " + String.join(", ", KINDS));
			}
		}
	}

	/**
	 * At a level of the tree of producers: of a producer with so many others above it.
	 *
	 * @param max last level that belongs to it
	 */
	record Level(int min, int max) implements Condition {
	}

	/** To memory with so many accesses: reads and writes, of those that the other filters leave, in the whole time. */
	record Count(Per per, double min, double max) implements Condition {
	}

	/** To memory with such a share of all accesses that the other filters leave, in per cent. */
	record Share(Per per, double minPercent, double maxPercent) implements Condition {
	}

	/** To a structure that lived so long; what is no structure lived from begin to end of the trace. */
	record Lifetime(long minNs, long maxNs) implements Condition {
	}

	/**
	 * In a window of time {@code [minNs, maxNs)} from the start of the trace: the interval in which the access was seen overlaps it.
	 */
	record Time(long minNs, long maxNs) implements Condition {
	}

	/** To a structure, stack or range that is so large. */
	record Size(long minBytes, long maxBytes) implements Condition {
	}

	/**
	 * With a value of a dimension: one of some names, one of some numbers or, of numbers and addresses, one of a range. An access that may
	 * have happened on several CPUs has all of them.
	 *
	 * @param dimension id of the dimension
	 * @param values names of values, an empty one for what is not known
	 * @param numbers numbers of values, -1 for what is not known: of threads their indexes
	 * @param min least number that belongs to a range, which counts when there are neither names nor numbers
	 * @param max greatest number that belongs to it
	 */
	record Value(String dimension, SortedSet<String> values, SortedSet<Long> numbers, long min, long max) implements Condition {
		public Value {
			values = sorted(values);
			numbers = sorted(numbers);
			Dimension d = Dimensions.find(dimension, Use.FILTER);
			if (d != null && d.type() == Dimension.Type.TEXT && values.isEmpty() && numbers.isEmpty()) {
				throw new IllegalArgumentException("'" + dimension + "' has no order; it needs 'values'");
			}
		}

		/** One of some names. */
		public static Value of(String dimension, Collection<String> values) {
			return new Value(dimension, new TreeSet<>(values), new TreeSet<>(), Long.MIN_VALUE, Long.MAX_VALUE);
		}

		/** One of some numbers. */
		public static Value numbers(String dimension, Collection<? extends Number> numbers) {
			return new Value(dimension, new TreeSet<>(), numbers.stream().map(Number::longValue).collect(Collectors.toCollection(TreeSet::new)),
					Long.MIN_VALUE, Long.MAX_VALUE);
		}

		/** A number of a range. */
		public static Value range(String dimension, long min, long max) {
			return new Value(dimension, new TreeSet<>(), new TreeSet<>(), min, max);
		}

		/** Whether it is of a dimension. */
		public boolean isOf(Dimension d) {
			return dimension.equals(d.id());
		}

		/** Whether it is a range. */
		public boolean isRange() {
			return values.isEmpty() && numbers.isEmpty();
		}
	}

	/**
	 * What at least one of these filters lets pass. Those that are switched off do not count; when all are, everything passes.
	 *
	 * @param of one or more; none of them is of this kind itself
	 */
	record Any(List<TraceFilter> of) implements Condition {
		public Any {
			of = List.copyOf(of);
			if (of.isEmpty() || of.stream().anyMatch(f -> f.condition() instanceof Any)) {
				throw new IllegalArgumentException("'any' has one or more filters, which are not 'any' themselves");
			}
		}

		/** Those that are not switched off. */
		List<TraceFilter> enabled() {
			return of.stream().filter(TraceFilter::enabled).toList();
		}
	}

	/** By one thread: its index in the trace, -1 for what belongs to no thread. */
	static Condition thread(int index) {
		return Value.numbers(BasicDimensions.THREAD.id(), List.of(index));
	}

	/** On a CPU. */
	static Condition cpu(int cpu) {
		return Value.numbers(BasicDimensions.CPU.id(), List.of(cpu));
	}

	/** On a NUMA node. */
	static Condition node(int node) {
		return Value.numbers(BasicDimensions.NODE.id(), List.of(node));
	}

	/** Of an event type. */
	static Condition type(String name) {
		return Value.of(BasicDimensions.TYPE.id(), List.of(name));
	}

	private static <T extends Comparable<T>> SortedSet<T> sorted(Collection<T> values) {
		return Collections.unmodifiableSortedSet(new TreeSet<>(values));
	}
}
