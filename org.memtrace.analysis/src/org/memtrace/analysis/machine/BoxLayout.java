// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.scene.Shape;

/** A machine as nested boxes. */
final class BoxLayout extends MachineLayout {
	/** Boxes of a CPU smaller than this have no room for texts: the next smaller layout is tried. */
	private static final double CPU_WIDTH = 34;
	private static final double CPU_HEIGHT = 18;
	/** Layouts from roomy to dense. */
	private static final int LAYOUTS = 3;

	private double smallestWidth;
	private double smallestHeight;

	BoxLayout(MachineContent content, MachinePicture.Options options) {
		super(content, options);
	}

	@Override
	void place(double x, double y, double width, double height) {
		for (int layout = 0; layout < LAYOUTS; layout++) {
			shapes.clear();
			boxes.clear();
			hatched = false;
			smallestWidth = Double.MAX_VALUE;
			smallestHeight = Double.MAX_VALUE;
			box(content.topology().root(), x, y, width, height, layout, 0);
			if (smallestWidth >= CPU_WIDTH && smallestHeight >= CPU_HEIGHT) {
				break;
			}
		}
	}

	/** Whether the smallest box of a CPU has room for its number. */
	boolean hasRoom(double width, double height) {
		place(0, 0, width, height);
		int most = Math.max(0, content.topology().root().cpus().length() - 1);
		return smallestHeight >= o.fontSize && smallestWidth >= o.meter.width(Integer.toString(most), o.fontSize, false) + 2;
	}

	/**
	 * Places an object and what is in it.
	 *
	 * @param layout 0: a box for each object; 1: those with the same CPUs share one; 2: also without headings where they are low
	 */
	private void box(MachineObject object, double x, double y, double w, double h, int layout, int depth) {
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
			box(children.get(i), x + pad + i % columns * (cw + pad), top + i / columns * (ch + pad), cw, ch, layout, depth + 1);
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
		String name = name(box);
		String value = content.value(box);
		double room = w - start - 4;
		String both = name + "  " + value;
		boolean fits = !value.isEmpty() && o.meter.width(both, o.fontSize, false) <= room;
		int color = Palette.textOn(fill);
		double base = y + (h + o.fontSize) / 2 - o.fontSize * 0.15;
		text(x + start, base, o.meter.fit(name, o.fontSize, false, room), color, Shape.Anchor.START, o.fontSize);
		if (fits) {
			text(x + w - 4, base, value, color, Shape.Anchor.END, o.fontSize);
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
				text(x + w / 2, y + (h + size) / 2 - size * 0.15, fitted, color, Shape.Anchor.MIDDLE, size);
			}
			return;
		}
		double middle = x + w / 2;
		boolean two = h >= 2.6 * size && !value.isEmpty() && o.meter.width(value, size, false) <= w - 4;
		String one = name + "  " + value;
		if (two) {
			text(middle, y + h / 2 - size * 0.25, name, color, Shape.Anchor.MIDDLE, size);
			text(middle, y + h / 2 + size * 1.05, value, color, Shape.Anchor.MIDDLE, size);
		} else {
			boolean both = !value.isEmpty() && o.meter.width(one, size, false) <= w - 8;
			text(middle, y + (h + size) / 2 - size * 0.15, both ? one : name, color, Shape.Anchor.MIDDLE, size);
		}
	}

	/** Marks of filter and focus; over everything that is drawn later there is nothing but what is inside. */
	private void borders(Box box) {
		if (isFiltered(box.object())) {
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
}
