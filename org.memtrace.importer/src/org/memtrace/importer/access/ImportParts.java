// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.parts.PartFile;
import org.memtrace.importer.parts.PartHead;
import org.memtrace.importer.parts.RangePart;
import org.memtrace.importer.parts.RowTables;
import org.memtrace.importer.parts.RowsPart;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.rows.PageRuns;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessCoding;

/**
 * An import of a trace directory that is divided among processes, in three steps (docs/howto/scale.md). First each process reads a part of
 * the lines: {@link #rows}. What it writes is ordered by pages, and has tables of the pages, threads and CPUs that it met. From the tables
 * of all parts everybody can make the tree and tell which accesses are coded together; so then each process takes some of the pages, finds
 * their sharing and codes them: {@link #range}. In the end the coded accesses become a trace, which is the one that one process makes:
 * {@link #join}.
 */
public final class ImportParts {
	private static final int BATCH = 8192;
	private static final long HEAP_FOR_ROWS = 128L << 20;

	private ImportParts() {
	}

	/** What was written. */
	public record Written(long accesses, int pages, String text) {
	}

	private static Input input(List<Path> paths) {
		return new Input(paths, InputStream.nullInputStream());
	}

	private static TraceDirectory open(Input input) throws MemtraceException {
		TraceDirectory trace = AccessReader.open(input);
		for (TraceDirectory.Image image : trace.images()) {
			if (image.directory() == null) {
				throw new MemtraceException("an import in parts is for trace directories, and " + input.text() + " is none");
			}
			if (image.unfinished()) {
				throw new MemtraceException(input.text() + " is not complete, because the recorder was killed or still runs; run \"memtrace finish "
						+ input.text() + "\" before it is imported in parts");
			}
		}
		return trace;
	}

	private static ImportRequest request(ImportRequest.Target target, String name, boolean strict, Path scratch, List<MergeRule> rules,
			int fanout) {
		return new ImportRequest(target, name, strict, scratch, rules, fanout, null, null);
	}

	private static IllegalArgumentException none(int number, int count) {
		return new IllegalArgumentException("there is no part " + number + " of " + count);
	}

	/**
	 * First step: reads a part of the lines of a trace. Parts are whole access files, so of more parts some are empty.
	 *
	 * @param paths the trace directory, or that of a job, or those of its ranks
	 * @param number 0 to {@code count} - 1
	 * @param file to write
	 * @param scratch directory for temporary data
	 */
	public static Written rows(List<Path> paths, int number, int count, Path file, Path scratch, Progress progress) throws MemtraceException {
		if (count < 1 || number < 0 || number >= count) {
			throw none(number, count);
		}
		Input input = input(paths);
		TraceDirectory trace = open(input);
		PartHead head = new PartHead(trace.identity(), paths.stream().map(p -> p.toAbsolutePath().normalize().toString()).toList(), input.text(),
				number, count);
		AccessImport all = new AccessImport(some(trace, number, count), input.text(), request(null, "", false, scratch, List.of(), 2));
		Map<Integer, SkipCounter> skips = new HashMap<>();
		try (PartFile.Writer out = new PartFile.Writer(file)) {
			all.read(new Division() {
				@Override
				public boolean completes() {
					return false;
				}

				@Override
				public SkipCounter skips(int image) {
					return skips.computeIfAbsent(image, key -> new SkipCounter(false));
				}

				@Override
				public boolean read(ImageData data) {
					return data.image().chunks().isEmpty();
				}

				@Override
				public void readShared(ImageData data) {
					// the rows of its ranks go there
				}
			}, progress);
			List<RowsPart.Block> blocks = new ArrayList<>();
			int[] threads = threadCodes(all);
			Map<Integer, int[]> rowsOfLeaf = new HashMap<>();
			for (ImageData image : all.images()) {
				rowsOfLeaf.put(image.index(), writeRows(image, threads, out, blocks, progress));
			}
			long[] ips = new long[all.addresses().size()];
			for (int i = 0; i < ips.length; i++) {
				ips[i] = all.addresses().value(i);
			}
			RowTables tables = tables(all, rowsOfLeaf, skips);
			out.finish(RowsPart.STAMP, new RowsPart(head, tables, ips, blocks)::write);
			int pages = tables.images().stream().mapToInt(RowTables.OfImage::leaves).sum();
			return new Written(all.counts().imported, pages, String.format(Locale.ROOT, "%,d rows of %,d access files, %,d pages",
					all.counts().imported, all.counts().files, pages));
		} catch (IOException e) {
			throw new StoreException(file + " cannot be written: " + e.getMessage(), e);
		} finally {
			all.close();
		}
	}

