// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.tree.ProducerKind;

/**
 * How the height of a picture is divided among the leaves of a hierarchy. Structures are as high as they have pages, but small
 * ones with accesses get a least height, so that a single page on which everything happens is seen beside matrices of gigabytes; within
 * a structure all pages are equally high. Heights are shares of the whole, 0..1. Immutable.
 */
public final class RowLayout {
	/** Share that a structure gets at least, while there are not too many of them. */
	private static final double LEAST = 0.024;
	/** Share that all the small structures may take together. */
	private static final double LEAST_TOGETHER = 0.4;

	/** Least height of a structure where rows are scrolled, in heights of the font: its name in bold type. */
	private static final double LINE = 1.8;
	/** Height of all pages there without that, at a scale of 1: about a window. */
	private static final double PAGES = 60;

	private final Hierarchy hierarchy;
	private final int[] sections;
	/** First leaf of each section, and the end. */
	private final int[] leaf;
	private final double[] top;
	/** Height of a row where heights are to scale. */
	private final double perRow;
	/** Height that it needs, in heights of the font; 0: it suits any. */
	private final double fonts;

	/** Least share, alone and together, of structures that are hardly used. */
	private static final double LEAST_IDLE = 0.006;
	private static final double LEAST_IDLE_TOGETHER = 0.08;
	/** Share of all accesses below which a structure is hardly used. */
	private static final double HARDLY = 0.001;

	private RowLayout(Hierarchy hierarchy, List<Integer> sections, boolean proportional, MicroscopicModel model) {
		this.hierarchy = hierarchy;
		int n = sections.size();
		this.sections = sections.stream().mapToInt(i -> i).toArray();
		this.leaf = new int[n + 1];
		this.top = new double[n + 1];
		double[] share = new double[n];
		double total = hierarchy.weight(0);
		boolean[] idle = new boolean[n];
		int small = 0;
		int smallIdle = 0;
		double all = model == null ? 0 : sum(model.totals());
		for (int i = 0; i < n; i++) {
			leaf[i] = hierarchy.leafFrom(this.sections[i]);
			share[i] = hierarchy.weight(this.sections[i]) / total;
			idle[i] = all > 0 && sum(model.sums(this.sections[i], 0, model.sliceCount())) < HARDLY * all;
			if (share[i] < LEAST) {
				small += idle[i] ? 0 : 1;
				smallIdle += idle[i] ? 1 : 0;
			}
		}
		leaf[n] = hierarchy.leafCount();
		if (!proportional && small + smallIdle > 0 && small + smallIdle < n) {
			// all small ones alike as far as there is room, never less than their own share
			double least = small == 0 ? 0 : Math.min(LEAST, LEAST_TOGETHER / small);
			double leastIdle = smallIdle == 0 ? 0 : Math.min(LEAST_IDLE, LEAST_IDLE_TOGETHER / smallIdle);
			boolean[] raised = new boolean[n];
			double taken = 0;
			double rest = 0;
			for (int i = 0; i < n; i++) {
				double wanted = idle[i] ? leastIdle : least;
				if (share[i] < wanted) {
					share[i] = wanted;
					raised[i] = true;
					taken += wanted;
				} else {
					rest += share[i];
				}
			}
			for (int i = 0; i < n && rest > 0; i++) {
				if (!raised[i]) {
					share[i] *= (1 - taken) / rest;
				}
			}
		}
		double sum = 0;
		for (double s : share) {
			sum += s;
		}
		double least = Double.MAX_VALUE;
		for (int i = 0; i < n; i++) {
			top[i + 1] = i + 1 == n ? 1 : top[i] + share[i] / sum;
			least = Math.min(least, (top[i + 1] - top[i]) / hierarchy.weight(this.sections[i]));
		}
		this.perRow = least;
		this.fonts = 0;
	}

	private RowLayout(Hierarchy hierarchy, List<Integer> sections, double scale) {
		this.hierarchy = hierarchy;
		int n = sections.size();
		this.sections = sections.stream().mapToInt(i -> i).toArray();
		this.leaf = new int[n + 1];
		this.top = new double[n + 1];
		double unit = PAGES * scale / hierarchy.weight(0);
		for (int i = 0; i < n; i++) {
			leaf[i] = hierarchy.leafFrom(this.sections[i]);
			top[i + 1] = top[i] + Math.max(LINE, unit * hierarchy.weight(this.sections[i]));
		}
		leaf[n] = hierarchy.leafCount();
		this.fonts = top[n];
		double least = Double.MAX_VALUE;
		for (int i = 0; i < n; i++) {
			top[i + 1] = i + 1 == n ? 1 : top[i + 1] / fonts;
			least = Math.min(least, (top[i + 1] - top[i]) / hierarchy.weight(this.sections[i]));
		}
		this.perRow = least;
	}

