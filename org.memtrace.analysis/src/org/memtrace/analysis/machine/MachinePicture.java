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
 * A machine as nested boxes, or as rings around the machine, coloured by what a selection of accesses did there. Objects that cannot be
 * told apart by their CPUs (a core and its only CPU, a package and its only cache) share a box when there is little room.
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

	/** How the objects lie in the picture. */
	public enum Arrangement {
		/** Boxes; rings for a big machine whose CPUs have no room for their numbers in boxes. */
		AUTO("Automatic"),
		/** Nested boxes. */
		BOXES("Boxes"),
		/** Rings: the machine in the middle, its CPUs outside. */
		RADIAL("Radial");

		private final String menuText;

		Arrangement(String menuText) {
			this.menuText = menuText;
		}

		/** For a person. */
		public String menuText() {
			return menuText;
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
		public Arrangement arrangement = Arrangement.AUTO;
		/** CPUs and nodes that a filter asks for: they get a border. */
		public BitSet filteredCpus = new BitSet();
		public BitSet filteredNodes = new BitSet();
		/** The object with the focus of the keyboard, or null. */
		public MachineObject focus;
	}

	/**
	 * Where an object is; several objects may share a box, the last of them is the innermost.
	 *
	 * @param x the rectangle is the box, or what a sector needs
	 * @param sector of a radial picture, else null
	 */
	public record Box(List<MachineObject> objects, double x, double y, double width, double height, Sector sector) {
		/** A rectangle. */
		Box(List<MachineObject> objects, double x, double y, double width, double height) {
			this(objects, x, y, width, height, null);
		}

		/** The object that is meant by a click: a CPU or a node when the box is one. */
		public MachineObject object() {
			return objects.get(objects.size() - 1);
		}

		/** A point in it that is in nothing that lies over it, unless it is a rectangle with parts. */
		public double middleX() {
			return sector == null ? x + width / 2 : sector.middleX();
		}

		/** See {@link #middleX()}. */
		public double middleY() {
			return sector == null ? y + height / 2 : sector.middleY();
		}

		boolean contains(double px, double py) {
			return sector == null ? px >= x && px < x + width && py >= y && py < y + height : sector.contains(px, py);
		}
	}

	private static final double MARGIN = 8;
	private static final int GRADIENT_STEPS = 32;
	private static final int MOST_NOTES = 4;
	/** Machines up to this size are in boxes, unless rings are asked for. */
	private static final int MOST_CPUS_IN_BOXES = 128;
	private final MachineContent content;
	private final Options o;
	private final List<Shape> shapes = new ArrayList<>();
	private List<Box> boxes = List.of();
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
		return boxes;
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
			MachineLayout layout = layout(width, height);
			layout.place(MARGIN, top, width, height);
			shapes.addAll(layout.shapes());
			boxes = layout.boxes();
			hatched = layout.isHatched();
		}
		legend(legend, line);
		for (int i = 0; i < notes.size(); i++) {
			text(MARGIN, bottom + i * line + o.fontSize, notes.get(i), false, o.palette.mutedText(), Shape.Anchor.START);
		}
	}

	/** Boxes, or rings where boxes would have no room for names and rings have room for every CPU. */
	private MachineLayout layout(double width, double height) {
		if (o.arrangement == Arrangement.RADIAL) {
			return new RingLayout(content, o);
		}
		BoxLayout inBoxes = new BoxLayout(content, o);
		boolean rings = o.arrangement == Arrangement.AUTO && content.topology().pus().size() > MOST_CPUS_IN_BOXES
				&& !inBoxes.hasRoom(width, height) && RingLayout.hasRoom(content.topology(), o, width, height);
		return rings ? new RingLayout(content, o) : inBoxes;
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