	/** The trace with some of its access files: so many that parts have nearly the same number of bytes. */
	private static TraceDirectory some(TraceDirectory trace, int number, int count) throws MemtraceException {
		long all = 0;
		for (TraceDirectory.Image image : trace.images()) {
			all += image.chunks().stream().mapToLong(c -> c.input().size()).sum();
		}
		long before = 0;
		List<TraceDirectory.Image> images = new ArrayList<>();
		for (TraceDirectory.Image image : trace.images()) {
			List<TraceDirectory.AccessFile> own = new ArrayList<>();
			for (TraceDirectory.AccessFile chunk : image.chunks()) {
				if (part(before, all, count) == number) {
					own.add(chunk);
				}
				before += chunk.input().size();
			}
			images.add(new TraceDirectory.Image(image.index(), image.directory(), image.json(), own, image.context(), image.rank()));
		}
		return trace.with(images);
	}

	/** Which of some parts what comes after {@code before} of {@code all} belongs to. */
	private static int part(long before, long all, int count) {
		return all == 0 ? 0 : (int) Math.min(count - 1L, (long) ((double) before / all * count));
	}

	/** Threads by their index: listed ones of all images first, then those that only accesses tell of. */
	private static int[] threadCodes(AccessImport all) {
		int[] codes = new int[all.context().threads().size()];
		Arrays.fill(codes, -1);
		int next = 0;
		for (int[] range : all.listed().values()) {
			for (int t = range[0]; t < range[1]; t++) {
				codes[t] = next++;
			}
		}
		for (ImageData image : all.images()) {
			for (int t : unlisted(all, image.index())) {
				codes[t] = next++;
			}
		}
		return codes;
	}

	/** Indexes of the threads of an image that are not listed. */
	private static int[] unlisted(AccessImport all, int image) {
		int[] range = all.listed().getOrDefault(image, new int[2]);
		return all.context().threads().stream().filter(t -> t.image() == image && (t.index() < range[0] || t.index() >= range[1]))
				.mapToInt(t -> t.index()).toArray();
	}

	/** Writes the rows of an image; returns how many each leaf has. */
	private static int[] writeRows(ImageData image, int[] threads, PartFile.Writer out, List<RowsPart.Block> blocks, Progress progress)
			throws MemtraceException {
		LeafTable leaves = image.leaves();
		int[] rowsOfLeaf = new int[leaves.size()];
		if (image.rows().rows() == 0) {
			return rowsOfLeaf;
		}
		progress.begin("Sorting rows by page", image.rows().rows());
		PageRuns runs = new PageRuns(image.rows().rows(), (bytes, length, rows, firstPage, lastPage) -> {
			try {
				out.block(bytes, length);
			} catch (IOException e) {
				throw new StoreException("rows cannot be written: " + e.getMessage(), e);
			}
			blocks.add(new RowsPart.Block(image.index(), rows, firstPage, lastPage));
		});
		RowSpill.Cursor cursor = image.rows().read();
		for (long n = 1; cursor.next(); n++) {
			SpilledRow row = cursor.row;
			rowsOfLeaf[row.leaf]++;
			int thread = row.thread; // the cursor tells the next one by it
			row.thread = thread < 0 ? thread : threads[thread];
			runs.add(row, leaves.pageIndex(row.leaf));
			row.thread = thread;
			if (n % BATCH == 0) {
				progress.check();
				progress.worked(BATCH);
			}
		}
		runs.finish();
		return rowsOfLeaf;
	}

	/** The tables of what was read. */
	private static RowTables tables(AccessImport all, Map<Integer, int[]> rowsOfLeaf, Map<Integer, SkipCounter> skips) {
		List<RowTables.OfImage> images = new ArrayList<>();
		for (ImageData image : all.images()) {
			LeafTable leaves = image.leaves();
			int n = leaves.size();
			long[] page = new long[n];
			int[] structure = new int[n];
			long[] frame = new long[n];
			int[] node = new int[n];
			for (int leaf = 0; leaf < n; leaf++) {
				page[leaf] = leaves.pageIndex(leaf);
				structure[leaf] = leaves.structure(leaf);
				frame[leaf] = leaves.frame(leaf);
				node[leaf] = leaves.node(leaf);
			}
			long[] unlisted = Arrays.stream(unlisted(all, image.index())).mapToLong(t -> all.context().threads().get(t).taskId())
					.toArray();
			SkipCounter skipped = skips.getOrDefault(image.index(), new SkipCounter(false));
			images.add(new RowTables.OfImage(image.index(), page, structure, frame, node, rowsOfLeaf.get(image.index()), unlisted,
					new RowTables.Skips(skipped.byReason(), skipped.firstPlaces(), skipped.warnings(), skipped.incompleteLines()),
					image.firstStartNs(), image.lastStartNs(), image.read(), all.counts().unsorted.getOrDefault(image.index(), 0L)));
		}
		return new RowTables(images, all.cpuSets().sets(), all.counts().numbers());
	}

