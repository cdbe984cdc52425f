// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.FirstTouches;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;

/**
 * The layer of first touches: a column left of the picture in the colours of the threads that touched each page first, in proportion to
 * their pages, and a mark in the picture where and when that was. Rows too low to be told apart are taken together.
 */
final class FirstTouchDrawing {
	/** Height of a line of marks, where rows are lower. */
	private static final double BAND = 3;
	/** Width of a mark. */
	private static final double WIDTH = 3;
	/** Share of the pages of a band below which a place in time has no mark. */
	private static final double LEAST = 0.1;

	private final FirstTouchLayer layer;
	private final Picture picture;
	private final Palette palette;
	private final List<Shape> shapes;
	private final boolean byThread;

	/** @param picture where rows and times are */
	FirstTouchDrawing(FirstTouchLayer layer, Picture picture, Palette palette, List<Shape> shapes) {
		this.layer = layer;
		this.picture = picture;
		this.palette = palette;
		this.shapes = shapes;
		this.byThread = picture.model().viewpoint() == BasicDimensions.THREAD;
	}

	/** Threads that touched some of the shown pages first, most pages first; at most as many as a legend can name. */
	static List<ModelType> touchers(FirstTouchLayer layer, Hierarchy hierarchy, int most) {
		Map<Integer, Integer> pages = new TreeMap<>();
		FirstTouches t = layer.touches();
		for (int leaf = 0; leaf < hierarchy.leafCount(); leaf++) {
			int at = t.indexOf(hierarchy.producer(hierarchy.leafNode(leaf)));
			if (at >= 0) {
				pages.merge(t.thread(at), 1, Integer::sum);
			}
		}
		return pages.entrySet().stream().sorted(Map.Entry.<Integer, Integer>comparingByValue(Comparator.reverseOrder())
				.thenComparing(Map.Entry.comparingByKey())).limit(most).map(e -> layer.type(e.getKey())).toList();
	}

	/** Several rows, or one. */
	private final class Band {
		final double top;
		final double bottom;
		final Map<Integer, Integer> byThread = new TreeMap<>();
		/** Pages by column of pixels and thread. */
		final Map<Long, Integer> byPlace = new TreeMap<>();
		int pages;

		Band(double top, double bottom) {
			this.top = top;
			this.bottom = bottom;
		}

		void add(long startNs, int thread) {
			pages++;
			byThread.merge(thread, 1, Integer::sum);
			if (startNs >= picture.model().slices().startNs() && startNs < picture.model().slices().endNs()) {
				long column = (long) ((picture.xOf(startNs) - picture.plotX()) / WIDTH);
				byPlace.merge(column << 32 | thread + 1, 1, Integer::sum);
			}
		}
	}

	/**
	 * Draws.
	 *
	 * @param columnX left edge of the column
	 * @param columnWidth its width, 0 for none
	 */
	void draw(double columnX, double columnWidth) {
		FirstTouches t = layer.touches();
		Hierarchy h = picture.model().hierarchy();
		int[] sections = picture.layout().sectionNodes();
		List<Band> bands = new ArrayList<>();
		for (int n : sections) {
			int end = h.leafTo(n);
			for (int leaf = h.leafFrom(n); leaf < end;) {
				double top = picture.yOf(leaf);
				int to = leaf + 1;
				while (to < end && picture.yOf(to) - top < BAND) {
					to++;
				}
				if (picture.yOf(end) - picture.yOf(to) < BAND) {
					to = picture.yOf(leaf + 1) - top < BAND ? end : to;
				}
				if (!picture.isSeen(leaf, to)) {
					leaf = to;
					continue;
				}
				Band band = new Band(picture.seenY(leaf), picture.seenY(to));
				for (; leaf < to; leaf++) {
					int at = t.indexOf(h.producer(h.leafNode(leaf)));
					if (at >= 0) {
						band.add(t.atNs(at), t.thread(at));
					}
				}
				if (band.pages > 0) {
					bands.add(band);
				}
			}
		}
		if (columnWidth > 0) {
			column(bands, columnX, columnWidth);
		}
		marks(bands);
	}

	private int color(int thread) {
		return palette.color(layer.type(thread));
	}

	/** Neighbours that look the same are one rectangle. */
	private void column(List<Band> bands, double x, double width) {
		for (int i = 0; i < bands.size();) {
			Band first = bands.get(i);
			int j = i + 1;
			double bottom = first.bottom;
			while (j < bands.size() && first.byThread.size() == 1 && bands.get(j).byThread.keySet().equals(first.byThread.keySet())
					&& bands.get(j).top - bottom < 0.01) {
				bottom = bands.get(j++).bottom;
			}
			double at = x;
			for (var e : first.byThread.entrySet()) {
				double part = width * e.getValue() / first.pages;
				shapes.add(new Shape.Rect(at, first.top, part, bottom - first.top, color(e.getKey()), 0));
				at += part;
			}
			i = j;
		}
	}

	/** Marks of the same place and thread one below the other are one. */
	private void marks(List<Band> bands) {
		Map<Long, double[]> open = new TreeMap<>();
		for (Band band : bands) {
			Map<Long, double[]> next = new TreeMap<>();
			for (var e : band.byPlace.entrySet()) {
				if (e.getValue() >= LEAST * band.pages) {
					double[] before = open.remove(e.getKey());
					next.put(e.getKey(), before != null && band.top - before[1] < 0.01 ? new double[] {before[0], band.bottom}
							: new double[] {band.top, band.bottom});
					if (before != null && band.top - before[1] >= 0.01) {
						mark(e.getKey(), before);
					}
				}
			}
			open.forEach(this::mark);
			open = next;
		}
		open.forEach(this::mark);
	}

	private void mark(long place, double[] y) {
		double x = picture.plotX() + WIDTH * (place >> 32);
		mark(shapes, palette, Math.min(x, picture.plotX() + picture.plotWidth() - WIDTH), y[0], y[1] - y[0],
				byThread ? color((int) place - 1) : palette.text());
	}

	/** A mark that is seen on any colour. */
	static void mark(List<Shape> shapes, Palette palette, double x, double y, double height, int color) {
		shapes.add(new Shape.Rect(x - 1, y, WIDTH + 2, height, palette.background(), 0));
		shapes.add(new Shape.Rect(x, y, WIDTH, height, color, 0));
	}
}
