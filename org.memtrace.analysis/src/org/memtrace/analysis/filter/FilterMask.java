// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** What a {@link FilterSet} means for the records of one trace. */
public final class FilterMask {
	private static final int CHECK_EVERY = 0xfff;

	private final AccessTable table;
	private final ProducerTree tree;
	private final List<Structure> structures;
	private final Progress progress;
	/** Made when it is asked for. */
	private Lives lives;
	private final AccessMask mask = new AccessMask();

	private FilterMask(ProducerTree tree, Progress progress) {
		this.table = null;
		this.tree = tree;
		this.structures = List.of();
		this.progress = progress;
	}

	private FilterMask(AccessTable table, List<Structure> structures, Progress progress) {
		this.table = table;
		this.tree = table.producers();
		this.structures = structures;
		this.progress = progress;
	}

	public static AccessMask of(FilterSet filters, AccessTable table, List<Structure> structures, Progress progress)
			throws MemtraceException {
		FilterMask m = new FilterMask(table, structures, progress);
		List<TraceFilter> thresholds = new ArrayList<>();
		for (TraceFilter f : filters.filters()) {
			if (!f.enabled()) {
				continue;
			}
			if (isThreshold(f)) {
				thresholds.add(f);
			} else {
				m.add(f);
			}
		}
		if (!thresholds.isEmpty()) {
			m.addThresholds(thresholds);
		}
		return m.mask;
	}

	/** Whether it is about what the others leave. */
	private static boolean isThreshold(TraceFilter f) {
		return switch (f.condition()) {
		case Condition.Count c -> true;
		case Condition.Share s -> true;
		case Condition.Any a -> a.enabled().stream().anyMatch(FilterMask::isThreshold);
		default -> false;
		};
	}

	/** The events that pass. */
	static EventTable events(FilterSet filters, EventTable table, Progress progress) throws CancelledException {
		return table.filtered(eventMask(filters, table.producers(), table.typeNames(), table, progress), progress);
	}

	/**
	 * What filters mean for the events of a trace without accesses.
	 *
	 * @param typeNames distinct names of event types
	 * @param table all events; may be null without counts and shares
	 */
	public static EventMask eventMask(FilterSet filters, ProducerTree tree, List<String> typeNames, EventTable table, Progress progress)
			throws CancelledException {
		FilterMask m = new FilterMask(tree, progress);
		List<TraceFilter> active = filters.filters().stream().filter(TraceFilter::enabled).toList();
		EventMask plain = m.eventMask(active.stream().filter(f -> !isThreshold(f)).toList(), typeNames, null);
		List<TraceFilter> thresholds = active.stream().filter(FilterMask::isThreshold).toList();
		if (thresholds.isEmpty()) {
			return plain;
		}
		EventMask counted = m.eventMask(thresholds, typeNames, table.filtered(plain, progress));
		List<EventMask.Either> either = new ArrayList<>(plain.either());
		either.add(new EventMask.Either(List.of(counted), false));
		return new EventMask(plain.unwanted(), plain.terms(), either);
	}

	/** @param rest what thresholds are of */
	private EventMask eventMask(List<TraceFilter> filters, List<String> typeNames, EventTable rest) throws CancelledException {
		List<EventMask.Term> terms = new ArrayList<>();
		BitSet unwanted = new BitSet();
		List<EventMask.Either> either = new ArrayList<>();
		for (TraceFilter f : filters) {
			switch (f.condition()) {
			case Condition.Name n -> unwanted(unwanted, named(Pattern.compile(n.regex())), f.excludes());
			case Condition.Subtree s -> unwanted(unwanted, subtrees(s), f.excludes());
			case Condition.Level l -> unwanted(unwanted, levels(l), f.excludes());
			case Condition.Value v -> {
				Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
				if (dimension != null && dimension.ofEvents() != null) {
					terms.add(term(dimension.ofEvents(), v, f.excludes(), typeNames));
				}
			}
			case Condition.Count c -> unwanted(unwanted, counted(rest, c.min(), c.max()), f.excludes());
			case Condition.Share s -> unwanted(unwanted,
					counted(rest, s.minPercent() * rest.size() / 100, s.maxPercent() * rest.size() / 100), f.excludes());
			case Condition.Any a -> {
				List<EventMask> masks = new ArrayList<>();
				for (TraceFilter alternative : a.enabled()) {
					if (!isOnlyOfMemory(alternative.condition())) {
						masks.add(eventMask(List.of(alternative), typeNames, rest));
					}
				}
				if (!masks.isEmpty()) {
					either.add(new EventMask.Either(masks, f.excludes()));
				}
			}
			default -> {
				// isOnlyOfMemory
			}
			}
		}
		return new EventMask(unwanted, terms, either);
	}