	private static TraceDirectory open(PartHead head, List<Path> moved, Input[] used) throws MemtraceException {
		Input input = input(moved.isEmpty() ? head.paths().stream().map(Path::of).toList() : moved);
		used[0] = input;
		TraceDirectory trace = open(input);
		if (!trace.identity().equals(head.identity())) {
			throw new StoreException("the parts are of another trace than " + input.text() + ", or of another state of it: make them again");
		}
		return trace;
	}

	private static void mustBeAlike(PartHead first, String firstName, PartHead other, String otherName) throws StoreException {
		if (!first.identity().equals(other.identity())) {
			throw new StoreException(otherName + " is of " + other.source() + ", " + firstName + " of "
					+ (first.source().equals(other.source()) ? "another trace, or of another state, of this name" : first.source()));
		}
	}

	/**
	 * Second step: codes a range of pages.
	 *
	 * @param files what {@link #rows} wrote, all of it, in any order
	 * @param moved where the trace is now; empty: where it was
	 * @param rules merging rules of the tree of event producers
	 * @param fanout of the tree
	 * @param number 0 to {@code count} - 1
	 * @param file to write
	 * @param scratch directory for temporary data
	 */
	public static Written range(List<Path> files, List<Path> moved, List<MergeRule> rules, int fanout, AccessCoding coding, int number,
			int count, Path file, Path scratch, Progress progress) throws MemtraceException {
		if (count < 1 || number < 0 || number >= count) {
			throw none(number, count);
		}
		List<PartFile.Reader<RowsPart>> rows = new ArrayList<>();
		try {
			for (Path path : files) {
				rows.add(PartFile.open(path, path.toString(), RowsPart.STAMP, RowsPart::read));
			}
			rows.sort(Comparator.comparingInt((PartFile.Reader<RowsPart> r) -> r.content().head().number()).thenComparing(PartFile.Reader::name));
			complete(rows);
			PartHead first = rows.get(0).content().head();
			Input[] input = new Input[1];
			TraceDirectory trace = open(first, moved, input);
			try (WholeImport whole = new WholeImport(trace, first.source(), request(null, "", false, scratch, rules, fanout),
					rows.stream().map(r -> r.content().tables()).toList(), false, progress);
					PartFile.Writer out = new PartFile.Writer(file)) {
				return new Range(whole, rows, coding, number, count, progress).write(new PartHead(first.identity(), first.paths(), first.source(),
						number, count), rules, fanout, scratch, out);
			} catch (IOException e) {
				throw new StoreException(file + " cannot be written: " + e.getMessage(), e);
			}
		} catch (ArithmeticException e) {
			throw new StoreException("a trace database holds at most " + Integer.MAX_VALUE + " accesses", e);
		} finally {
			rows.forEach(PartFile.Reader::close);
		}
	}

	/** Whether all lines are there once. */
	private static void complete(List<PartFile.Reader<RowsPart>> rows) throws StoreException {
		PartFile.Reader<RowsPart> first = rows.get(0);
		PartHead head = first.content().head();
		PartFile.Reader<RowsPart> before = null;
		BitSet there = new BitSet();
		for (PartFile.Reader<RowsPart> r : rows) {
			PartHead own = r.content().head();
			mustBeAlike(head, first.name(), own, r.name());
			if (own.count() != head.count()) {
				throw new StoreException(String.format(Locale.ROOT, "%s is one of %,d files of rows, %s one of %,d", r.name(), own.count(),
						first.name(), head.count()));
			}
			if (there.get(own.number())) {
				throw new StoreException(r.name() + " and " + before.name() + " have the same rows: " + (own.number() + 1) + "/" + own.count());
			}
			there.set(own.number());
			before = r;
		}
		missing("files of rows are missing: of ", there, head.count(), head.source());
	}

