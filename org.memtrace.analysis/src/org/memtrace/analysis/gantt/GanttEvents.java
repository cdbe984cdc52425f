// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;

/** A trace of any origin: states, instants, variables and links. */
final class GanttEvents extends GanttSource {
	/** Nested states deeper than this are drawn as if they were of this depth. */
	static final int MAX_DEPTH = 3;
	private static final int CATEGORIES = EventCategory.values().length;

	private final EventTable table;
	/** Type by index in the table and category, -1 when there are no such events. */
	private final int[] typeOf;
	private final int[] links;

	GanttEvents(EventTable table) {
		super(table.info(), table.producers(), types(table), table.size());
		this.table = table;
		this.typeOf = new int[table.typeNames().size() * CATEGORIES];
		Arrays.fill(typeOf, -1);
		for (int t = 0; t < types().size(); t++) {
			GanttType type = types().get(t);
			typeOf[table.typeNames().indexOf(type.name()) * CATEGORIES + category(type.kind()).ordinal()] = t;
		}
		this.links = links(table);
	}

	private static EventCategory category(GanttType.Kind kind) {
		return switch (kind) {
		case STATE -> EventCategory.STATE;
		case PUNCTUAL -> EventCategory.PUNCTUAL;
		case VARIABLE -> EventCategory.VARIABLE;
		case LINK -> EventCategory.LINK;
		case ACCESS -> throw new IllegalArgumentException();
		};
	}

	private static GanttType.Kind kind(EventCategory category) {
		return switch (category) {
		case STATE -> GanttType.Kind.STATE;
		case PUNCTUAL -> GanttType.Kind.PUNCTUAL;
		case VARIABLE -> GanttType.Kind.VARIABLE;
		case LINK -> GanttType.Kind.LINK;
		};
	}

	/** Types that occur, states first. */
	private static List<GanttType> types(EventTable table) {
		int names = table.typeNames().size();
		BitSet seen = new BitSet();
		for (int row = 0; row < table.size(); row++) {
			seen.set(table.category(row).ordinal() * names + table.type(row));
		}
		List<ModelType> models = ModelType.ofEvents(table.typeNames());
		List<GanttType> list = new ArrayList<>();
		for (EventCategory c : new EventCategory[] {EventCategory.STATE, EventCategory.VARIABLE, EventCategory.PUNCTUAL,
			EventCategory.LINK}) {
			for (int t = 0; t < names; t++) {
				if (seen.get(c.ordinal() * names + t)) {
					list.add(new GanttType(table.typeNames().get(t), kind(c), models.get(t)));
				}
			}
		}
		return list;
	}

	private static int[] links(EventTable table) {
		int n = 0;
		for (int row = 0; row < table.size(); row++) {
			n += table.is(row, EventCategory.LINK) ? 1 : 0;
		}
		int[] rows = new int[n];
		long[] starts = new long[n];
		n = 0;
		for (int row = 0; row < table.size(); row++) {
			if (table.is(row, EventCategory.LINK)) {
				starts[n] = table.start(row);
				rows[n++] = row;
			}
		}
		int[] order = GanttSeries.order(starts);
		for (int i = 0; i < n; i++) {
			order[i] = rows[order[i]];
		}
		return order;
	}

	EventTable table() {
		return table;
	}

	@Override
	int slots() {
		return types().size() * (MAX_DEPTH + 1);
	}

	@Override
	public int slotType(int slot) {
		return slot % Math.max(1, types().size());
	}

	@Override
	int slotLayer(int slot) {
		return slot / Math.max(1, types().size());
	}

	@Override
	public List<String> groups(Grouping grouping) {
		List<String> names = new ArrayList<>();
		if (grouping == Grouping.CPU) {
			for (int cpu = 0; cpu <= table.maxCpu(); cpu++) {
				names.add("CPU " + cpu);
			}
		} else {
			names.add("all");
		}
		return names;
	}

	@Override
	public boolean knows(Grouping grouping) {
		return grouping == Grouping.PRODUCER || grouping == Grouping.CPU && table.maxCpu() > 0;
	}

	@Override
	int firstRow(int producer) {
		return producer == producers().size() ? table.size() : table.rowFrom(producer);
	}

	@Override
	long start(int row) {
		return table.start(row);
	}

	@Override
	long end(int row) {
		return table.end(row);
	}

	@Override
	void groupsOf(int row, Grouping grouping, BitSet groups) {
		groups.set(grouping == Grouping.CPU ? table.cpu(row) : ALL);
	}

	@Override
	void event(int row, Grouping grouping, int group, GanttSink sink) {
		if (grouping == Grouping.CPU && table.cpu(row) != group) {
			return;
		}
		EventCategory category = table.category(row);
		int type = typeOf[table.type(row) * CATEGORIES + category.ordinal()];
		long start = table.start(row);
		long end = table.end(row);
		switch (category) {
		case STATE -> {
			int depth = (int) Math.max(0, Math.min(MAX_DEPTH, table.value(row)));
			sink.event(row, start, end, depth * types().size() + type, end - start);
		}
		case VARIABLE -> sink.event(row, start, end, type, table.value(row) * (end - start));
		case PUNCTUAL -> sink.event(row, start, start, type, 1);
		case LINK -> {
			// links belong to two rows: drawn as arrows
		}
		}
	}

	@Override
	GanttSeries series(int producer, Grouping grouping, int group, Progress progress) throws CancelledException {
		if (grouping != Grouping.PRODUCER || records(producer) <= GanttSeries.MAX_EXACT) {
			GanttSeries exact = GanttSeries.exact(records(producer), sink -> visit(producer, grouping, group, Long.MIN_VALUE,
					Long.MAX_VALUE, sink, progress));
			if (exact != null) {
				return exact;
			}
		}
		// an instant at the end of the trace is in it, too
		return binned(producer, grouping, group, info().startNs(), info().endNs() + 1,
				GanttSeries.bins(slots()), progress);
	}

	@Override
	int[] linkRows() {
		return links;
	}

	@Override
	int linkEnd(int row) {
		double v = table.value(row);
		return v >= 0 && v < producers().size() ? (int) v : -1;
	}

	@Override
	int linkType(int row) {
		return typeOf[table.type(row) * CATEGORIES + EventCategory.LINK.ordinal()];
	}
}
