// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.foreign;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * Producers and events of a trace that FrameSoc or another tool wrote: any ids, any order. Producers whose parent is missing,
 * and those in a cycle, become roots.
 */
public final class ForeignProducers {
	private static final int BATCH = 8192;

	private record Producer(int id, String name, int parent) {
	}

	private final Map<Integer, Integer> numbers = new HashMap<>();
	private final ProducerTree tree;

	private ForeignProducers(List<Producer> all) {
		Map<Integer, List<Producer>> children = new HashMap<>();
		Set<Integer> ids = new HashSet<>();
		all.forEach(p -> ids.add(p.id));
		List<Producer> roots = new ArrayList<>();
		for (Producer p : all) {
			if (p.parent != p.id && ids.contains(p.parent)) {
				children.computeIfAbsent(p.parent, k -> new ArrayList<>()).add(p);
			} else {
				roots.add(p);
			}
		}
		Comparator<Producer> byName = Comparator.comparing(Producer::name, ForeignProducers::compareNames)
				.thenComparing(Producer::id);
		children.values().forEach(list -> list.sort(byName));
		roots.sort(byName);
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		roots.forEach(root -> add(builder, root, children));
		for (Producer p : all) {
			if (!numbers.containsKey(p.id)) { // on a cycle: reachable from no root
				add(builder, p, children);
			}
		}
		tree = builder.build();
	}

	private void add(ProducerTreeBuilder builder, Producer root, Map<Integer, List<Producer>> children) {
		Deque<Producer> todo = new ArrayDeque<>();
		Producer endMark = new Producer(Integer.MIN_VALUE, "", 0);
		todo.push(root);
		while (!todo.isEmpty()) {
			Producer p = todo.pop();
			if (p == endMark) {
				builder.end();
			} else if (!numbers.containsKey(p.id)) {
				numbers.put(p.id, builder.begin(ProducerKind.OTHER, p.name, 0, 0, -1));
				todo.push(endMark);
				List<Producer> list = children.getOrDefault(p.id, List.of());
				for (int i = list.size() - 1; i >= 0; i--) {
					todo.push(list.get(i));
				}
			}
		}
	}

	/** Numbers inside names compare by value, as FrameSoc sorts. */
	static int compareNames(String a, String b) {
		int i = 0;
		int j = 0;
		while (i < a.length() && j < b.length()) {
			int iEnd = digits(a, i);
			int jEnd = digits(b, j);
			int order;
			if (iEnd > i && jEnd > j) {
				String x = a.substring(i, iEnd).replaceFirst("^0+(?=.)", "");
				String y = b.substring(j, jEnd).replaceFirst("^0+(?=.)", "");
				order = x.length() != y.length() ? Integer.compare(x.length(), y.length()) : x.compareTo(y);
				i = iEnd;
				j = jEnd;
			} else {
				order = Character.compare(a.charAt(i++), b.charAt(j++));
			}
			if (order != 0) {
				return order;
			}
		}
		return Integer.compare(a.length() - i, b.length() - j);
	}

	private static int digits(String text, int from) {
		int end = from;
		while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
			end++;
		}
		return end;
	}

	public static ForeignProducers read(Connection db) throws SQLException {
		List<Producer> all = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT ID, NAME, PARENT_ID FROM EVENT_PRODUCER ORDER BY ID")) {
			while (rows.next()) {
				String name = rows.getString(2);
				all.add(new Producer(rows.getInt(1), name == null ? "" : name, rows.getInt(3)));
			}
		}
		return new ForeignProducers(all);
	}

	/** Number of a producer in the tree by its id in the database, -1 when there is none. */
	int number(int id) {
		return numbers.getOrDefault(id, -1);
	}

	public ProducerTree tree() {
		return tree;
	}

	private static final String COLUMNS = "SELECT ID, EVENT_TYPE_ID, EVENT_PRODUCER_ID, TIMESTAMP, CPU, CATEGORY, LPAR, DPAR"
			+ " FROM EVENT WHERE ";

	/** Events that overlap a window. */
	public void events(Connection db, AccessQuery query, EventVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		try (PreparedStatement select = db.prepareStatement(COLUMNS + "TIMESTAMP < ? AND (TIMESTAMP >= ? OR LPAR > ?)"
				+ " ORDER BY TIMESTAMP, ID")) {
			select.setLong(1, query.toNs());
			select.setLong(2, query.fromNs());
			select.setLong(3, query.fromNs());
			visit(select, query, visitor, progress);
		}
	}

	/** Events that overlap a window, from one event on until before another, in the order of start and id. */
	public void events(Connection db, AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws SQLException, MemtraceException {
		// the first two conditions are for the index of times
		try (PreparedStatement select = db.prepareStatement(COLUMNS + "TIMESTAMP >= ? AND TIMESTAMP <= ?"
				+ " AND (TIMESTAMP > ? OR ID >= ?) AND (TIMESTAMP < ? OR ID < ?) ORDER BY TIMESTAMP, ID")) {
			select.setLong(1, fromNs);
			select.setLong(2, Math.min(toNs, query.toNs() - 1));
			select.setLong(3, fromNs);
			select.setLong(4, fromId);
			select.setLong(5, toNs);
			select.setLong(6, toId);
			visit(select, query, visitor, progress);
		}
	}

	/** Events by id, in this order. */
	public void events(Connection db, long[] ids, EventVisitor visitor) throws SQLException, MemtraceException {
		try (PreparedStatement select = db.prepareStatement(COLUMNS + "ID = ?")) {
			for (long id : ids) {
				select.setLong(1, id);
				visit(select, AccessQuery.ALL, visitor, Progress.NONE);
			}
		}
	}

	private void visit(PreparedStatement select, AccessQuery query, EventVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		EventBatch out = new EventBatch(BATCH);
		long pending = 0;
		try (ResultSet rows = select.executeQuery()) {
			while (rows.next()) {
				if (++pending % BATCH == 0) {
					progress.worked(BATCH);
					progress.check();
				}
				long start = rows.getLong(4);
				boolean punctual = rows.getInt(6) == EventCategory.PUNCTUAL.ordinal();
				// some importers leave the end of a variable at 0
				long end = punctual ? start : Math.max(start, rows.getLong(7));
				Integer producer = numbers.get(rows.getInt(3));
				if (producer == null || producer < query.producerFrom() || producer >= query.producerTo()
						|| start < query.fromNs() && end <= query.fromNs()) {
					continue;
				}
				if (out.isFull()) {
					visitor.visit(out);
					out.count = 0;
				}
				out.add(rows.getLong(1), rows.getInt(2), producer, start, end, rows.getDouble(8), rows.getInt(5));
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}
}
