// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.BitSet;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;

/** Filters by CPU and NUMA node as clicks into a machine make them. */
public final class MachineFilters {
	private MachineFilters() {
	}

	/**
	 * The filters after a click: only the CPUs of the object, or only the pages of the node; a second click takes that back. A click
	 * on the whole machine takes all filters by CPU and node back.
	 *
	 * @param add whether the object is added to those that the filter already asks for, or taken from them
	 */
	public static FilterSet clicked(FilterSet now, MachineObject object, boolean add) {
		if (object.type() == Type.MACHINE) {
			return new FilterSet(now.filters().stream().filter(f -> !isCpu(f) && !isNode(f)).toList());
		}
		boolean node = object.type() == Type.NODE;
		SortedSet<Integer> wanted = node ? new TreeSet<>(List.of(Math.max(0, object.osIndex())))
				: object.cpus().stream().boxed().collect(Collectors.toCollection(TreeSet::new));
		if (wanted.isEmpty() || object.type() == Type.MEMORY_CACHE) {
			return now;
		}
		Predicate<TraceFilter> same = node ? MachineFilters::isNode : MachineFilters::isCpu;
		TraceFilter old = now.filters().stream().filter(same).findFirst().orElse(null);
		SortedSet<Integer> had = old == null ? new TreeSet<>() : numbers(old);
		SortedSet<Integer> result = new TreeSet<>(wanted);
		if (add && had.containsAll(wanted)) {
			result = new TreeSet<>(had);
			result.removeAll(wanted);
		} else if (add) {
			result.addAll(had);
		} else if (had.equals(wanted)) {
			result.clear();
		}
		if (result.isEmpty()) {
			return now.without(old);
		}
		TraceFilter next = TraceFilter.only(Condition.Value.numbers((node ? BasicDimensions.NODE : BasicDimensions.CPU).id(), result));
		return old == null ? now.with(next) : now.replaced(old, next);
	}

	/** The filters with only the CPUs of an object; as they are where they ask for these already, or for all of the machine. */
	public static FilterSet only(FilterSet now, MachineObject object) {
		boolean there = object.type() == Type.MACHINE || cpus(now).equals(object.cpus());
		return there ? now : clicked(now, object, false);
	}

	/**
	 * The part of a machine that filters leave: the CPUs that they ask for, without those that they hide. Where they would leave none it is
	 * the whole machine.
	 */
	public static MachineTopology shown(FilterSet filters, MachineTopology machine) {
		BitSet shown = machine.root().cpus();
		for (TraceFilter f : filters.filters()) {
			if (f.enabled() && f.condition() instanceof Condition.Value v && v.isOf(BasicDimensions.CPU) && !v.numbers().isEmpty()) {
				BitSet named = new BitSet();
				numbers(f).stream().filter(n -> n >= 0).forEach(named::set);
				if (f.excludes()) {
					shown.andNot(named);
				} else {
					shown.and(named);
				}
			}
		}
		return machine.only(shown);
	}

	/** CPUs that filters ask for. */
	public static BitSet cpus(FilterSet filters) {
		return asked(filters, MachineFilters::isCpu);
	}

	/** NUMA nodes that filters ask for. */
	public static BitSet nodes(FilterSet filters) {
		return asked(filters, MachineFilters::isNode);
	}

	private static BitSet asked(FilterSet filters, Predicate<TraceFilter> which) {
		BitSet set = new BitSet();
		filters.filters().stream().filter(which).flatMap(f -> numbers(f).stream()).filter(n -> n >= 0).forEach(set::set);
		return set;
	}

	private static boolean isCpu(TraceFilter f) {
		return asksFor(f, BasicDimensions.CPU);
	}

	private static boolean isNode(TraceFilter f) {
		return asksFor(f, BasicDimensions.NODE);
	}

	private static boolean asksFor(TraceFilter f, Dimension dimension) {
		return f.enabled() && !f.excludes() && f.condition() instanceof Condition.Value v && v.isOf(dimension) && !v.numbers().isEmpty();
	}

	private static SortedSet<Integer> numbers(TraceFilter f) {
		return ((Condition.Value) f.condition()).numbers().stream().map(Long::intValue).collect(Collectors.toCollection(TreeSet::new));
	}
}
