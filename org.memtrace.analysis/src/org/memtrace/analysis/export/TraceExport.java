// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** Writes a trace for other programs. Text, streamed, lines end with LF. Errors of the output are {@link UncheckedIOException}. */
public final class TraceExport {
	/** Columns of {@link #csv}. */
	public static final String CSV_HEADER = "start_ns,end_ns,image,page,structure,structure_id,task,thread,cpus,reads,writes,sharing,node,flags,ip";
	private static final long NS_PER_S = 1_000_000_000;

	private TraceExport() {
	}

	/**
	 * One line for each access (RFC 4180): {@code page} is the first address of the page or of the part of it that belongs to the
	 * structure, {@code structure} may be the name of a group where merging rules made one of several (then without id),
	 * {@code cpus} are separated by blanks, addresses and flags are hexadecimal, what is not known is empty.
	 */
	public static void csv(TraceStore store, AccessFilter filter, Appendable out, Progress progress)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		List<Structure> structures = store.structures();
		List<ThreadInfo> threads = store.threads();
		String[] names = structures.stream().map(s -> quoted(s.name())).toArray(String[]::new);
		String[] threadNames = threads.stream().map(t -> quoted(t.name())).toArray(String[]::new);
		String[] cpus = store.cpuSets().stream().map(TraceExport::cpus).toArray(String[]::new);
		Parts parts = new Parts(tree, structures);
		String[] groupNames = new String[parts.count()];
		append(out, Arrays.stream(CSV_HEADER.split(",")).map(store.info().timeUnit()::column).collect(Collectors.joining(",")) + "\n");
		StringBuilder line = new StringBuilder();
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				line.setLength(0);
				int structure = tree.structure(b.producer[i]);
				int group = parts.groupOf(b.producer[i]);
				if (group >= 0 && groupNames[group] == null) {
					groupNames[group] = quoted(parts.partName(group));
				}
				int thread = b.thread[i];
				int image = structure >= 0 ? structures.get(structure).image() : thread >= 0 ? threads.get(thread).image() : -1;
				line.append(b.startNs[i]).append(',').append(b.endNs[i]).append(',');
				known(line, image).append(',').append(Long.toHexString(tree.startAddress(b.producer[i]))).append(',')
						.append(structure >= 0 ? names[structure] : group >= 0 ? groupNames[group] : "").append(',');
				known(line, structure).append(',').append(thread < 0 ? "" : Long.toString(threads.get(thread).taskId()))
						.append(',').append(thread < 0 ? "" : threadNames[thread]).append(',')
						.append(b.cpuSet[i] < 0 ? "" : cpus[b.cpuSet[i]]).append(',').append(b.reads[i]).append(',')
						.append(b.writes[i]).append(',').append(b.sharing[i]).append(',');
				known(line, b.node[i]).append(',').append(Integer.toHexString(b.flags[i])).append(',')
						.append(b.ip[i] == 0 ? "" : Long.toHexString(b.ip[i])).append('\n');
				append(out, line);
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

	private static StringBuilder known(StringBuilder line, int value) {
		return value < 0 ? line : line.append(value);
	}

	static String cpus(BitSet set) {
		return set.toString().replaceAll("[{},]", "");
	}

	private static String quoted(String text) {
		return text.matches("(?s).*[,\"\r\n].*") ? '"' + text.replace("\"", "\"\"") + '"' : text;
	}

	private static void append(Appendable out, CharSequence text) {
		try {
			out.append(text);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
