// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.machine.MachineUse.Figures;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;

/**
 * A machine as nested boxes, coloured by what a selection of accesses did there. Objects that cannot be told apart by their CPUs
 * (a core and its only CPU, a package and its only cache) share a box when there is little room.
 */
public final class MachinePicture {
	/** What colours mean. */
	public enum Colouring {
		/** How many accesses, and how many pages of a node. */
		ACCESSES("amount"),
		/** Whether they were to near memory. */
		LOCALITY("local and remote");

		private final String title;

		Colouring(String title) {
			this.title = title;
		}

		/** For a person. */
		public String title() {
			return title;
		}
	}

	/** How it is drawn: a mutable bag of settings with useful defaults. */
	public static final class Options {
		public int width = 900;
		public int height = 600;
		public Palette palette = Palette.LIGHT;
		public TextMeter meter = TextMeter.DEFAULT;
		/** Height of the normal font in pixels. */
		public double fontSize = 12;
		/** First line, bold; null for none. */
		public String title;
		public Colouring colouring = Colouring.ACCESSES;
		/** CPUs and nodes that a filter asks for: they get a border. */
		public BitSet filteredCpus = new BitSet();
		public BitSet filteredNodes = new BitSet();
		/** The object with the focus of the keyboard, or null. */
		public MachineObject focus;
	}

	/** Where an object is; several objects may share a box, the last of them is the innermost. */
	public record Box(List<MachineObject> objects, double x, double y, double width, double height) {
		/** The object that is meant by a click: a CPU or a node when the box is one. */
		public MachineObject object() {
			return objects.get(objects.size() - 1);
		}

		boolean contains(double px, double py) {
			return px >= x && px < x + width && py >= y && py < y + height;
		}
	}

	/** Boxes of a CPU smaller than this have no room for texts: the next smaller layout is tried. */
	private static final double CPU_WIDTH = 34;
	private static final double CPU_HEIGHT = 18;
	private static final double MARGIN = 8;
	private static final int GRADIENT_STEPS = 32;
	private static final int MOST_NOTES = 4;
	/** Layouts from roomy to dense. */
	private static final int LAYOUTS = 3;

	private final MachineContent content;
	private final Options o;
	private final List<Shape> shapes = new ArrayList<>();
	private final List<Box> boxes = new ArrayList<>();
	private double smallestWidth;
	private double smallestHeight;
	private boolean hatched;

	private MachinePicture(MachineContent content, Options options) {
		this.content = content;
		this.o = options;
	}

	/** Draws what accesses did. Milliseconds. */
	public static MachinePicture of(MachineUse use, Options options) {
		return of(new UseContent(use, options), options);
	}

	/** Draws values of monitors. Milliseconds. */
	public static MachinePicture of(MonitorFrame frame, Options options) {
		return of(new FrameContent(frame, options), options);
	}

	private static MachinePicture of(MachineContent content, Options options) {
		MachinePicture p = new MachinePicture(content, options);
		p.draw();
		return p;
	}

	public Scene scene() {
		return new Scene(o.width, o.height, o.palette.background(), shapes);
	}

	/** Boxes, each before what is in it. */
	public List<Box> boxes() {
		return List.copyOf(boxes);
	}

	/** The innermost box at a point, or null. */
	public Box at(double x, double y) {
		Box hit = null;
		for (Box b : boxes) {
			if (b.contains(x, y)) {
				hit = b;
			}
		}
		return hit;
	}

	// ---- layout

	private void draw() {
		double line = Math.round(o.fontSize * 1.5);
		double top = MARGIN;
		if (o.title != null) {
			text(MARGIN, top + o.fontSize, o.meter.fitMiddle(o.title, o.fontSize, true, o.width - 2 * MARGIN), true,
					o.palette.text(), Shape.Anchor.START);
			top += line;
		}
		top = headline(top, line) + 4;
		List<String> notes = wrapped();
		double bottom = o.height - MARGIN - notes.size() * line;
		double legend = bottom - line - 4;
		double height = legend - 6 - top;
		double width = o.width - 2 * MARGIN;
		if (height > 20 && width > 40) {
			int before = shapes.size();
			for (int layout = 0; layout < LAYOUTS; layout++) {
				shapes.subList(before, shapes.size()).clear();
				boxes.clear();
				hatched = false;
				smallestWidth = Double.MAX_VALUE;
				smallestHeight = Double.MAX_VALUE;
				place(content.topology().root(), MARGIN, top, width, height, layout, 0);
				if (smallestWidth >= CPU_WIDTH && smallestHeight >= CPU_HEIGHT) {
					break;
				}
			}
		}
		legend(legend, line);
		for (int i = 0; i < notes.size(); i++) {
			text(MARGIN, bottom + i * line + o.fontSize, notes.get(i), false, o.palette.mutedText(), Shape.Anchor.START);
		}
	}

