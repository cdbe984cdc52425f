// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.memtrace.analysis.binding.ThreadBinding.Figures;
import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PictureTitle;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.Shape.Anchor;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;

/**
 * The matrix of sharing twice: threads by number, and threads in the order of the CPUs of the proposed binding. Lines separate what is
 * in different parts of the machine, wider ones larger parts; a good binding has its colours inside of the squares on the diagonal.
 */
public final class BindingPicture {
	private static final double FONT = 12;
	private static final double PAD = 10;
	private static final double HEAD = 4.2 * FONT;
	private static final double LABELS = 70;
	private static final double GAP = 24;
	private static final double LEGEND = 40;
	/** Cells smaller than this have no numbers, rows no labels. */
	private static final double LEAST_CELL = 11;
	private static final int STEPS = 40;

	/** Where a matrix is, and which thread each of its rows is. */
	private record Matrix(double left, double top, double cell, int[] order) {
	}

	/** Two threads of a matrix; the same twice on its diagonal. */
	public record Cell(int row, int column) {
	}

	private final ThreadBinding binding;
	private final Scene scene;
	private final List<Matrix> matrices;

	private BindingPicture(ThreadBinding binding, Scene scene, List<Matrix> matrices) {
		this.binding = binding;
		this.scene = scene;
		this.matrices = matrices;
	}

	/** Draws it. Milliseconds for a hundred threads. */
	public static Scene of(ThreadBinding b, int width, int height, Palette palette, String title) {
		return build(b, width, height, palette, title).scene;
	}