	private static void missing(String what, BitSet there, int count, String source) throws StoreException {
		StringBuilder text = new StringBuilder();
		for (int from = there.nextClearBit(0); from < count;) {
			int next = there.nextSetBit(from);
			int to = next < 0 ? count : next;
			text.append(text.isEmpty() ? "" : ", ").append(from + 1).append(to - from == 1 ? "" : " to " + to);
			from = there.nextClearBit(to);
		}
		if (!text.isEmpty()) {
			throw new StoreException(what + "the " + count + " of " + source + " there is no " + text);
		}
	}

	/** The second step of one process. */
	private static final class Range {
		private final WholeImport whole;
		private final List<PartFile.Reader<RowsPart>> rows;
		private final AccessCoding coding;
		private final Progress progress;
		private final CellOrder order;
		private final int[] borders;
		private int from;
		private int to;
		private int leafFrom;
		private int leafTo;
		private long accesses;
		private long reads;
		private long writes;

		Range(WholeImport whole, List<PartFile.Reader<RowsPart>> rows, AccessCoding coding, int number, int count, Progress progress)
				throws MemtraceException {
			this.whole = whole;
			this.rows = rows;
			this.coding = coding;
			this.progress = progress;
			order = whole.all.order(progress);
			int[] rowsOfTree = whole.rowsOfTree(order);
			borders = coding.borders(rowsOfTree);
			long before = 0;
			int piece = 0;
			from = -1;
			for (int leaf = 0; leaf < rowsOfTree.length; leaf++) {
				if (piece < borders.length && borders[piece] == leaf) {
					int part = part(before, whole.all.counts().imported, count);
					if (part <= number) {
						to = piece + 1;
						from = part < number || from >= 0 ? from : piece;
					}
					piece++;
				}
				before += rowsOfTree[leaf];
			}
			from = from < 0 ? to : from;
			leafFrom = from < borders.length ? borders[from] : rowsOfTree.length;
			leafTo = to < borders.length ? borders[to] : rowsOfTree.length;
		}

		Written write(PartHead head, List<MergeRule> rules, int fanout, Path scratch, PartFile.Writer out) throws MemtraceException, IOException {
			try (AccessCoding.Coder coder = coding.coder(order.trees().virtualLeaf(), order.trees().virtual().size(), scratch)) {
				if (leafFrom < leafTo) {
					List<int[]> threads = new ArrayList<>();
					for (PartFile.Reader<RowsPart> r : rows) {
						threads.add(whole.threadOf(r.content().tables()));
					}
					for (ImageData image : whole.all.images()) {
						image(image, threads, scratch, coder);
					}
					coder.finish(bytes -> {
						try {
							out.block(bytes, bytes.length);
						} catch (IOException e) {
							throw new StoreException("accesses cannot be written: " + e.getMessage(), e);
						}
					}, progress);
				}
			}
			long fingerprint = whole.fingerprint(order);
			RowTables tables = number(head) ? tables(whole.all, whole.rowsOfLeaf, whole.skips) : null;
			RangePart part = new RangePart(head, fanout, rules.stream().map(MergeRule::toString).toList(), fingerprint, from, to, borders.length,
					accesses, reads, writes, tables);
			out.finish(RangePart.STAMP, part::write);
			return new Written(accesses, 0, from == to ? "no pages"
					: String.format(Locale.ROOT, "%,d of %,d accesses", accesses, whole.all.counts().imported));
		}

		/** Whether this part tells what all have in common. */
		private static boolean number(PartHead head) {
			return head.number() == 0;
		}