	/** The notes, one after the other, in lines; what has no room ends with an ellipsis. */
	private List<String> wrapped() {
		List<String> lines = new ArrayList<>();
		StringBuilder line = new StringBuilder();
		double width = o.width - 2 * MARGIN;
		for (String word : String.join(" ", content.notes()).split(" ")) {
			if (!line.isEmpty() && o.meter.width(line + " " + word, o.fontSize, false) > width) {
				lines.add(line.toString());
				line.setLength(0);
			}
			line.append(line.isEmpty() ? "" : " ").append(word);
		}
		lines.add(line.toString());
		lines.removeIf(String::isEmpty);
		int most = Math.max(0, Math.min(MOST_NOTES, (int) (o.height / 5 / (o.fontSize * 1.5))));
		if (lines.size() > most) {
			List<String> some = new ArrayList<>(lines.subList(0, most));
			if (most > 0) {
				some.set(most - 1, o.meter.fit(some.get(most - 1) + " …", o.fontSize, false, width));
			}
			return some;
		}
		return lines;
	}

	/** A bar of the parts of the whole, if there are any, and a sentence. Returns where it ends. */
	private double headline(double top, double line) {
		double x = MARGIN;
		double[] parts = content.parts();
		if (parts.length > 0) {
			double all = Arrays.stream(parts).sum();
			double barWidth = Math.min(160, o.width / 5.0);
			double barHeight = Math.round(o.fontSize * 0.9);
			double y = top + (line - barHeight) / 2;
			int[] colours = {o.palette.local(), o.palette.remote(), o.palette.unknown()};
			double at = x;
			for (int i = 0; i < parts.length && all > 0; i++) {
				double w = barWidth * parts[i] / all;
				if (w > 0) {
					shapes.add(new Shape.Rect(at, y, w, barHeight, colours[i], 0));
					at += w;
				}
			}
			shapes.add(new Shape.Rect(x, y, barWidth, barHeight, 0, o.palette.axis()));
			x += barWidth + 8;
		}
		text(x, top + (line + o.fontSize) / 2 - 1, o.meter.fit(content.headline(), o.fontSize, false, o.width - MARGIN - x), false,
				o.palette.text(), Shape.Anchor.START);
		return top + line;
	}

	/**
	 * Places an object and what is in it.
	 *
	 * @param layout 0: a box for each object; 1: those with the same CPUs share one; 2: also without headings where they are low
	 */
	private void place(MachineObject object, double x, double y, double w, double h, int layout, int depth) {
		List<MachineObject> chain = new ArrayList<>(List.of(object));
		List<MachineObject> memory = new ArrayList<>(object.memory());
		MachineObject last = object;
		while (layout > 0 && last.children().size() == 1) {
			last = last.children().get(0);
			chain.add(last);
			memory.addAll(last.memory());
		}
		Box box = new Box(List.copyOf(chain), x, y, w, h);
		boxes.add(box);
		if (last.children().isEmpty() && memory.isEmpty()) {
			cpu(box);
			return;
		}
		double pad = Math.max(1, Math.min(layout == 2 ? 3 : 5, Math.min(w, h) / 20));
		int ground = Palette.mix(o.palette.background(), o.palette.text(), Math.min(0.12, 0.025 * (depth + 1)));
		shapes.add(new Shape.Rect(x, y, w, h, ground, o.palette.separator()));
		double head = Math.round(o.fontSize * 1.4);
		double inside = h - 2 * pad;
		if (w > 30 && inside > (layout == 2 ? 4 : 2) * head) {
			heading(box, x + 1, y + 1, w - 2, head);
			y += head + 1;
			h -= head + 1;
			inside = h - 2 * pad;
		}
		double top = y + pad;
		if (!memory.isEmpty()) {
			double row = Math.max(2, Math.min(Math.round(o.fontSize * 1.5), inside / (memory.size() + 2.0)));
			int columns = w / memory.size() >= 150 ? memory.size() : 1;
			double mw = (w - 2 * pad - (columns - 1) * pad) / columns;
			for (int i = 0; i < memory.size(); i++) {
				memory(memory.get(i), x + pad + i % columns * (mw + pad), top + i / columns * (row + pad), mw, row);
			}
			top += (memory.size() + columns - 1) / columns * (row + pad);
		}
		List<MachineObject> children = last.children();
		double areaWidth = w - 2 * pad;
		double areaHeight = y + h - pad - top;
		if (children.isEmpty() || areaWidth <= 0 || areaHeight <= 0) {
			return;
		}
		int columns = columns(children.size(), areaWidth, areaHeight, pad);
		int rows = (children.size() + columns - 1) / columns;
		double cw = (areaWidth - (columns - 1) * pad) / columns;
		double ch = (areaHeight - (rows - 1) * pad) / rows;
		for (int i = 0; i < children.size(); i++) {
			place(children.get(i), x + pad + i % columns * (cw + pad), top + i / columns * (ch + pad), cw, ch, layout, depth + 1);
		}
	}

