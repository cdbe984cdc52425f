// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.filter.EventMask;
import org.memtrace.analysis.filter.FilterMask;
import org.memtrace.analysis.text.Csv;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;

/** Rows that are events of a trace that is no memory trace. */
final class OtherRows extends EventRows {
	private final Map<Integer, EventType> types = new HashMap<>();
	private final Map<Integer, Integer> typeRank = new HashMap<>();
	private final Map<Integer, boolean[]> typePasses = new HashMap<>();
	/** Filters of all views, null without any. */
	private final EventMask mask;
	/** Index of the name of a type for the mask. */
	private final Map<Integer, Integer> nameIndex = new HashMap<>();

	/** @param events all events of the trace; may be null without filters */
	OtherRows(TraceStore store, Query query, EventTable events, int mostSorted, Progress progress) throws MemtraceException {
		super(store, query, EventColumn.OF_EVENTS, mostSorted);
		List<EventType> sortedTypes = new ArrayList<>(store.eventTypes());
		List<String> names = events == null ? sortedTypes.stream().map(EventType::name).distinct().toList() : events.typeNames();
		sortedTypes.forEach(t -> nameIndex.put(t.id(), names.indexOf(t.name())));
		mask = query.filters().isActive() ? FilterMask.eventMask(query.filters(), tree, names, events, progress) : null;
		sortedTypes.sort((a, b) -> a.name().compareToIgnoreCase(b.name()));
		for (EventType t : sortedTypes) {
			typeRank.put(t.id(), typeRank.size());
			types.put(t.id(), t);
			CellFilter name = cells.get(EventColumn.EVENT_TYPE);
			CellFilter category = cells.get(EventColumn.CATEGORY);
			typePasses.put(t.id(), new boolean[] {(name == null || name.test(t.name()))
					&& (category == null || category.test(category(t.id())))});
		}
	}

	private boolean passes(EventBatch b, int i, long origin) {
		boolean[] type = typePasses.get(b.type[i]);
		if (type != null && !type[0]) {
			return false;
		}
		if (mask != null && !mask.passes(b.producer[i], nameIndex.getOrDefault(b.type[i], -1), EventTable.keptCpu(b.cpu[i]))) {
			return false;
		}
		for (Map.Entry<EventColumn, CellFilter> e : cells.entrySet()) {
			CellFilter f = e.getValue();
			boolean passes = switch (e.getKey().id()) {
			case "start_ns" -> f.test((double) (b.startNs[i] - origin));
			case "end_ns" -> f.test((double) (b.endNs[i] - origin));
			case "cpu" -> f.test((double) b.cpu[i]);
			case "value" -> category(b.type[i]).isEmpty() || types.get(b.type[i]).category() != EventCategory.PUNCTUAL
					&& f.test(b.value[i]);
			case "producer" -> f.test(tree.name(b.producer[i]));
			default -> true;
			};
			if (!passes) {
				return false;
			}
		}
		return true;
	}

	/** Which events of a batch pass. */
	private boolean[] passing(EventBatch b) throws MemtraceException {
		long origin = store.info().startNs();
		boolean[] passing = new boolean[b.count];
		int n = 0;
		for (int i = 0; i < b.count; i++) {
			passing[i] = passes(b, i, origin);
			n += passing[i] ? 1 : 0;
		}
		CellFilter parameters = cells.get(EventColumn.PARAMETERS);
		if (parameters != null && n > 0) {
			long[] ids = new long[n];
			int at = 0;
			for (int i = 0; i < b.count; i++) {
				if (passing[i]) {
					ids[at++] = b.id[i];
				}
			}
			List<String> texts = store.eventParameters(ids);
			at = 0;
			for (int i = 0; i < b.count; i++) {
				passing[i] = passing[i] && parameters.test(texts.get(at++));
			}
		}
		return passing;
	}

