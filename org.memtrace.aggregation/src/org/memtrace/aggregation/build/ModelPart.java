// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerTree;

/**
 * The values of some ranges of pages of a microscopic model, as they can be computed on one machine of many and added on another. The
 * chunks of a trace are divided into ranges as {@link AccessScan} divides them for its threads, so {@link ModelParts} puts together what
 * one machine computes, bit by bit. Immutable. docs/howto/scale.md
 */
public final class ModelPart {
	/** First text in a file: what it is, with the version of its content. */
	private static final String STAMP = "part of a model, version 1";
	/** Values of a part at most: a part is an array of bytes. */
	private static final long MOST_VALUES = 60_000_000;

	/**
	 * What all parts of a model have in common.
	 *
	 * @param trace name of the trace
	 * @param fingerprint of chunks and tree
	 * @param question what was asked, as the caller writes it
	 * @param runs number of ranges of pages of the whole
	 * @param bounds of the slices
	 * @param mostSingle number of leaves above which they are grouped, 0 if they are not
	 */
	record Plan(String trace, long fingerprint, List<String> question, int runs, List<Long> bounds, boolean uniform, List<ModelType> types,
			BitSet wanted, boolean keepAll, int producer, BitSet inner, BitSet kept, int mostSingle) {
		TimeSlices slices() {
			return uniform ? new TimeSlices(bounds.getFirst(), bounds.getLast(), bounds.size() - 1)
					: TimeSlices.of(bounds.stream().mapToLong(Long::longValue).toArray());
		}

		Hierarchy hierarchy(ProducerTree tree) {
			Hierarchy pages = new Leaves(inner, kept).hierarchy(tree, producer);
			return mostSingle == 0 ? pages : pages.grouped(tree, mostSingle);
		}

		ModelBuilder.Shape shape(Metric metric, Dimension viewpoint) {
			boolean[] which = new boolean[types.size()];
			wanted.stream().forEach(k -> which[k] = true);
			return new ModelBuilder.Shape(slices(), types, which, keepAll, metric, viewpoint);
		}
	}

	private final String name;
	private final String origin;
	private final Plan plan;
	private final int runFrom;
	private final List<ModelBuilder.Cells> runs;
	private final Losses losses;

	private ModelPart(String name, String origin, Plan plan, int runFrom, List<ModelBuilder.Cells> runs, Losses losses) {
		this.name = name;
		this.origin = origin;
		this.plan = plan;
		this.runFrom = runFrom;
		this.runs = runs;
		this.losses = losses;
	}

	/**
	 * Computes a part: those ranges of pages that are the part {@code number} when all are divided into {@code count} parts of nearly
	 * equal numbers of accesses. A trace has at most {@value AccessScan#MOST_RUNS} ranges; of more parts some are empty.
	 *
	 * @param grouped whether groups of pages are enough where there are many pages, as for pictures of some hundred rows
	 * @param origin where the trace is, for those who put parts together
	 * @param question what is asked, likewise
	 * @param number 0 to {@code count} - 1
	 */
	public static ModelPart of(AccessTable table, ModelRequest request, boolean grouped, String origin, List<String> question, int number,
			int count, Progress progress) throws MemtraceException {
		return of(table, request, grouped ? Hierarchy.MOST_SINGLE_LEAVES : 0, origin, question, number, count, progress);
	}

	/** With another number of leaves above which they are grouped, for tests. */
	static ModelPart of(AccessTable table, ModelRequest request, int mostSingle, String origin, List<String> question, int number,
			int count, Progress progress) throws MemtraceException {
		if (count < 1 || number < 0 || number >= count) {
			throw new IllegalArgumentException("there is no part " + number + " of " + count);
		}
		ModelBuilder builder = new ModelBuilder(table, request, progress);
		ModelBuilder.Shape shape = builder.shape();
		Leaves leaves = new AccessModels(table).leaves(request.producer(), progress);
		AccessQuery query = table.query(request.producer(), request.fromNs(), request.toNs());
		int all = table.scan().runs(query);
		List<Long> bounds = new ArrayList<>();
		for (int i = 0; i <= shape.columns().count(); i++) {
			bounds.add(shape.columns().boundNs(i));
		}
		BitSet wanted = new BitSet();
		for (int k = 0; k < shape.wanted().length; k++) {
			wanted.set(k, shape.wanted()[k]);
		}
		Plan plan = new Plan(table.info().alias(), fingerprint(table), List.copyOf(question), all, bounds, shape.columns().isUniform(),
				shape.types(), wanted, shape.keepAll(), request.producer(), leaves.inner(), leaves.kept(), mostSingle);
		int from = (int) ((long) all * number / count);
		int to = (int) ((long) all * (number + 1) / count);
		BitSet damaged = new BitSet();
		List<ModelBuilder.Cells> runs = builder.cells(plan.hierarchy(table.producers()), from, to, c -> {
			synchronized (damaged) {
				damaged.set(c);
			}
		}, progress);
		Losses lost = Losses.NONE;
		for (int c = damaged.nextSetBit(0); c >= 0; c = damaged.nextSetBit(c + 1)) {
			ChunkInfo chunk = table.source().info(c);
			lost = lost.plus(new Losses(1, chunk.rows(), chunk.reads(), chunk.writes(), table.lost().reason()));
		}
		return new ModelPart("part " + (number + 1) + "/" + count, origin, plan, from, runs, lost);
	}