	/** Columns that make the cells, thought of as 1.6 times as wide as high, largest. */
	private static int columns(int n, double w, double h, double gap) {
		int best = 1;
		double bestSize = -1;
		for (int columns = 1; columns <= n; columns++) {
			int rows = (n + columns - 1) / columns;
			double size = Math.min((w - (columns - 1) * gap) / columns / 1.6, (h - (rows - 1) * gap) / rows);
			if (size > bestSize + 1e-9) {
				bestSize = size;
				best = columns;
			}
		}
		return best;
	}

	// ---- boxes

	private void heading(Box box, double x, double y, double w, double h) {
		int fill = content.fill(box);
		shapes.add(new Shape.Rect(x, y, w, h, fill, 0));
		double change = content.variation(box);
		variation(change, x, y, w, h, fill);
		double start = Double.isNaN(change) ? 4 : 11;
		StringBuilder b = new StringBuilder();
		for (MachineObject m : box.objects()) {
			b.append(b.isEmpty() ? "" : " · ").append(m.type() == Type.MACHINE ? "Machine" : m.label());
		}
		String name = b.toString();
		String value = content.value(box);
		double room = w - start - 4;
		String both = name + "  " + value;
		boolean fits = !value.isEmpty() && o.meter.width(both, o.fontSize, false) <= room;
		int color = Palette.textOn(fill);
		double base = y + (h + o.fontSize) / 2 - o.fontSize * 0.15;
		text(x + start, base, o.meter.fit(name, o.fontSize, false, room), false, color, Shape.Anchor.START);
		if (fits) {
			text(x + w - 4, base, value, false, color, Shape.Anchor.END);
		}
		borders(box);
	}

	private void memory(MachineObject m, double x, double y, double w, double h) {
		if (m.type() != Type.NODE) {
			// a cache in front of a memory: beside it
			double part = m.memory().isEmpty() ? w : w * 0.3;
			Box box = new Box(List.of(m), x, y, part, h);
			boxes.add(box);
			shapes.add(new Shape.Rect(x, y, part, h, o.palette.plotBackground(), o.palette.separator()));
			label(m.label(), "", x, y, part, h, o.palette.text());
			for (int i = 0; i < m.memory().size(); i++) {
				double each = (w - part) / m.memory().size();
				memory(m.memory().get(i), x + part + i * each, y, each, h);
			}
			return;
		}
		Box box = new Box(List.of(m), x, y, w, h);
		boxes.add(box);
		int fill = content.fill(box);
		shapes.add(new Shape.Rect(x, y, w, h, fill, o.palette.axis()));
		variation(content.variation(box), x, y, w, h, fill);
		String value = content.value(box);
		label(m.label(), value, x, y, w, h, Palette.textOn(fill));
		borders(box);
	}