	private static double sum(double[] values) {
		double sum = 0;
		for (double v : values) {
			sum += v;
		}
		return sum;
	}

	/** Readable heights for the structures, stacks and ranges of a hierarchy, all small ones alike. */
	public static RowLayout of(Hierarchy hierarchy, NodeNames names) {
		return new RowLayout(hierarchy, sections(hierarchy, names), false, null);
	}

	/**
	 * Readable heights; structures with less than a thousandth of the accesses of the model stay low. Depends on the window of the
	 * model: keep the layout while a person moves in time.
	 */
	public static RowLayout of(MicroscopicModel model, NodeNames names) {
		return new RowLayout(model.hierarchy(), sections(model.hierarchy(), names), false, model);
	}

	/** Equally high leaves. */
	public static RowLayout proportional(Hierarchy hierarchy, NodeNames names) {
		return new RowLayout(hierarchy, sections(hierarchy, names), true, null);
	}

	/**
	 * Equally high leaves, but no structure lower than a line: higher than a window if there are many ({@link #height(double)}).
	 *
	 * @param scale factor of the height of leaves; more than 0
	 */
	public static RowLayout lines(Hierarchy hierarchy, NodeNames names, double scale) {
		return new RowLayout(hierarchy, sections(hierarchy, names), scale);
	}

	/** Pixels that all rows need for a font; 0: they suit any height. */
	public double height(double fontSize) {
		return fonts * fontSize;
	}

	/**
	 * Nodes that a person looks for: below roots and images everything; inside of one structure its first two levels of parts. In
	 * display order, covering all leaves.
	 */
	private static List<Integer> sections(Hierarchy hierarchy, NodeNames names) {
		List<Integer> result = new ArrayList<>();
		ProducerKind top = names.kind(0);
		boolean inside = top != ProducerKind.ROOT && top != ProducerKind.IMAGE;
		int n = 0;
		while (n < hierarchy.size()) {
			ProducerKind kind = names.kind(n);
			boolean open = !hierarchy.isLeaf(n) && (kind == ProducerKind.ROOT || kind == ProducerKind.IMAGE || kind == ProducerKind.NODE
					|| kind == ProducerKind.GROUP && names.isAround(n) || inside && hierarchy.weight(n) * 6 > hierarchy.weight(0));
			if (open) {
				n++;
			} else {
				result.add(n);
				n = hierarchy.end(n);
			}
		}
		return result;
	}

	public Hierarchy hierarchy() {
		return hierarchy;
	}

	/** Nodes of the hierarchy that get a label, in display order, covering all leaves. */
	public int[] sectionNodes() {
		return sections.clone();
	}

	/**
	 * How much higher a row of a section is than a row where heights are to scale, which most rows are. Not less than 1.
	 *
	 * @param section index of {@link #sectionNodes}
	 */
	public double magnification(int section) {
		return (top[section + 1] - top[section]) / hierarchy.weight(sections[section]) / perRow;
	}

	/** Sections that are seen, by their height or their rows: at most two hundred, of which each loss is told. */
	public int[] largeSections() {
		return IntStream.range(0, sections.length)
				.filter(i -> top[i + 1] - top[i] >= 0.01 || hierarchy.weight(sections[i]) > 0.01 * hierarchy.weight(0)).map(i -> sections[i])
				.toArray();
	}

	/** Upper edge of a leaf, 0..1; 1 for {@code leafCount}. */
	public double top(int row) {
		int low = 0;
		int high = sections.length - 1;
		while (low < high) {
			int mid = (low + high + 1) >>> 1;
			if (leaf[mid] <= row) {
				low = mid;
			} else {
				high = mid - 1;
			}
		}
		if (row >= leaf[low + 1]) {
			return top[low + 1];
		}
		double within = (double) hierarchy.weight(leaf[low], row) / hierarchy.weight(leaf[low], leaf[low + 1]);
		return top[low] + within * (top[low + 1] - top[low]);
	}

	/** Height of a range of leaves. */
	public double height(int leafFrom, int leafTo) {
		return top(leafTo) - top(leafFrom);
	}

	/**
	 * Options of an aggregation for a picture with this layout: nothing is divided into rows thinner than {@code minPixels}.
	 *
	 * @param heightPixels height of the area of the blocks
	 */
	public AggregationOptions aggregation(int slices, double heightPixels, double minPixels) {
		return AggregationOptions.forPicture(hierarchy, this::height, minPixels / heightPixels, slices,
				AggregationOptions.DEFAULT_BUDGET_BYTES);
	}
}
