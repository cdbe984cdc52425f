// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.events.StateTimes;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.tree.ProducerTree;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** What a trace of another tool shows, in words: its types of events, and how its producers spend their time in states. */
public final class EventSummary {
	private static final int CHECK_EVERY = 0x3ff;
	/** States with a smaller share of the time are not talked about. */
	private static final double RELEVANT = 0.01;
	/** Least and most are told of when they differ by so much of the time of a producer. */
	private static final double UNEVEN = 0.02;

	/** A type, with the time of the innermost states of that type. */
	private static final class Type {
		private final String name;
		private EventCategory category;
		private long events;
		private double time;
		/** Of the time of a producer, over those that have states. */
		private double least = Double.POSITIVE_INFINITY;
		private double most = -1;
		private int leastAt = -1;
		private int mostAt = -1;

		Type(String name) {
			this.name = name;
		}

		void share(double share, int producer) {
			if (share < least) {
				least = share;
				leastAt = producer;
			}
			if (share > most) {
				most = share;
				mostAt = producer;
			}
		}
	}

	private final EventTable table;
	private final List<Type> types = new ArrayList<>();
	private int active;
	/** Producers with states. */
	private int timed;
	private double inNone;
	private double all;

	private EventSummary(EventTable table) {
		this.table = table;
		table.typeNames().forEach(name -> types.add(new Type(name)));
	}

	/** Looks at all events of a table. */
	public static EventSummary of(EventTable table, Progress progress) throws CancelledException {
		EventSummary s = new EventSummary(table);
		TraceInfo info = table.info();
		StateTimes times = new StateTimes(table, info.startNs(), info.endNs());
		int producers = table.producers().size();
		progress.begin("Summing up", producers);
		for (int id = 0; id < producers; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
				progress.worked(Math.min(CHECK_EVERY + 1, producers - id));
			}
			s.add(id, times);
		}
		s.types.removeIf(t -> t.events == 0);
		s.types.sort(Comparator.comparingDouble((Type t) -> -t.time).thenComparingLong(t -> -t.events).thenComparing(t -> t.name));
		return s;
	}

	private void add(int id, StateTimes times) {
		boolean states = false;
		for (int row = table.rowFrom(id); row < table.rowTo(id); row++) {
			Type t = types.get(table.type(row));
			t.events++;
			for (EventCategory c : EventCategory.values()) {
				t.category = table.is(row, c) ? c : t.category;
			}
			states |= t.category == EventCategory.STATE;
		}
		active += table.rowTo(id) > table.rowFrom(id) ? 1 : 0;
		if (!states) {
			return;
		}
		double whole = table.info().durationNs();
		double[] own = new double[types.size()];
		inNone += times.of(id, (row, from, to) -> own[table.type(row)] += to - from);
		timed++;
		all += whole;
		for (int k = 0; k < own.length; k++) {
			types.get(k).time += own[k];
			types.get(k).share(whole > 0 ? own[k] / whole : 0, id);
		}
	}

	private static String percent(double share) {
		return Units.percent(100 * share);
	}

	/** The text. */
	public String text() {
		TraceInfo info = table.info();
		StringBuilder b = new StringBuilder();
		b.append(info.alias()).append('\n').append("=".repeat(Math.max(1, info.alias().length()))).append("\n\n");
		b.append("Recorded   ").append(Units.duration(info, info.durationNs())).append('\n');
		b.append("Producers  ").append(Units.count(table.producers().size())).append(", ").append(Units.count(active))
				.append(active == 1 ? " has events\n" : " have events\n");
		Map<EventCategory, Long> counts = new EnumMap<>(EventCategory.class);
		types.forEach(t -> counts.merge(t.category, t.events, Long::sum));
		List<String> parts = new ArrayList<>();
		counts.forEach((c, n) -> parts.add(Units.plural(n, noun(c)) + (c == EventCategory.VARIABLE ? " of variables" : "")));
		b.append("Events     ").append(Units.count(table.size())).append(parts.isEmpty() ? "" : ": ").append(String.join(", ", parts))
				.append("\n\n");
		table(b, info);
		if (timed > 0) {
			b.append("Time: of ").append(Units.plural(timed, "producer")).append(" with states; each instant belongs to the innermost one.\n");
			uneven(b);
		}
		return b.toString();
	}

	private static String noun(EventCategory c) {
		return switch (c) {
		case PUNCTUAL -> "instant";
		case STATE -> "state";
		case LINK -> "link";
		case VARIABLE -> "value";
		};
	}

	private void table(StringBuilder b, TraceInfo info) {
		List<String[]> rows = new ArrayList<>();
		rows.add(new String[] {"Type", "Kind", "Events", "Time", "Share"});
		for (Type t : types) {
			boolean state = t.category == EventCategory.STATE;
			rows.add(new String[] {TextColumns.cut(t.name, 40), t.category.name().toLowerCase(Locale.ROOT),
				String.format(Locale.ROOT, "%,d", t.events), state ? Units.duration(info, t.time) : "", state ? percent(t.time / all) : ""});
		}
		if (inNone > 0) {
			rows.add(new String[] {"in no state", "", "", Units.duration(info, inNone), percent(inNone / all)});
		}
		TextColumns.columns(b, rows, "llrrr");
	}

	/** Which producers have least and most of what. */
	private void uneven(StringBuilder b) {
		ProducerTree tree = table.producers();
		b.append("\nWhat stands out\n\n");
		boolean any = false;
		for (Type t : types) {
			if (t.time >= RELEVANT * all && timed > 1 && t.most - t.least >= UNEVEN) {
				b.append("* ").append(t.name).append(": ").append(percent(t.time / all)).append(" of the time, from ").append(percent(t.least))
						.append(" (").append(tree.name(t.leastAt)).append(") to ").append(percent(t.most)).append(" (")
						.append(tree.name(t.mostAt)).append(").\n");
				any = true;
			}
		}
		if (!any) {
			b.append("Nothing: all producers spend their time alike.\n");
		}
	}

	/** One line for each type. */
	public String toCsv() {
		StringBuilder b = new StringBuilder("type,category,events,time_ns,percent\n");
		for (Type t : types) {
			b.append(Csv.cell(t.name)).append(',').append(t.category.name().toLowerCase(Locale.ROOT)).append(',').append(t.events).append(',')
					.append((long) t.time).append(',').append(all > 0 ? Csv.number(100 * t.time / all) : "").append('\n');
		}
		return b.toString();
	}

	/** The table for programs. */
	public JsonObject toJson() {
		JsonObject o = new JsonObject();
		JsonArray list = new JsonArray();
		for (Type t : types) {
			JsonObject j = new JsonObject();
			j.addProperty("type", t.name);
			j.addProperty("category", t.category.name().toLowerCase(Locale.ROOT));
			j.addProperty("events", t.events);
			j.addProperty("time_ns", (long) t.time);
			j.addProperty("percent", all > 0 ? (Double) (100 * t.time / all) : null);
			list.add(j);
		}
		o.add("types", list);
		return o;
	}
}