	private void cpu(Box box) {
		MachineObject pu = box.object();
		smallestWidth = Math.min(smallestWidth, box.width());
		smallestHeight = Math.min(smallestHeight, box.height());
		int fill = content.fill(box);
		shapes.add(new Shape.Rect(box.x(), box.y(), box.width(), box.height(), fill, box.width() > 4 ? o.palette.axis() : 0));
		variation(content.variation(box), box.x(), box.y(), box.width(), box.height(), fill);
		if (content.isHatched(box)) {
			hatched = true;
			int hatch = Palette.textOn(fill) & 0xffffff | 0x60000000;
			shapes.add(new Shape.Hatch(box.x() + 1, box.y() + 1, box.width() - 2, box.height() - 2, Shape.HatchStyle.IN_SPACE, hatch));
		}
		String name = pu.shortLabel();
		if (o.meter.width(name, o.fontSize, false) > box.width() - 4) {
			// all numbers or none
			String longest = Integer.toString(Math.max(0, content.topology().root().cpus().length() - 1));
			boolean room = pu.osIndex() >= 0 && o.meter.width(longest, o.fontSize, false) <= box.width() - 2;
			name = room ? Integer.toString(pu.osIndex()) : "";
		}
		MachineObject core = box.objects().size() > 1 ? box.objects().get(box.objects().size() - 2) : null;
		if (core != null && core.type() == Type.CORE
				&& o.meter.width(core.shortLabel() + " · " + pu.shortLabel(), o.fontSize, false) <= box.width() - 8) {
			name = core.shortLabel() + " · " + pu.shortLabel();
		}
		label(name, content.value(box), box.x(), box.y(), box.width(), box.height(), Palette.textOn(fill));
		borders(box);
	}

	/** A name and a value: one line or two, as they fit; not the value, or nothing, when they do not. */
	private void label(String name, String value, double x, double y, double w, double h, int color) {
		double size = o.fontSize;
		if (h < size * 1.25) {
			size = Math.floor(h * 0.8);
		}
		if (name.isEmpty()) {
			return;
		}
		if (size < 7 || h < 8 || o.meter.width(name, size, false) > w - 2) {
			String fitted = h < 8 || size < 7 ? "" : o.meter.fit(name, size, false, w - 4);
			if (!fitted.isEmpty()) {
				text(x + w / 2, y + (h + size) / 2 - size * 0.15, fitted, false, color, Shape.Anchor.MIDDLE, size);
			}
			return;
		}
		double middle = x + w / 2;
		boolean two = h >= 2.6 * size && !value.isEmpty() && o.meter.width(value, size, false) <= w - 4;
		String one = name + "  " + value;
		if (two) {
			text(middle, y + h / 2 - size * 0.25, name, false, color, Shape.Anchor.MIDDLE, size);
			text(middle, y + h / 2 + size * 1.05, value, false, color, Shape.Anchor.MIDDLE, size);
		} else {
			boolean both = !value.isEmpty() && o.meter.width(one, size, false) <= w - 8;
			text(middle, y + (h + size) / 2 - size * 0.15, both ? one : name, false, color, Shape.Anchor.MIDDLE, size);
		}
	}

	/** Marks of filter and focus; over everything that is drawn later there is nothing but what is inside. */
	private void borders(Box box) {
		MachineObject m = box.object();
		boolean filtered = m.type() == Type.PU && m.osIndex() >= 0 && o.filteredCpus.get(m.osIndex())
				|| m.type() == Type.NODE && o.filteredNodes.get(Math.max(0, m.osIndex()));
		if (filtered) {
			for (int i = 0; i < 3; i++) {
				shapes.add(new Shape.Rect(box.x() + i, box.y() + i, box.width() - 2 * i, box.height() - 2 * i, 0, o.palette.warning()));
			}
		}
		if (o.focus != null && box.objects().contains(o.focus)) {
			for (int i = 0; i < 2; i++) {
				shapes.add(new Shape.Rect(box.x() - i, box.y() - i, box.width() + 2 * i, box.height() + 2 * i, 0,
						o.palette.highlight()));
			}
		}
	}

	/** A tick at the left edge: how much a value rose (up) or fell since the one before; in the middle it is the same. */
	private void variation(double change, double x, double y, double w, double h, int fill) {
		if (Double.isNaN(change) || w < 16 || h < 10) {
			return;
		}
		double at = y + h / 2 - Math.max(-1, Math.min(1, change)) * (h / 2 - 2);
		shapes.add(new Shape.Line(x + 1, at, x + (w < 70 ? 4 : 7), at, Palette.textOn(fill), 2, false));
	}

	// ---- legend

