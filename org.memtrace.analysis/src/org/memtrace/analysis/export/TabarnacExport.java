// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes the files of TABARNAC, from which its R script makes the report: {@code NAME.full.page.csv} with the reads and the writes of each
 * page by thread and the thread that touched it first, {@code NAME.structs.csv}, {@code NAME.stackmap.csv}, and, if a period is given,
 * {@code NAME.000000.page.csv} and so on with what was counted until the end of each period. Numbers are decimal, addresses of pages are
 * page numbers, lines end with LF, as TABARNAC's Pin tool writes them (D. Beniamine, Analyzing the memory behavior of parallel scientific
 * applications, 2016, chapter 4).
 *
 * <p>These files know one address space: accesses of several process images are refused. Structures smaller than a page are left out, as
 * there; of structures that had the same addresses one after the other the one that lived longest is written.
 */
public final class TabarnacExport {
	private final TraceStore store;
	private final Path folder;
	private final String name;
	private final long pageSize;
	/** Column of a thread by its index in the trace; -1: of another process. */
	private int[] columnOf;
	private int columns;
	private int image = -1;
	/** By page number: reads of each thread, then writes. */
	private final TreeMap<Long, Page> pages = new TreeMap<>(Long::compareUnsigned);
	private long unattributed;
	private long leftOut;

	private static final class Page {
		final int first;
		final long[] counts;

		Page(int first, int columns) {
			this.first = first;
			counts = new long[2 * columns];
		}
	}

	/**
	 * What could not be said in these files.
	 *
	 * @param unattributed accesses without a known thread, which are in none of the files
	 * @param structures structures that had addresses of another one, and are not written
	 */
	public record Omitted(long unattributed, long structures) {
	}

	private TabarnacExport(TraceStore store, Path folder, String name) {
		this.store = store;
		this.folder = folder;
		this.name = name;
		this.pageSize = Math.max(1, store.info().pageSizeBytes());
	}