		/** Codes the rows of an image that belong to the range; its pages may be used by leaves outside of it, too. */
		private void image(ImageData image, List<int[]> threads, Path scratch, AccessCoding.Coder coder) throws MemtraceException {
			LeafTable leaves = image.leaves();
			BitSet own = new BitSet();
			BitSet pages = new BitSet();
			for (int leaf = 0; leaf < leaves.size(); leaf++) {
				int producer = order.trees().virtualLeaf()[image.cellOfLeaf()[leaf]];
				if (producer >= leafFrom && producer < leafTo) {
					own.set(leaf);
					pages.set(leaves.page(leaf));
				}
			}
			if (own.isEmpty()) {
				return;
			}
			long[] sorted = own.stream().mapToLong(leaves::pageIndex).sorted().distinct().toArray();
			boolean inOrder = !whole.all.counts().unsorted.containsKey(image.index()) && !whole.all.shared().images().contains(image);
			image.sorted(new RowSpill(scratch, new RowSpill.Budget(HEAP_FOR_ROWS)));
			progress.begin("Reading rows", -1);
			for (int p = 0; p < rows.size(); p++) {
				read(image, p, threads.get(p), sorted, pages, inOrder);
			}
			image.rows().finish();
			if (inOrder) {
				image.sharing().finish();
			} else {
				whole.all.sort(image, progress);
			}
			whole.all.tellThreads();
			AccessBatch batch = new AccessBatch(BATCH);
			RowSpill.Cursor cursor = image.rows().read();
			for (int n = 0; cursor.next(); n++) {
				SpilledRow r = cursor.row;
				if (!own.get(r.leaf)) {
					continue;
				}
				batch.add(r.startNs, r.endNs, image.cellOfLeaf()[r.leaf], r.thread, r.cpuSet, r.reads, r.writes, image.sharing(n, r), r.node,
						r.flags, r.ip == 0 ? 0 : whole.all.addresses().value(r.ip - 1), r.readOffset, r.writeOffset, r.firstNs);
				accesses++;
				reads += r.reads;
				writes += r.writes;
				if (batch.isFull()) {
					progress.check();
					coder.accesses(batch);
					batch.count = 0;
				}
			}
			coder.accesses(batch);
			image.close();
		}

		/** Takes the rows of some pages out of the file of a part. */
		private void read(ImageData image, int p, int[] threads, long[] sorted, BitSet pages, boolean inOrder) throws MemtraceException {
			RowsPart part = rows.get(p).content();
			int[] leafOf = whole.leafOf.get(p).get(image.index());
			int[] cpuSetOf = whole.cpuSetOf.get(p);
			int[] ipOf = new int[part.ips().length];
			LeafTable leaves = image.leaves();
			SpilledRow row = new SpilledRow();
			for (int b = 0; b < part.blocks().size(); b++) {
				RowsPart.Block block = part.blocks().get(b);
				if (block.image() != image.index() || !any(sorted, block.firstPage(), block.lastPage())) {
					continue;
				}
				progress.check();
				PageRuns.Rows in = new PageRuns.Rows(rows.get(p).block(b), block.rows());
				while (in.next()) {
					SpilledRow r = in.row;
					int leaf = leafOf[r.leaf];
					if (!pages.get(leaves.page(leaf))) {
						continue;
					}
					row.startNs = r.startNs;
					row.endNs = r.endNs;
					row.leaf = leaf;
					row.thread = r.thread < 0 ? r.thread : threads[r.thread];
					row.cpuSet = r.cpuSet < 0 ? r.cpuSet : cpuSetOf[r.cpuSet];
					row.reads = r.reads;
					row.writes = r.writes;
					if (r.ip > 0 && ipOf[r.ip - 1] == 0) {
						ipOf[r.ip - 1] = whole.all.addresses().number(part.ips()[r.ip - 1]) + 1;
					}
					row.ip = r.ip == 0 ? 0 : ipOf[r.ip - 1];
					row.node = r.node;
					row.flags = r.flags;
					row.readOffset = r.readOffset;
					row.writeOffset = r.writeOffset;
					row.firstNs = r.firstNs;
					image.rows().add(row);
					if (inOrder) {
						image.sharing().add(leaves.sharingPage(leaf), row.thread, row.startNs, row.endNs, row.reads, row.writes, row.flags);
					}
				}
			}
		}

		/** Whether one of some numbers is between two. */
		private static boolean any(long[] sorted, long first, long last) {
			int at = Arrays.binarySearch(sorted, first);
			return at >= 0 || -at - 1 < sorted.length && sorted[-at - 1] <= last;
		}
	}