	private void legend(double top, double line) {
		double base = top + (line + o.fontSize) / 2 - 1;
		double x = MARGIN;
		for (MachineContent.Scale scale : content.scales()) {
			x = scale.color() == null ? swatch(x, top, line, base, scale.fill(), scale.most()) : gradient(x, top, line, base, scale);
		}
		if (hatched) {
			double size = Math.round(o.fontSize * 0.9);
			String text = content.hatch();
			if (x + size + 4 + o.meter.width(text, o.fontSize, false) < o.width - MARGIN) {
				double y = top + (line - size) / 2;
				shapes.add(new Shape.Rect(x, y, size, size, o.palette.plotBackground(), o.palette.axis()));
				shapes.add(new Shape.Hatch(x, y, size, size, Shape.HatchStyle.IN_SPACE, o.palette.text() & 0xffffff | 0x90000000));
				text(x + size + 4, base, text, false, o.palette.mutedText(), Shape.Anchor.START);
			}
		}
	}

	private double swatch(double x, double top, double line, double base, int color, String name) {
		double size = Math.round(o.fontSize * 0.9);
		shapes.add(new Shape.Rect(x, top + (line - size) / 2, size, size, color, 0));
		text(x + size + 4, base, name, false, o.palette.mutedText(), Shape.Anchor.START);
		return x + size + 4 + o.meter.width(name, o.fontSize, false) + 16;
	}

	private double gradient(double x, double top, double line, double base, MachineContent.Scale scale) {
		String least = scale.least();
		String most = scale.most();
		double width = o.meter.width(most, o.fontSize, false);
		double zero = o.meter.width(least, o.fontSize, false) + 4;
		double bar = Math.min(120, o.width / 6.0);
		if (x + zero + bar + 4 + width > o.width - MARGIN) {
			return x;
		}
		double height = Math.round(o.fontSize * 0.9);
		double y = top + (line - height) / 2;
		text(x, base, least, false, o.palette.mutedText(), Shape.Anchor.START);
		for (int i = 0; i < GRADIENT_STEPS; i++) {
			double t = (double) i / (GRADIENT_STEPS - 1);
			double w = bar / GRADIENT_STEPS;
			shapes.add(new Shape.Rect(x + zero + i * w, y, w + 0.5, height, scale.color().applyAsInt(t), 0));
		}
		shapes.add(new Shape.Rect(x + zero, y, bar + 0.5, height, 0, o.palette.axis()));
		text(x + zero + bar + 5, base, most, false, o.palette.mutedText(), Shape.Anchor.START);
		return x + zero + bar + 5 + width + 18;
	}

	private void text(double x, double y, String text, boolean bold, int color, Shape.Anchor anchor) {
		text(x, y, text, bold, color, anchor, o.fontSize);
	}

	private void text(double x, double y, String text, boolean bold, int color, Shape.Anchor anchor, double size) {
		if (!text.isEmpty()) {
			shapes.add(new Shape.Text(x, y, text, size, bold, color, anchor, false));
		}
	}

	// ---- words

	/** What is known of an object, for a tool tip and a screen reader; lines. */
	public static String describe(MachineUse use, Box box) {
		StringBuilder b = new StringBuilder();
		for (MachineObject m : box.objects()) {
			b.append(b.isEmpty() ? "" : " · ").append(m.type() == Type.MACHINE ? "Machine: " + use.topology().summary() : m.label());
		}
		MachineObject m = box.object();
		Figures f = use.figures(m);
		if (m.cpuCount() > 1) {
			b.append("\nCPUs ").append(MachineUse.ranges(m)).append(m.type() == Type.NODE ? " are near to it" : "");
		}
		if (m.type() == Type.NODE) {
			b.append('\n').append(Units.plural(Math.max(0, f.pages()), "page"));
			if (use.pages() > 0) {
				b.append(", ").append(Units.percent(100.0 * f.pages() / use.pages())).append(" of ")
						.append(Units.plural(use.pages(), "accessed page"));
			}
		}
		b.append('\n').append(use.count(f.accesses())).append(m.type() == Type.NODE ? " to its memory" : "");
		if (use.whole().accesses() > 0 && f.accesses() > 0) {
			b.append(", ").append(Units.percent(Math.min(100, 100 * f.accesses() / use.whole().accesses()))).append(" of ")
					.append(Units.count(use.whole().accesses()));
		}
		if (f.accesses() > 0) {
			b.append('\n').append(use.locality(f));
			if (f.spread() > 0) {
				b.append('\n').append(Units.percent(Math.min(100, 100 * f.spread() / f.accesses())))
						.append(" come from " + use.unit().row() + "s of several CPUs");
			}
		}
		return b.toString();
	}

	/** The whole picture in a sentence. */
	public static String summary(MachineUse use) {
		return String.format(Locale.ROOT, "%s; %s", use.topology().summary(), use.locality(use.whole()));
	}
}