	/**
	 * Writes the files.
	 *
	 * @param folder an existing folder without files of this name
	 * @param name first part of the names of the files
	 * @param periodNs length of the periods, 0: no periodic files
	 */
	public static Omitted write(TraceStore store, AccessFilter filter, Path folder, String name, long periodNs, Progress progress)
			throws MemtraceException {
		TabarnacExport export = new TabarnacExport(store, folder, name);
		try {
			export.pages(filter, periodNs, progress);
			export.structures();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		return new Omitted(export.unattributed, export.leftOut);
	}

	private void pages(AccessFilter filter, long periodNs, Progress progress) throws MemtraceException, IOException {
		ProducerTree tree = store.producers();
		List<ThreadInfo> threads = store.threads();
		long[] nextDump = {store.info().startNs() + periodNs};
		int[] dumps = {0};
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				if (b.thread[i] == AccessBatch.NO_THREAD) {
					unattributed += b.reads[i] + b.writes[i];
					continue;
				}
				ThreadInfo thread = threads.get(b.thread[i]);
				process(thread, threads);
				while (periodNs > 0 && b.startNs[i] >= nextDump[0]) {
					dump(String.format(Locale.ROOT, "%06d", dumps[0]++));
					nextDump[0] += periodNs;
				}
				int column = columnOf[b.thread[i]];
				Page page = pages.computeIfAbsent(Long.divideUnsigned(tree.startAddress(b.producer[i]), pageSize),
						p -> new Page(column, columns));
				page.counts[column] += b.reads[i];
				page.counts[columns + column] += b.writes[i];
			}
		}, progress);
		if (periodNs > 0) {
			dump(String.format(Locale.ROOT, "%06d", dumps[0]));
		}
		dump("full");
	}

	/** The first access decides for a process image; its threads are numbered in the order of their births. */
	private void process(ThreadInfo thread, List<ThreadInfo> threads) {
		if (image < 0) {
			image = thread.image();
			columnOf = new int[threads.size()];
			Arrays.fill(columnOf, -1);
			threads.stream().filter(t -> t.image() == image).sorted(Comparator.comparing((ThreadInfo t) -> !t.main())
					.thenComparingLong(ThreadInfo::birthNs).thenComparingLong(ThreadInfo::taskId)).forEach(t -> columnOf[t.index()] = columns++);
		}
		if (thread.image() != image) {
			throw new IllegalArgumentException("several processes have accesses, and TABARNAC's files have one address space;"
					+ " --producer with the number of a process chooses one");
		}
	}

	private void dump(String kind) {
		try (Writer out = Files.newBufferedWriter(folder.resolve(name + "." + kind + ".page.csv"), StandardCharsets.UTF_8)) {
			StringBuilder line = new StringBuilder("addr,firstacc,type");
			for (int t = 0; t < columns; t++) {
				line.append(",T").append(t);
			}
			out.append(line.append('\n'));
			for (var e : pages.entrySet()) {
				Page page = e.getValue();
				for (int w = 0; w < 2; w++) {
					line.setLength(0);
					line.append(Long.toUnsignedString(e.getKey())).append(',').append(page.first).append(w == 0 ? ",R" : ",W");
					for (int t = 0; t < columns; t++) {
						line.append(',').append(page.counts[w * columns + t]);
					}
					out.append(line.append('\n'));
				}
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private void structures() throws MemtraceException, IOException {
		try (Writer structs = Files.newBufferedWriter(folder.resolve(name + ".structs.csv"), StandardCharsets.UTF_8);
				Writer stacks = Files.newBufferedWriter(folder.resolve(name + ".stackmap.csv"), StandardCharsets.UTF_8)) {
			structs.append("name,start,sz\n");
			stacks.append("tid,stackmax,sz\n");
			for (Structure s : chosen(k -> k == StructureKind.STATIC || k == StructureKind.HEAP || k == StructureKind.MMAP)) {
				structs.append(cell(s.name()) + "," + Long.toUnsignedString(s.startAddress()) + "," + s.sizeBytes() + "\n");
			}
			List<ThreadInfo> threads = store.threads();
			TreeMap<Integer, String> lines = new TreeMap<>();
			for (Structure s : chosen(k -> k == StructureKind.STACK)) {
				for (ThreadInfo t : threads) {
					if (t.image() == image && t.taskId() == s.taskId() && columnOf[t.index()] >= 0) {
						long end = Long.divideUnsigned(s.endAddress() + pageSize - 1, pageSize);
						lines.putIfAbsent(columnOf[t.index()], columnOf[t.index()] + "," + Long.toUnsignedString(end) + ","
								+ (end * pageSize - s.startAddress()) + "\n");
					}
				}
			}
			for (String line : lines.values()) {
				stacks.append(line);
			}
		}
	}

	/** Structures of some kinds and of at least a page, by address, none over another. */
	private List<Structure> chosen(java.util.function.Predicate<StructureKind> kind) throws MemtraceException {
		List<Structure> all = new ArrayList<>(store.structures().stream()
				.filter(s -> s.image() == image && kind.test(s.kind()) && s.sizeBytes() >= pageSize).toList());
		all.sort(Comparator.comparingLong((Structure s) -> -(s.deathNs() - s.birthNs())).thenComparing(Structure::id));
		TreeMap<Long, Structure> taken = new TreeMap<>(Long::compareUnsigned);
		for (Structure s : all) {
			var before = taken.floorEntry(s.startAddress());
			var after = taken.ceilingEntry(s.startAddress());
			if (before != null && Long.compareUnsigned(before.getValue().endAddress(), s.startAddress()) > 0
					|| after != null && Long.compareUnsigned(s.endAddress(), after.getKey()) > 0) {
				leftOut++;
			} else {
				taken.put(s.startAddress(), s);
			}
		}
		return List.copyOf(taken.values());
	}

	/** These files have no quotes. */
	private static String cell(String text) {
		return text.replace(',', ';').replaceAll("[\\p{Cntrl}\"]", " ");
	}
}