	/**
	 * Draws it, and keeps what is where.
	 *
	 * @param title null for none, and no verdict
	 */
	public static BindingPicture build(ThreadBinding b, int width, int height, Palette palette, String title) {
		List<Shape> shapes = new ArrayList<>();
		List<Matrix> matrices = new ArrayList<>();
		SharingGraph graph = b.graph();
		int n = graph.threads().size();
		double above = title == null ? 0 : HEAD;
		if (title != null) {
			PictureTitle.draw(shapes, palette, TextMeter.DEFAULT, FONT, PAD, width, title, "", b.verdict());
		}
		double most = 0;
		long[][] weight = new long[n][n];
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < n; k++) {
				weight[i][k] = graph.weight(i, k);
				most = Math.max(most, weight[i][k]);
			}
		}
		double side = Math.max(20, Math.min((width - 2 * PAD - GAP - 2 * LABELS) / 2, height - 2 * PAD - above - LEGEND - 3.5 * FONT));
		for (Kind kind : List.of(Kind.ORDER, Kind.PROPOSED)) {
			Figures f = b.of(kind);
			double left = PAD + LABELS + (kind == Kind.ORDER ? 0 : side + GAP + LABELS);
			double top = PAD + above + 1.5 * FONT;
			shapes.add(new Shape.Text(left, top - 0.6 * FONT, head(kind, ThreadBinding.number(f.distance()), side), FONT, true, palette.text(),
					Anchor.START, false));
			matrices.add(matrix(shapes, b, kind, weight, most, left, top, side, palette));
		}
		legend(shapes, b, most, width, PAD + above + 1.5 * FONT + side + FONT, palette);
		return new BindingPicture(b, new Scene(width, height, palette.background(), shapes), matrices);
	}

	/** Above a matrix: the longest text for which there is room above both. */
	private static String head(Kind kind, String distance, double width) {
		boolean order = kind == Kind.ORDER;
		double room = width + GAP;
		if (fits("Threads by proposed CPU, mean distance ", distance, room)) {
			return "Threads by " + (order ? "number" : "proposed CPU") + ", mean distance " + distance;
		}
		String by = order ? "By number" : "Proposed";
		return fits("By number, distance ", distance, room) ? by + ", distance " + distance
				: TextMeter.DEFAULT.fit(by + ": " + distance, FONT, true, room);
	}

	private static boolean fits(String text, String distance, double room) {
		return TextMeter.DEFAULT.width(text + distance, FONT, true) <= room;
	}

	public Scene scene() {
		return scene;
	}

	/** The threads of the cell at a point, null outside of both matrices. */
	public Cell at(double x, double y) {
		for (Matrix m : matrices) {
			int row = (int) Math.floor((y - m.top) / m.cell);
			int column = (int) Math.floor((x - m.left) / m.cell);
			if (row >= 0 && row < m.order.length && column >= 0 && column < m.order.length) {
				return new Cell(m.order[row], m.order[column]);
			}
		}
		return null;
	}

	/** What a cell means, in lines; empty outside. */
	public String textAt(double x, double y) {
		Cell c = at(x, y);
		if (c == null) {
			return "";
		}
		SharingGraph graph = binding.graph();
		if (c.row == c.column) {
			return "Thread " + BindingNames.name(graph, c.row) + BindingTable.PLACES.stream()
					.map(p -> "\n" + p.title() + ": " + p.text(binding, c.row)).collect(Collectors.joining());
		}
		long weight = graph.weight(c.row, c.column);
		BindingText.Pair pair = new BindingText.Pair(c.row, c.column, weight);
		return "Threads " + BindingNames.name(graph, c.row) + " and " + BindingNames.name(graph, c.column) + "\n"
				+ (weight == 0 ? "share nothing" : Units.count(weight) + " " + BindingText.unit(graph) + ", "
						+ Units.percent(100.0 * weight / graph.total()) + " of all sharing")
				+ "\nIn order: " + BindingText.same(binding, Kind.ORDER, pair) + "; proposed: " + BindingText.same(binding, Kind.PROPOSED, pair);
	}

	private static Matrix matrix(List<Shape> shapes, ThreadBinding b, Kind kind, long[][] weight, double most, double left, double top,
			double side, Palette palette) {
		int n = weight.length;
		CpuDistances machine = b.machine();
		int[] cpu = IntStream.of(b.of(kind).cpuOf()).map(machine::cpu).toArray();
		int[] order = IntStream.range(0, n).boxed().sorted(kind == Kind.ORDER ? Comparator.naturalOrder() : Comparator.comparingInt(t -> cpu[t]))
				.mapToInt(t -> t).toArray();
		shapes.add(new Shape.Rect(left, top, side, side, palette.plotBackground(), palette.axis()));
		double cell = side / Math.max(1, n);
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < n; k++) {
				long w = weight[order[i]][order[k]];
				double x = left + k * cell;
				double y = top + i * cell;
				int fill = i == k ? palette.separator() : palette.heat(most == 0 ? 0 : w / most);
				if (i == k || w > 0) {
					shapes.add(new Shape.Rect(x, y, cell, cell, fill, 0));
				}
				String text = i == k || w == 0 ? "" : Units.count(w);
				double size = Math.min(FONT, cell / 2.5);
				if (size >= 7 && !text.isEmpty() && TextMeter.DEFAULT.width(text, size, false) < cell - 2) {
					shapes.add(new Shape.Text(x + cell / 2, y + cell / 2 + size / 3, text, size, false, Palette.textOn(fill), Anchor.MIDDLE, false));
				}
			}
			if (cell >= LEAST_CELL) {
				int os = machine.osCpu(cpu[order[i]]);
				String label = kind == Kind.ORDER ? Integer.toString(order[i]) : order[i] + " on " + os;
				shapes.add(new Shape.Text(left - 6, top + (i + 0.5) * cell + FONT / 3, label, Math.min(FONT, cell), false, palette.text(), Anchor.END,
						false));
			}
		}
		for (int i = 1; i < n; i++) {
			int d = machine.between(cpu[order[i]], cpu[order[i - 1]]);
			if (d > 1 || machine.largest() == 1 && d == 1) {
				double w = 0.5 + 2.0 * (d - 1) / Math.max(1, machine.largest() - 1);
				shapes.add(new Shape.Line(left + i * cell, top, left + i * cell, top + side, palette.text(), w, false));
				shapes.add(new Shape.Line(left, top + i * cell, left + side, top + i * cell, palette.text(), w, false));
			}
		}
		return new Matrix(left, top, cell, order);
	}

	private static void legend(List<Shape> shapes, ThreadBinding b, double most, int width, double y, Palette palette) {
		double bar = 120;
		double x = PAD + LABELS;
		for (int i = 0; i < STEPS; i++) {
			shapes.add(new Shape.Rect(x + i * bar / STEPS, y, bar / STEPS + 0.5, FONT, palette.heat((i + 1.0) / STEPS), 0));
		}
		shapes.add(new Shape.Text(x - 6, y + FONT - 2, "0", FONT, false, palette.mutedText(), Anchor.END, false));
		String text = Units.count(most) + " " + BindingText.unit(b.graph());
		shapes.add(new Shape.Text(x + bar + 6, y + FONT - 2, TextMeter.DEFAULT.fit(text, FONT, false, width - x - bar - 6 - PAD), FONT, false,
				palette.mutedText(), Anchor.START, false));
		shapes.add(new Shape.Text(PAD, y + 2.5 * FONT, TextMeter.DEFAULT.fit("Distance: " + b.machine().legend()
				+ ". Wider lines separate larger parts.", FONT, false, width - 2 * PAD), FONT, false, palette.mutedText(), Anchor.START, false));
	}
}