	/** Which values of a property of events are wanted. */
	private static EventMask.Term term(Dimension.OfEvents property, Condition.Value v, boolean not, List<String> typeNames) {
		return new EventMask.Term(property, value -> (v.isRange() ? value != DimensionValues.UNKNOWN && value >= v.min() && value <= v.max()
				: v.numbers().contains(value) || !v.values().isEmpty() && v.values().contains(property.name(value, typeNames))) != not);
	}

	/** Whether a condition says nothing about events. */
	private static boolean isOnlyOfMemory(Condition c) {
		if (c instanceof Condition.Value v) {
			Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
			return dimension == null || dimension.ofEvents() == null;
		}
		return c instanceof Condition.Kind || c instanceof Condition.Lifetime || c instanceof Condition.Size || c instanceof Condition.Time;
	}

	/** Producers with so many events. */
	private BitSet counted(EventTable rest, double min, double max) {
		BitSet have = new BitSet();
		for (int id = 0; id < tree.size(); id++) {
			int count = rest.rowTo(id) - rest.rowFrom(id);
			have.set(id, count >= min && count <= max);
		}
		return have;
	}

	/** Adds what does not have a property, or what has it. */
	private void unwanted(BitSet to, BitSet have, boolean not) {
		if (!not) {
			have.flip(0, tree.size());
		}
		to.or(have);
	}

	private void add(TraceFilter f) throws MemtraceException {
		boolean not = f.excludes();
		switch (f.condition()) {
		case Condition.Name n -> remove(named(Pattern.compile(n.regex())), not);
		case Condition.Subtree s -> remove(subtrees(s), not);
		case Condition.Kind k -> remove(members(id -> k.kinds().contains(kind(id))), not);
		case Condition.Level l -> remove(levels(l), not);
		case Condition.Lifetime l -> remove(members(id -> {
			long ns = lifetimeNs(id);
			return ns >= l.minNs() && ns <= l.maxNs();
		}), not);
		case Condition.Size s -> remove(members(id -> {
			long bytes = tree.endAddress(id) - tree.startAddress(id);
			return bytes >= s.minBytes() && bytes <= s.maxBytes();
		}), not);
		case Condition.Time t -> {
			TimeOverlap in = new TimeOverlap(t.minNs(), t.maxNs());
			mask.keep(in, in.values(table, progress), value -> value == 1 != not);
		}
		case Condition.Value v -> addValue(v, not);
		case Condition.Any a -> addAny(a, not, null);
		case Condition.Count c -> throw new IllegalStateException();
		case Condition.Share s -> throw new IllegalStateException();
		}
	}

	private void addValue(Condition.Value v, boolean not) throws MemtraceException {
		Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
		if (dimension == null) {
			throw new MemtraceException("there is no dimension '" + v.dimension() + "' to filter by, only " + Dimensions.ids(Use.FILTER));
		}
		Set<String> names = v.values();
		if (dimension.id().equals("region") && v.numbers().isEmpty() && !v.isRange()) { // at any depth, as in_region() of SQL
			dimension = Dimensions.find("region_path", Use.FILTER);
			names = names.stream().map(Regions::inPath).collect(Collectors.toSet());
		}
		Set<String> wanted = names;
		DimensionValues values = dimension.values(table, progress);
		LongPredicate has = v.isRange() ? n -> values.isBetween(n, v.min(), v.max())
				: n -> !wanted.isEmpty() && values.isNamed(n, wanted) || !v.numbers().isEmpty() && values.isNumbered(n, v.numbers());
		mask.keep(dimension, values, not ? has.negate() : has);
	}

	/** @param counts what thresholds are of; null when there are none */
	private void addAny(Condition.Any any, boolean not, Counts counts) throws MemtraceException {
		List<AccessMask> masks = new ArrayList<>();
		for (TraceFilter f : any.enabled()) {
			FilterMask alternative = new FilterMask(table, structures, progress);
			if (isThreshold(f)) {
				alternative.remove(meeting(f.condition(), counts), f.excludes());
			} else {
				alternative.add(f);
			}
			masks.add(alternative.mask);
		}
		if (!masks.isEmpty()) {
			mask.keepAny(masks, not);
		}
	}

	/** Takes away what does not have a property, or what has it. */
	private void remove(BitSet have, boolean not) {
		if (!not) {
			have.flip(0, tree.size());
		}
		mask.removeProducers(have);
	}

	private BitSet named(Pattern pattern) throws CancelledException {
		BitSet found = new BitSet(tree.size());
		for (int id = 0, n = 0; id < tree.size(); n++) {
			if ((n & CHECK_EVERY) == 0) {
				progress.check();
			}
			if (pattern.matcher(tree.name(id)).find()) {
				found.set(id, tree.subtreeEnd(id));
				id = tree.subtreeEnd(id);
			} else {
				id++;
			}
		}
		return found;
	}