	/** What changes when chunks or tree are others. */
	static long fingerprint(AccessTable table) throws MemtraceException {
		Checksum[] sums = {new CRC32(), new CRC32C()};
		Sum sum = new Sum(sums);
		TraceInfo info = table.info();
		sum.add(info.startNs(), info.endNs(), info.pageSizeBytes());
		for (byte b : table.store().contentStamp().getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
			sum.add(b);
		}
		AccessSource source = table.source();
		for (int c = 0; c < source.chunks(); c++) {
			ChunkInfo i = source.info(c);
			sum.add(i.rows(), i.producerFrom(), i.producerTo(), i.startNs(), i.endNs(), i.reads(), i.writes());
		}
		ProducerTree tree = table.producers();
		for (int p = 0; p < tree.size(); p++) {
			sum.add(tree.parent(p), tree.kind(p).ordinal(), tree.startAddress(p), tree.structure(p));
		}
		return sums[0].getValue() << 32 | sums[1].getValue();
	}

	private record Sum(Checksum[] sums) {
		void add(long... numbers) {
			byte[] bytes = new byte[8 * numbers.length];
			for (int i = 0; i < bytes.length; i++) {
				bytes[i] = (byte) (numbers[i >> 3] >>> 8 * (i & 7));
			}
			for (Checksum sum : sums) {
				sum.update(bytes, 0, bytes.length);
			}
		}
	}

	/** How a person calls it: its file. */
	String name() {
		return name;
	}

	/** Where the trace is. */
	String origin() {
		return origin;
	}

	/** What it has in common with the others. */
	Plan plan() {
		return plan;
	}

	/** First range. */
	int runFrom() {
		return runFrom;
	}

	/** Range after the last. */
	int runTo() {
		return runFrom + runs.size();
	}

	/** The values of a range. */
	ModelBuilder.Cells run(int run) {
		return runs.get(run - runFrom);
	}

	/** What was damaged in its ranges. */
	Losses losses() {
		return losses;
	}

	/** Which ranges it has, of how many. */
	public String ranges() {
		return runs.isEmpty() ? "no range of pages"
				: String.format(Locale.ROOT, runs.size() == 1 ? "range %d of %3$d" : "ranges %d to %d of %d", runFrom + 1, runTo(), plan.runs);
	}

	/** Number of values. */
	public long values() {
		return runs.stream().mapToLong(r -> r.cells().count()).sum();
	}

	/** What a file of it has in it. */
	public byte[] bytes() throws MemtraceException {
		if (values() > MOST_VALUES) {
			throw new MemtraceException(String.format(Locale.ROOT, "a part with %,d values is too large; divide the trace into more parts", values()));
		}
		SavedNumbers.Out out = new SavedNumbers.Out(STAMP);
		out.text(origin).text(plan.trace).signed(plan.fingerprint).unsigned(plan.question.size());
		plan.question.forEach(out::text);
		out.unsigned(plan.runs).deltas(plan.bounds.stream().mapToLong(Long::longValue).toArray(), plan.bounds.size());
		out.unsigned(plan.uniform ? 1 : 0).unsigned(plan.types.size());
		plan.types.forEach(t -> out.text(t.name()).text(t.role().name()).signed(t.index()));
		bits(out, plan.wanted);
		out.unsigned(plan.keepAll ? 1 : 0).signed(plan.producer);
		bits(out, plan.inner);
		out.unsigned(plan.kept == null ? 0 : 1);
		if (plan.kept != null) {
			bits(out, plan.kept);
		}
		out.unsigned(plan.mostSingle);
		out.unsigned(losses.chunks()).unsigned(losses.accesses()).unsigned(losses.reads()).unsigned(losses.writes()).text(losses.reason());
		out.unsigned(runFrom).unsigned(runs.size());
		for (ModelBuilder.Cells run : runs) {
			MicroscopicModel.Appender cells = run.cells();
			int n = cells.count();
			long[] counts = new long[cells.from.length - 1];
			Arrays.setAll(counts, l -> cells.from[l + 1] - cells.from[l]);
			BitSet present = new BitSet();
			for (int k = 0; k < run.present().length; k++) {
				present.set(k, run.present()[k]);
			}
			int[] starts = run.groupStarts().stream().toArray();
			bits(out, present);
			out.deltas(starts, starts.length).unsigned(counts, counts.length).deltas(cells.key, n).doubles(cells.value, n);
			out.unsigned(cells.information == null ? 0 : 1);
			if (cells.information != null) {
				out.doubles(cells.information, n);
			}
		}
		return out.seal();
	}

