// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;

/**
 * What a person wants to know about a place in a picture.
 *
 * @param name name of the producer
 * @param structure the structure that it is in, or null
 * @param pages rows
 * @param part what of the machine stands to the right; null where time does
 * @param fromNs start; without meaning where the machine stands to the right
 * @param toNs end
 * @param shares types with values, largest first
 * @param total sum of all types
 * @param model what the values are of
 * @param blocks blocks of the partition that are inside: 1 unless small ones were drawn together
 * @param lossPercent information lost inside, in per cent of what one block over the same cells and each cell for itself differ
 *            over everything (the loss of the single block)
 */
public record BlockInfo(String name, Structure structure, long pages, String part, long fromNs, long toNs, List<Share> shares,
		double total, MicroscopicModel model, int blocks, double lossPercent) {
	/**
	 * Part of a type.
	 *
	 * @param type the type
	 * @param value its sum
	 * @param percent of the sum of all types
	 */
	public record Share(ModelType type, double value, double percent) {
	}

	/** Facts about what was hit; null outside of the plot and the strip. Takes milliseconds even for a large block. */
	public static BlockInfo of(Picture picture, Picture.Hit hit, NodeNames names) {
		if (hit.area() == Picture.Area.OUTSIDE) {
			return null;
		}
		MicroscopicModel model = picture.model();
		Hierarchy h = model.hierarchy();
		Partition partition = picture.partition();
		double[] sums = model.values(hit.leafFrom(), hit.leafTo(), hit.firstSlice(), hit.endSlice());
		double total = 0;
		for (double s : sums) {
			total += s;
		}
		List<Share> shares = new ArrayList<>();
		for (int k = 0; k < sums.length; k++) {
			if (sums[k] > 0) {
				shares.add(new Share(model.types().get(k), sums[k], 100 * sums[k] / total));
			}
		}
		shares.sort((a, b) -> Double.compare(b.value(), a.value()));
		int blocks = 0;
		double loss = 0;
		if (hit.block() >= 0) {
			blocks = 1;
			loss = partition.loss(hit.block());
		} else {
			for (int b = partition.firstBlockFrom(hit.leafFrom()); b < partition.blockCount()
					&& partition.leafFrom(b) < hit.leafTo(); b++) {
				if (partition.firstSlice(b) < hit.endSlice() && partition.endSlice(b) > hit.firstSlice()) {
					blocks++;
					loss += partition.loss(b);
				}
			}
		}
		boolean whole = hit.leafFrom() == h.leafFrom(hit.node()) && hit.leafTo() == h.leafTo(hit.node());
		String name = whole ? names.full(hit.node())
				: names.name(h.leafNode(hit.leafFrom())) + " … " + names.name(h.leafNode(hit.leafTo() - 1));
		double all = partition.rootLoss();
		return new BlockInfo(name, names.structure(hit.node()), h.weight(hit.leafFrom(), hit.leafTo()), part(picture, hit),
				model.slices().boundNs(hit.firstSlice()), model.slices().boundNs(hit.endSlice()), shares, total,
				model, blocks, all > 0 ? 100 * loss / all : 0);
	}

	private static String part(Picture picture, Picture.Hit hit) {
		if (picture.columns() == null) {
			return null;
		}
		String name = picture.columns().name(picture.partOf(hit));
		int cpus = hit.endSlice() - hit.firstSlice();
		Hierarchy machine = picture.columns().hierarchy();
		int node = picture.partOf(hit);
		boolean whole = machine.leafTo(node) - machine.leafFrom(node) == cpus;
		return machine.isLeaf(node) ? name : (whole ? name + ", " : "part of " + name + ", ") + Units.plural(cpus, "CPU");
	}

	/**
	 * Lines of a tooltip.
	 *
	 * @param trace has time 0 of the axis
	 * @param details of the same cells, from {@link #details}; null when not (yet) known
	 * @param threads threads by index
	 */
	public List<String> lines(TraceInfo trace, AccessDetails details, List<ThreadInfo> threads) {
		List<String> lines = new ArrayList<>();
		lines.add(name);
		long originNs = trace.startNs();
		String rows = Units.plural(pages, ModelText.row(model));
		lines.add(part != null ? part + ", " + rows : Units.duration(trace, fromNs - originNs) + " – " + Units.duration(trace, toNs - originNs)
				+ " (" + Units.duration(trace, toNs - fromNs) + "), " + rows);
		if (shares.isEmpty()) {
			lines.add(ModelText.nothing(model, trace.counts()));
		}
		for (int i = 0; i < Math.min(5, shares.size()); i++) {
			Share s = shares.get(i);
			lines.add(ModelText.type(s.type()) + ": " + Units.percent(s.percent()) + " ("
					+ ModelText.full(model, s.value(), trace.isInTicks(), trace.counts()) + ")");
		}
		if (shares.size() > 5) {
			lines.add((shares.size() - 5) + " more types");
		}
		if (details != null && !details.threads().isEmpty()) {
			String list = details.threads().stream().limit(6).mapToObj(i -> ModelText.thread(threads, i))
					.collect(Collectors.joining(", "));
			int n = details.threads().cardinality();
			lines.add((n == 1 ? "thread: " : n + " threads: ") + list + (n > 6 ? ", …" : ""));
		}
		if (structure != null) {
			String site = structure.site() == null || structure.site().isEmpty() ? "" : ", " + structure.site();
			lines.add(structure.kind().name().toLowerCase(java.util.Locale.ROOT) + ", " + Units.bytes(structure.sizeBytes()) + site);
		}
		if (blocks > 1) {
			lines.add(blocks + " small blocks drawn together");
		}
		return lines;
	}

	/** Facts from the records about the cells of a hit in a picture of memory over time. Takes time proportional to their number. */
	public static AccessDetails details(AccessTable table, Picture picture, Picture.Hit hit, Progress progress) throws MemtraceException {
		TimeSlices slices = picture.model().slices();
		return details(table, picture, hit, slices.boundNs(hit.firstSlice()), slices.boundNs(hit.endSlice()), progress);
	}

	/** The same of a window, of a picture whose rows are memory. */
	public static AccessDetails details(AccessTable table, Picture picture, Picture.Hit hit, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		Hierarchy h = picture.model().hierarchy();
		int first = h.producer(h.leafNode(hit.leafFrom()));
		int last = h.producer(h.leafNode(hit.leafTo() - 1));
		return table.details(first, last + 1, fromNs, toNs, progress);
	}
}