	@Override
	void matches(Progress progress, Match match) throws MemtraceException {
		store.visitEvents(storeQuery(), b -> {
			boolean[] passing = passing(b);
			for (int i = 0; i < b.count; i++) {
				if (passing[i]) {
					match.match(b.startNs[i], b.id[i], key(b, i));
				}
			}
			seen(b.count);
		}, progress);
	}

	private long key(EventBatch b, int i) {
		return switch (query.sort().id()) {
		case "end_ns" -> b.endNs[i];
		case "cpu" -> b.cpu[i];
		case "producer" -> b.producer[i];
		case "type" -> typeRank.getOrDefault(b.type[i], -1);
		case "category" -> types.containsKey(b.type[i]) ? types.get(b.type[i]).category().ordinal() : -1;
		case "value" -> {
			// numbers of the same order as the values
			long bits = Double.doubleToLongBits(b.value[i]);
			yield (bits ^ bits >> 63 & Long.MAX_VALUE) >> 1; // room for the sign of a descending order
		}
		default -> b.startNs[i];
		};
	}

	@Override
	void between(long[] first, long[] last, Progress progress, RowVisitor visitor) throws MemtraceException {
		long[] from = first == null ? new long[] {Long.MIN_VALUE, Long.MIN_VALUE} : first;
		long[] to = last == null ? new long[] {Long.MAX_VALUE, Long.MAX_VALUE} : new long[] {last[0], last[1] + 1};
		store.visitEvents(storeQuery(), from[0], from[1], to[0], to[1], b -> {
			boolean[] passing = passing(b);
			rows(b, passing, visitor);
		}, progress);
	}

	@Override
	void byId(long[] ids, RowVisitor visitor) throws MemtraceException {
		store.readEvents(ids, b -> {
			boolean[] all = new boolean[b.count];
			java.util.Arrays.fill(all, true);
			rows(b, all, visitor);
		});
	}

	private void rows(EventBatch b, boolean[] passing, RowVisitor visitor) throws MemtraceException {
		int n = 0;
		long[] ids = new long[b.count];
		for (int i = 0; i < b.count; i++) {
			if (passing[i]) {
				ids[n++] = b.id[i];
			}
		}
		List<String> parameters = store.eventParameters(java.util.Arrays.copyOf(ids, n));
		int at = 0;
		for (int i = 0; i < b.count; i++) {
			if (passing[i]) {
				visitor.row(new Row(b.id[i], b.startNs[i], b.endNs[i], b.producer[i], -1, -1, 0, 0, 0, -1, 0, 0, -1, -1, -1, b.type[i], b.value[i],
						b.cpu[i], parameters.get(at++)));
			}
		}
	}

	private String category(int type) {
		EventType t = types.get(type);
		if (t == null) {
			return "";
		}
		String name = t.category().name();
		return name.charAt(0) + name.substring(1).toLowerCase(Locale.ROOT);
	}

	@Override
	public boolean areAccesses() {
		return false;
	}

	@Override
	Object cell(EventColumn column, Row row) {
		return switch (column.id()) {
		case "start_ns" -> (Object) row.startNs();
		case "end_ns" -> row.endNs();
		default -> text(column, row);
		};
	}

	@Override
	public String text(EventColumn column, Row row) {
		return switch (column.id()) {
		case "cpu" -> row.cpu() < 0 ? "" : Integer.toString(row.cpu());
		case "category" -> category(row.type());
		case "type" -> types.containsKey(row.type()) ? types.get(row.type()).name() : "";
		case "value" -> !types.containsKey(row.type()) ? Csv.number(row.value()) : switch (types.get(row.type()).category()) {
		case PUNCTUAL -> "";
		case LINK -> row.value() >= 0 && row.value() < tree.size() ? tree.name((int) row.value()) : Csv.number(row.value());
		default -> Csv.number(row.value());
		};
		case "parameters" -> row.parameters();
		case "start_ns" -> time(row.startNs() - store.info().startNs());
		case "end_ns" -> time(row.endNs() - store.info().startNs());
		default -> tree.name(row.producer());
		};
	}
}