	/**
	 * Last step: makes the trace.
	 *
	 * @param files what {@link #range} wrote, all of it, in any order
	 * @param moved where the trace is now; empty: where it was
	 * @param name display name, empty for the one of the input
	 */
	public static ImportReport join(List<Path> files, List<Path> moved, ImportRequest.Target target, String name, boolean strict,
			Path scratch, Progress progress) throws MemtraceException {
		List<PartFile.Reader<RangePart>> parts = new ArrayList<>();
		try {
			for (Path path : files) {
				parts.add(PartFile.open(path, path.toString(), RangePart.STAMP, RangePart::read));
			}
			String firstName = parts.get(0).name();
			RangePart first = parts.get(0).content();
			for (PartFile.Reader<RangePart> part : parts) {
				mustFit(first, firstName, part.content(), part.name());
			}
			RowTables tables = parts.stream().map(p -> p.content().tables()).filter(Objects::nonNull).findFirst().orElse(null);
			parts.removeIf(p -> {
				boolean empty = p.content().from() == p.content().to();
				if (empty) {
					p.close();
				}
				return empty;
			});
			parts.sort(Comparator.comparingInt((PartFile.Reader<RangePart> p) -> p.content().from()).thenComparing(PartFile.Reader::name));
			BitSet there = new BitSet();
			for (int i = 0; i < parts.size(); i++) {
				RangePart part = parts.get(i).content();
				if (part.from() < there.length()) {
					throw new StoreException(parts.get(i).name() + " and " + parts.get(i - 1).name() + " have the same pages");
				}
				there.set(part.from(), part.to());
			}
			missing("parts are missing: of the pieces of accesses, ", there, first.pieces(), first.head().source());
			if (tables == null) {
				throw new StoreException("parts are missing: the first one is not there");
			}
			Input[] input = new Input[1];
			TraceDirectory trace = open(first.head(), moved, input);
			List<MergeRule> rules = MergeRule.parseAll(first.rules());
			try (WholeImport whole = new WholeImport(trace, first.head().source(), request(target, name, strict, scratch, rules, first.fanout()),
					List.of(tables), true, progress)) {
				return write(whole, first.fingerprint(), parts, progress);
			}
		} finally {
			parts.forEach(PartFile.Reader::close);
		}
	}

	private static ImportReport write(WholeImport whole, long fingerprint, List<PartFile.Reader<RangePart>> parts, Progress progress)
			throws MemtraceException {
		CellOrder order = whole.all.order(progress);
		if (whole.fingerprint(order) != fingerprint) {
			throw new StoreException("the parts are of another trace, or of another state of it, or were made by another version of memtrace: make"
					+ " them again");
		}
		ImportCounts counts = whole.all.counts();
		return whole.all.write(order, (writer, p) -> {
			p.begin("Writing accesses", counts.imported);
			for (PartFile.Reader<RangePart> part : parts) {
				for (int b = 0; b < part.blocks(); b++) {
					p.check();
					writer.coded(part.block(b));
				}
				counts.written += part.content().accesses();
				counts.writtenReads += part.content().reads();
				counts.writtenWrites += part.content().writes();
				p.worked(part.content().accesses());
			}
		}, progress);
	}

	private static void mustFit(RangePart a, String firstName, RangePart b, String name) throws StoreException {
		mustBeAlike(a.head(), firstName, b.head(), name);
		if (a.fanout() != b.fanout() || !a.rules().equals(b.rules())) {
			throw new StoreException(name + " was made with " + options(b) + ", " + firstName + " with " + options(a));
		}
		if (a.fingerprint() != b.fingerprint() || a.pieces() != b.pieces()) {
			throw new StoreException(name + " and " + firstName + " have other pages: they were made of other rows, or by different versions of"
					+ " memtrace");
		}
	}

	private static String options(RangePart part) {
		List<String> all = new ArrayList<>(List.of("--fanout " + part.fanout()));
		part.rules().forEach(rule -> all.add("--merge " + rule));
		return String.join(" ", all);
	}

	/** What kind of part a file is, by its stamp; null when it is none. */
	public static String stamp(Path file) throws StoreException {
		try (InputStream in = RegularFile.open(file)) {
			if (!PartFile.mayBe(in.readNBytes(8))) {
				return null;
			}
		} catch (IOException e) {
			return null;
		}
		return PartFile.stamp(file, file.toString());
	}

	/** Whether files are what {@link #rows} wrote, the input of {@link #range}. */
	public static boolean areRows(List<Path> files) throws StoreException {
		return kinds(files).contains(RowsPart.STAMP);
	}

	/** Whether files are what {@link #range} wrote, the input of {@link #join}. */
	public static boolean areRanges(List<Path> files) throws StoreException {
		return kinds(files).contains(RangePart.STAMP);
	}

	private static LinkedHashSet<String> kinds(List<Path> files) throws StoreException {
		LinkedHashSet<String> kinds = new LinkedHashSet<>();
		for (Path file : files) {
			String stamp = Files.isRegularFile(file) ? stamp(file) : null;
			if (stamp != null) {
				kinds.add(stamp);
			}
		}
		return kinds;
	}
}