	private BitSet subtrees(Condition.Subtree s) throws CancelledException {
		BitSet found = new BitSet(tree.size());
		List<String> byName = new ArrayList<>();
		for (Condition.Part part : s.parts()) {
			int id = part.producer();
			if (id >= 0 && id < tree.size() && tree.name(id).equals(part.name())) {
				found.set(id, tree.subtreeEnd(id));
			} else {
				byName.add(part.name());
			}
		}
		for (int id = 0; id < tree.size() && !byName.isEmpty(); id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
			}
			if (byName.contains(tree.name(id))) {
				found.set(id, tree.subtreeEnd(id));
			}
		}
		return found;
	}

	private BitSet levels(Condition.Level l) throws CancelledException {
		BitSet found = new BitSet(tree.size());
		int[] level = new int[tree.size()];
		for (int id = 0; id < level.length; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
			}
			int parent = tree.parent(id);
			level[id] = parent == ProducerTree.NO_PARENT ? 0 : level[parent] + 1;
			found.set(id, level[id] >= l.min() && level[id] <= l.max());
		}
		return found;
	}

	/** The subtrees of all structures, stacks and ranges that are wanted. */
	private BitSet members(IntPredicate wanted) throws CancelledException {
		BitSet found = new BitSet(tree.size());
		for (int id = 0, n = 0; id < tree.size(); n++) {
			if ((n & CHECK_EVERY) == 0) {
				progress.check();
			}
			if (!isMember(id)) {
				id++;
				continue;
			}
			if (wanted.test(id)) {
				found.set(id, tree.subtreeEnd(id));
			}
			id = tree.subtreeEnd(id);
		}
		return found;
	}

	/** Whether a producer is what a person calls a piece of memory, and not what is around or within it. */
	private boolean isMember(int id) {
		return switch (tree.kind(id)) {
		case ROOT, IMAGE, NODE -> tree.isLeaf(id);
		case GROUP -> !Parts.isOpen(tree, id);
		case OTHER -> tree.isLeaf(id);
		case STRUCTURE, STACK, RANGE, PART, PAGE, FRAMES -> true;
		};
	}

	private String kind(int id) {
		int structure = tree.structure(id);
		if (structure >= 0) {
			return structures.get(structure).kind().name().toLowerCase(Locale.ROOT);
		}
		return tree.kind(id) == ProducerKind.STACK ? "stack" : "range";
	}

	private long lifetimeNs(int id) {
		int structure = tree.structure(id);
		if (structure < 0) {
			return table.info().durationNs();
		}
		if (tree.kind(id) == ProducerKind.GROUP && lives == null) {
			lives = Lives.of(structures);
		}
		Structure s = tree.kind(id) == ProducerKind.GROUP ? lives.asOne(structure) : structures.get(structure);
		return Math.min(s.deathNs(), table.info().endNs()) - Math.max(s.birthNs(), table.info().startNs());
	}

	/**
	 * What the filters leave that are no thresholds.
	 *
	 * @param of accesses of each producer itself
	 * @param before of all producers before one
	 */
	private record Counts(double[] of, double[] before) {
	}

	/** Looks at what the other filters leave, before any threshold. */
	private void addThresholds(List<TraceFilter> thresholds) throws MemtraceException {
		double[] of = table.filtered(mask).counts(progress);
		Counts counts = new Counts(of, prefixSums(of));
		for (TraceFilter f : thresholds) {
			if (f.condition() instanceof Condition.Any any) {
				addAny(any, f.excludes(), counts);
			} else {
				remove(meeting(f.condition(), counts), f.excludes());
			}
		}
	}

	/** The producers that meet a threshold. */
	private BitSet meeting(Condition threshold, Counts counts) throws CancelledException {
		double[] of = counts.of();
		double[] before = counts.before();
		double percent = before[of.length] / 100;
		Condition.Per per;
		double min;
		double max;
		if (threshold instanceof Condition.Count c) {
			per = c.per();
			min = c.min();
			max = c.max();
		} else {
			Condition.Share s = (Condition.Share) threshold;
			per = s.per();
			min = s.minPercent() * percent;
			max = s.maxPercent() * percent;
		}
		if (per == Condition.Per.STRUCTURE) {
			return members(id -> {
				double count = before[tree.subtreeEnd(id)] - before[id];
				return count >= min && count <= max;
			});
		}
		BitSet found = new BitSet(tree.size());
		for (int id = 0; id < of.length; id++) {
			found.set(id, of[id] >= min && of[id] <= max);
		}
		return found;
	}

	private static double[] prefixSums(double[] counts) {
		double[] sums = new double[counts.length + 1];
		for (int i = 0; i < counts.length; i++) {
			sums[i + 1] = sums[i] + counts[i];
		}
		return sums;
	}
}