	private static void bits(SavedNumbers.Out out, BitSet set) {
		long[] words = set.toLongArray();
		out.unsigned(words, words.length);
	}

	/** Whether a file that begins so may be one of {@link #bytes}. */
	public static boolean mayBe(byte[] head) {
		return SavedNumbers.isMarked(head);
	}

	/**
	 * Reads what {@link #bytes} wrote.
	 *
	 * @param name what a person calls it: its file
	 * @throws StoreException if it is something else, or damaged
	 */
	public static ModelPart read(byte[] bytes, String name) throws StoreException {
		try {
			SavedNumbers.In in = mayBe(bytes) ? SavedNumbers.open(bytes, STAMP) : null;
			if (in == null) {
				throw new StoreException(name + " is no part of a model, or one of another version of memtrace");
			}
			ModelPart part = read(in, name);
			in.end();
			return part;
		} catch (SavedNumbers.Damaged e) {
			throw new StoreException(name + " is a damaged part of a model: " + e.getMessage(), e);
		} catch (IndexOutOfBoundsException | NegativeArraySizeException | IllegalArgumentException | ArithmeticException e) {
			throw new StoreException(name + " is a damaged part of a model: its numbers do not fit together", e);
		}
	}

	private static ModelPart read(SavedNumbers.In in, String name) throws SavedNumbers.Damaged {
		String origin = in.text();
		String trace = in.text();
		long fingerprint = in.signed();
		List<String> question = new ArrayList<>();
		for (int n = in.count(Short.MAX_VALUE); n > 0; n--) {
			question.add(in.text());
		}
		int all = in.count(Integer.MAX_VALUE);
		List<Long> bounds = Arrays.stream(in.deltaLongs()).boxed().toList();
		boolean uniform = in.unsigned() == 1;
		List<ModelType> types = new ArrayList<>();
		for (int n = in.count(Integer.MAX_VALUE); n > 0; n--) {
			types.add(new ModelType(in.text(), ModelType.Role.valueOf(in.text()), (int) in.signed()));
		}
		BitSet wanted = BitSet.valueOf(in.unsignedLongs());
		boolean keepAll = in.unsigned() == 1;
		int producer = (int) in.signed();
		BitSet inner = BitSet.valueOf(in.unsignedLongs());
		BitSet kept = in.unsigned() == 1 ? BitSet.valueOf(in.unsignedLongs()) : null;
		Plan plan = new Plan(trace, fingerprint, question, all, bounds, uniform, types, wanted, keepAll, producer, inner, kept,
				in.count(Integer.MAX_VALUE));
		Losses losses = new Losses(in.count(Integer.MAX_VALUE), in.unsigned(), in.unsigned(), in.unsigned(), in.text());
		int keys = Math.multiplyExact(plan.slices().count(), types.size());
		int runFrom = in.count(all);
		List<ModelBuilder.Cells> runs = new ArrayList<>();
		for (int n = in.count(all - runFrom); n > 0; n--) {
			runs.add(readRun(in, types.size(), keys));
		}
		return new ModelPart(name, origin, plan, runFrom, runs, losses);
	}

	private static ModelBuilder.Cells readRun(SavedNumbers.In in, int types, int keys) throws SavedNumbers.Damaged {
		BitSet present = BitSet.valueOf(in.unsignedLongs());
		int[] starts = in.deltaInts();
		long[] counts = in.unsignedLongs();
		int[] key = in.deltaInts();
		double[] value = in.doubles();
		double[] information = in.unsigned() == 1 ? in.doubles() : null;
		MicroscopicModel.Appender cells = new MicroscopicModel.Appender(counts.length);
		boolean[] which = new boolean[types];
		present.stream().forEach(k -> which[k] = true);
		BitSet groups = new BitSet();
		for (int s : starts) {
			groups.set(s);
		}
		int at = 0;
		for (long count : counts) {
			for (long end = Math.addExact(at, count); at < end; at++) {
				if (key[at] < 0 || key[at] >= keys) {
					throw new SavedNumbers.Damaged("a value is of no slice and type");
				}
				if (information != null) {
					cells.add(key[at], value[at], information[at]);
				} else {
					cells.add(key[at], value[at]);
				}
			}
			cells.endLeaf();
		}
		if (at != key.length || value.length != at || information != null && information.length != at) {
			throw new SavedNumbers.Damaged("columns do not fit together");
		}
		return new ModelBuilder.Cells(cells, which, groups);
	}
}
