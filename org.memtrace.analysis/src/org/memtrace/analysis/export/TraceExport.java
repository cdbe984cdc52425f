// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BatchChunk;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessCells;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.Csv;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** Writes a trace for other programs. Text, streamed, lines end with LF. Errors of the output are {@link UncheckedIOException}. */
public final class TraceExport {
	private static final long NS_PER_S = 1_000_000_000;

	private TraceExport() {
	}

	/**
	 * One line for each access (RFC 4180): addresses are hexadecimal, what is not known is empty.
	 *
	 * @param table all accesses of the store
	 * @param columns some of {@link org.memtrace.analysis.column.AccessColumns}
	 */
	public static void csv(TraceStore store, AccessTable table, AccessFilter filter, List<Dimension> columns, Appendable out,
			Progress progress)
			throws MemtraceException {
		AccessCells cells = new AccessCells(table, columns, progress);
		append(out, columns.stream().map(c -> store.info().timeUnit().column(c.id())).collect(Collectors.joining(",")) + "\n");
		StringBuilder line = new StringBuilder();
		filter.visit(store, b -> {
			cells.chunk(BatchChunk.of(b));
			for (int i = 0; i < b.count; i++) {
				line.setLength(0);
				for (int c = 0; c < columns.size(); c++) {
					Object cell = cells.cell(c, i);
					line.append(c == 0 ? "" : ",");
					if (cell instanceof String text) {
						line.append(Csv.cell(text));
					} else if (cell != null) {
						line.append(cell);
					}
				}
				append(out, line.append('\n'));
			}
		}, progress);
	}

	/**
	 * The form that {@code pj_dump} prints: a Container line for each event producer, then a line for each event, in order of
	 * time. Times in seconds. Accesses are variables named by their event type; their value is the count.
	 */
	public static void pjdump(TraceStore store, AccessFilter filter, Appendable out, Progress progress)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		long startNs = store.info().startNs();
		String whole = seconds(startNs) + ", " + seconds(store.info().endNs()) + ", "
				+ seconds(store.info().endNs() - startNs);
		int size = tree.size();
		// of the ancestors of the selected part, and the part itself
		int from = filter.query().producerFrom();
		int to = Math.min(size, filter.query().producerTo());
		for (int id = 0; id < to; id++) {
			progress.check();
			if (id < from && tree.subtreeEnd(id) <= from) {
				continue;
			}
			int parent = tree.parent(id);
			append(out, "Container, " + (parent < 0 ? "0" : name(tree.name(parent))) + ", "
					+ tree.kind(id).name().toLowerCase(Locale.ROOT) + ", " + whole + ", " + name(tree.name(id)) + "\n");
		}
		if (store.accessCount() == 0) {
			events(store, filter, tree, out, progress);
			return;
		}
		StringBuilder line = new StringBuilder();
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				line.setLength(0);
				String container = name(tree.name(b.producer[i]));
				String span = seconds(b.startNs[i]) + ", " + seconds(b.endNs[i]) + ", " + seconds(b.endNs[i] - b.startNs[i]);
				for (int write = 0; write < 2; write++) {
					long count = write == 0 ? b.reads[i] : b.writes[i];
					if (count > 0) {
						line.append("Variable, ").append(container).append(", ")
								.append(AccessFilter.TYPES[AccessFilter.type(b.sharing[i], write == 1)]).append(", ").append(span)
								.append(", ").append(count).append(".000000\n");
					}
				}
				append(out, line);
			}
		}, progress);
	}

	/** Of a trace that is no memory trace. */
	private static void events(TraceStore store, AccessFilter filter, ProducerTree tree, Appendable out, Progress progress)
			throws MemtraceException {
		java.util.Map<Integer, EventType> types = new java.util.HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		store.visitEvents(filter.query(), b -> {
			for (int i = 0; i < b.count; i++) {
				EventType type = types.get(b.type[i]);
				if (type == null) {
					continue;
				}
				String container = name(tree.name(b.producer[i]));
				String span = seconds(b.startNs[i]) + ", " + seconds(b.endNs[i]) + ", " + seconds(b.endNs[i] - b.startNs[i]);
				append(out, switch (type.category()) {
				case PUNCTUAL -> "Event, " + container + ", event, " + seconds(b.startNs[i]) + ", " + name(type.name()) + "\n";
				case STATE -> "State, " + container + ", state, " + span + ", "
						+ String.format(Locale.ROOT, "%.6f", b.value[i]) + ", " + name(type.name()) + "\n";
				case LINK -> "Link, 0, link, " + span + ", " + name(type.name()) + ", " + container + ", "
						+ (b.value[i] >= 0 && b.value[i] < tree.size() ? name(tree.name((int) b.value[i])) : container) + "\n";
				case VARIABLE -> "Variable, " + container + ", " + name(type.name()) + ", " + span + ", "
						+ String.format(Locale.ROOT, "%.6f", b.value[i]) + "\n";
				});
			}
		}, progress);
	}

	/** Exact, with nine decimals. */
	public static String seconds(long ns) {
		String fraction = Long.toString(Math.abs(ns % NS_PER_S));
		return (ns < 0 ? "-" : "") + Math.abs(ns / NS_PER_S) + '.' + "0".repeat(9 - fraction.length()) + fraction;
	}

	/** pj_dump's lines have no quoting. */
	private static String name(String text) {
		return text.replace(',', ';').replaceAll("\\p{Cntrl}", " ");
	}

	private static void append(Appendable out, CharSequence text) {
		try {
			out.append(text);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
