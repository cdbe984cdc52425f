// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.scene.Shape;

/**
 * A machine as rings: the machine in the middle, what it consists of around it, CPUs outside. Each object has an angle as its CPUs
 * need. Memory is a ring around the objects that it is attached to. Objects with the same CPUs share a sector.
 */
final class RingLayout extends MachineLayout {
	/** Widths of rings, in parts of a ring of packages, caches or cores. */
	private static final double DISC = 1.2;
	private static final double MEMORY = 0.75;
	private static final double CPUS = 1.6;
	/** Pixels between the parts of a machine, between the parts of these, and so on. */
	private static final double[] GAPS = {4, 2, 1};
	/** A sector narrower than this has no border. */
	private static final double LEAST_BORDERED = 5;
	private static final double LEAST_ARC = 1;
	private static final double LEAST_RING = 8;
	/** The tick of a smaller disc would lie over its name. */
	private static final double LEAST_TICKED = 50;
	/** Part of a memory that a cache in front of it has. */
	private static final double MEMORY_CACHE = 0.3;

	/** An object with all that have the same CPUs, the memory of these, and what they consist of. */
	private record Node(List<MachineObject> objects, List<MachineObject> memory, List<Node> children, int depth) {
		static Node of(MachineObject object, int depth) {
			List<MachineObject> chain = new ArrayList<>(List.of(object));
			List<MachineObject> memory = new ArrayList<>(object.memory());
			MachineObject last = object;
			while (last.children().size() == 1) {
				last = last.children().get(0);
				chain.add(last);
				memory.addAll(last.memory());
			}
			return new Node(chain, memory, last.children().stream().map(c -> of(c, depth + 1)).toList(), depth);
		}

		/** Sectors that need an angle: CPUs, or what has neither CPUs nor other parts. */
		int leaves() {
			return children.isEmpty() ? 1 : children.stream().mapToInt(Node::leaves).sum();
		}

		int deepest() {
			return children.stream().mapToInt(Node::deepest).max().orElse(depth);
		}

		void markMemory(boolean[] levels) {
			levels[depth] |= !memory.isEmpty();
			children.forEach(c -> c.markMemory(levels));
		}
	}

	/** Where the rings of each level begin and end, as parts of the radius. */
	private record Rings(double[] inner, double[] memory, double[] outer) {
		static Rings of(Node root) {
			int levels = root.deepest() + 1;
			boolean[] hasMemory = new boolean[levels];
			root.markMemory(hasMemory);
			Rings r = new Rings(new double[levels], new double[levels], new double[levels]);
			double at = 0;
			for (int i = 0; i < levels; i++) {
				r.inner[i] = at;
				at += i == 0 ? DISC : i == levels - 1 ? CPUS : 1;
				r.memory[i] = at;
				at += hasMemory[i] ? MEMORY : 0;
				r.outer[i] = at;
			}
			for (double[] radii : List.of(r.inner, r.memory, r.outer)) {
				for (int i = 0; i < levels; i++) {
					radii[i] /= at;
				}
			}
			return r;
		}
	}

	/** Sizes of names, in parts of the normal one. */
	private static final double[] SIZES = {1, 0.85};
	/** A CPU narrower than this has a pale border, so that the border is not seen before its colour. */
	private static final double LEAST_FRAMED = 12;

	/**
	 * What may be written in a sector.
	 *
	 * @param names from long to short
	 */
	private record Label(Box box, List<String> names, String value, int color) {
	}

	/** Of objects and of their memory in turn, from the inside. */
	private final List<List<Label>> labels = new ArrayList<>();
	/** Borders of filter and focus, which lie over everything. */
	private final List<Shape> marks = new ArrayList<>();
	private Node root;
	private Rings rings;
	private double centreX;
	private double centreY;
	private double radius;
	private double cpuAngle;
	private int leafCount;
	/** Sectors of CPUs in their order around the machine. */
	private final List<Box> cpus = new ArrayList<>();

	RingLayout(MachineContent content, MachinePicture.Options options) {
		super(content, options);
	}

	/** Whether each CPU has a pixel of its own and each ring can be seen. */
	static boolean hasRoom(MachineTopology topology, MachinePicture.Options o, double width, double height) {
		Node root = Node.of(topology.root(), 0);
		double radius = radius(longestNumber(topology, o), o, width, height);
		return 2 * Math.PI * radius / root.leaves() >= LEAST_ARC && radius / (root.deepest() + 2) >= LEAST_RING;
	}

	private static double numberSize(MachinePicture.Options o) {
		return Math.max(8, o.fontSize * 0.85);
	}

	private static double longestNumber(MachineTopology topology, MachinePicture.Options o) {
		return o.meter.width(Integer.toString(Math.max(0, topology.root().cpus().length() - 1)), numberSize(o), false);
	}

	/** The largest circle that leaves room for numbers around it. */
	private static double radius(double number, MachinePicture.Options o, double width, double height) {
		return Math.max(1, Math.min(width / 2 - number - 8, height / 2 - numberSize(o) - 6));
	}

	@Override
	void place(double x, double y, double width, double height) {
		root = Node.of(content.topology().root(), 0);
		rings = Rings.of(root);
		centreX = x + width / 2;
		centreY = y + height / 2;
		leafCount = root.leaves();
		cpuAngle = 2 * Math.PI / leafCount;
		double number = longestNumber(content.topology(), o);
		radius = Math.max(1, Math.min(width, height) / 2 - 1);
		int last = root.deepest();
		Sector cpu = sector(rings.inner[last], 1, 0, cpuAngle);
		double inside = o.meter.width(Integer.toString(Math.max(0, content.topology().root().cpus().length() - 1)), o.fontSize, false);
		boolean numbersInside = cpu.inset(2).hasRoom(inside, o.fontSize);
		if (!numbersInside) {
			radius = radius(number, o, width, height);
		}
		node(root, 0, 2 * Math.PI, numbersInside, false);
		if (!numbersInside) {
			numbers(number);
		}
		writeLabels();
		shapes.addAll(marks);
		key(x, y);
	}

	private Sector sector(double inner, double outer, double start, double end) {
		return new Sector(centreX, centreY, inner * radius, outer * radius, start, end);
	}

	private void node(Node node, double start, double end, boolean numbersInside, boolean joined) {
		boolean leaf = node.children().isEmpty();
		double outer = !node.memory().isEmpty() ? rings.memory[node.depth()] : leaf ? 1 : rings.outer[node.depth()];
		Box box = add(node.objects(), sector(rings.inner[node.depth()], outer, start, end));
		boolean cpu = leaf && box.object().type() == Type.PU;
		int fill = draw(box, joined, cpu && box.sector().arc() >= LEAST_FRAMED ? o.palette.axis() : o.palette.separator());
		if (cpu) {
			cpus.add(box);
			if (content.isHatched(box)) {
				hatched = true;
				hatch(box.sector(), Palette.textOn(fill) & 0xffffff | 0x60000000);
			}
		}
		label(box, 2 * node.depth(), fill, cpu, numbersInside);
		// objects that share a sector share its values; memory has its own
		double each = (end - start) / Math.max(1, node.memory().size());
		for (int i = 0; i < node.memory().size(); i++) {
			memory(node.memory().get(i), 2 * node.depth() + 1, rings.memory[node.depth()], leaf ? 1 : rings.outer[node.depth()], start + i * each,
					start + (i + 1) * each);
		}
		double perLeaf = (end - start) / Math.max(1, node.leaves());
		double gap = gap(node, perLeaf);
		double at = start;
		for (int i = 0; i < node.children().size(); i++) {
			Node child = node.children().get(i);
			double to = at + perLeaf * child.leaves();
			node(child, at + gap / 2, to - gap / 2, numbersInside,
					gap == 0 && (joined || i < node.children().size() - 1));
			at = to;
		}
	}

	/** Angle between the parts of an object; none where these are narrow. */
	private double gap(Node node, double perLeaf) {
		double pixels = node.depth() < GAPS.length ? GAPS[node.depth()] : 0;
		for (Node child : node.children()) {
			if (perLeaf * child.leaves() * radius < 8 * pixels) {
				return 0;
			}
		}
		return pixels / radius;
	}

	private void memory(MachineObject m, int level, double inner, double outer, double start, double end) {
		if (m.type() != Type.NODE) {
			// a cache in front of a memory: beside it
			double to = m.memory().isEmpty() ? end : start + (end - start) * MEMORY_CACHE;
			Box box = add(List.of(m), sector(inner, outer, start, to));
			shapes.add(new Shape.Polygon(box.sector().points(), o.palette.plotBackground(), o.palette.separator()));
			label(box, level, List.of(m.label(), m.shortLabel()), o.palette.text());
			mark(box);
			double each = (end - to) / Math.max(1, m.memory().size());
			for (int i = 0; i < m.memory().size(); i++) {
				memory(m.memory().get(i), level, inner, outer, to + i * each, to + (i + 1) * each);
			}
			return;
		}
		Box box = add(List.of(m), sector(inner, outer, start, end));
		int fill = draw(box, false, o.palette.axis());
		label(box, level, List.of(m.label(), m.shortLabel(), number(m)), Palette.textOn(fill));
	}

	private Box add(List<MachineObject> objects, Sector s) {
		double[] p = s.points();
		double left = p[0];
		double right = p[0];
		double top = p[1];
		double bottom = p[1];
		for (int i = 2; i < p.length; i += 2) {
			left = Math.min(left, p[i]);
			right = Math.max(right, p[i]);
			top = Math.min(top, p[i + 1]);
			bottom = Math.max(bottom, p[i + 1]);
		}
		Box box = new Box(List.copyOf(objects), left, top, right - left, bottom - top, s);
		boxes.add(box);
		return box;
	}

	/**
	 * Fills a sector and marks it.
	 *
	 * @param joined whether the next one follows without a gap: so narrow sectors overlap, and no ground shines through between them
	 * @return colour of the inside
	 */
	private int draw(Box box, boolean joined, int stroke) {
		Sector s = box.sector();
		int fill = content.fill(box);
		boolean bordered = s.arc() >= LEAST_BORDERED;
		Sector drawn = bordered || !joined ? s
				: new Sector(s.centreX(), s.centreY(), s.inner(), s.outer(), s.start(), s.end() + 0.75 / Math.max(1, s.outer()));
		shapes.add(new Shape.Polygon(drawn.points(), fill, bordered && !s.isWhole() ? stroke : 0));
		if (s.isWhole()) { // without a line at the top
			circle(s, s.outer(), stroke);
			if (s.inner() > 0) {
				circle(s, s.inner(), stroke);
			}
		}
		variation(content.variation(box), s, fill);
		mark(box);
		return fill;
	}

	private void circle(Sector s, double r, int stroke) {
		shapes.add(new Shape.Polygon(new Sector(s.centreX(), s.centreY(), 0, r, 0, 2 * Math.PI).points(), 0, stroke));
	}

	private void label(Box box, int level, int fill, boolean cpu, boolean numbersInside) {
		MachineObject m = box.object();
		MachineObject first = cpu ? m : box.objects().get(0);
		List<String> names = new ArrayList<>(List.of(name(box)));
		if (!cpu) {
			names.add(first.type() == Type.MACHINE ? "Machine" : first.label());
		}
		names.add(first.type() == Type.MACHINE ? "Machine" : first.shortLabel());
		if (!cpu || numbersInside) {
			names.add(number(first));
		}
		label(box, level, names, Palette.textOn(fill));
	}

	/** The number of an object, which its ring gives a meaning. */
	private static String number(MachineObject m) {
		String name = m.shortLabel();
		return m.type() == Type.MACHINE || name.equals(m.name()) ? "" : name.substring(m.name().length() + 1);
	}

	private void label(Box box, int level, List<String> names, int color) {
		while (labels.size() <= level) {
			labels.add(new ArrayList<>());
		}
		labels.get(level).add(new Label(box, names, content.value(box), color));
	}

	/** Writes names: in a ring all have the same kind of name, the longest one that fits everywhere; the value, where it fits, too. */
	private void writeLabels() {
		for (List<Label> ring : labels) {
			boolean written = false;
			int kinds = ring.stream().mapToInt(l -> l.names().size()).min().orElse(0);
			for (int k = 0; k < kinds && !written; k++) {
				for (double part : SIZES) {
					int kind = k;
					double size = o.fontSize * part;
					if (ring.stream().allMatch(l -> fits(l, l.names().get(kind), size))) {
						ring.forEach(l -> write(l, l.names().get(kind), size));
						written = true;
						break;
					}
				}
			}
			if (!written && differ(ring)) { // each for itself
				for (Label l : ring) {
					l.names().stream().filter(n -> fits(l, n, o.fontSize)).findFirst().ifPresent(n -> write(l, n, o.fontSize));
				}
			}
		}
	}

	/** Whether the sectors of a ring have very different sizes. */
	private static boolean differ(List<Label> ring) {
		double least = ring.stream().mapToDouble(l -> l.box().sector().arc()).min().orElse(0);
		return ring.stream().anyMatch(l -> l.box().sector().arc() > 1.5 * least);
	}

	private boolean fits(Label l, String name, double size) {
		return l.box().sector().inset(2).hasRoom(o.meter.width(name, size, false), size);
	}

	private void write(Label l, String name, double size) {
		Sector room = l.box().sector().inset(2);
		double x = room.middleX();
		double y = room.middleY();
		double both = Math.max(o.meter.width(name, size, false), o.meter.width(l.value(), size, false));
		String line = name.isEmpty() ? l.value() : name + "  " + l.value();
		if (!l.value().isEmpty() && !name.isEmpty() && room.hasRoom(both, 2.4 * size)) {
			text(x, y - size * 0.25, name, l.color(), Shape.Anchor.MIDDLE, size);
			text(x, y + size * 1.05, l.value(), l.color(), Shape.Anchor.MIDDLE, size);
		} else {
			boolean beside = !l.value().isEmpty() && room.hasRoom(o.meter.width(line, size, false), size);
			text(x, y + size * 0.35, beside ? line : name, l.color(), Shape.Anchor.MIDDLE, size);
		}
	}

	/** What the rings are, from the inside, beside them, if there is room. */
	private void key(double left, double top) {
		List<String> kinds = new ArrayList<>();
		for (List<Label> ring : labels) {
			if (!ring.isEmpty()) {
				String kind = String.join(" · ", ring.get(0).box().objects().stream().map(MachineObject::name).distinct().toList());
				kinds.add(kinds.size() + 1 + "  " + kind);
			}
		}
		double size = numberSize(o);
		double line = Math.round(size * 1.4);
		String head = "Rings from the inside";
		double width = o.meter.width(head, size, false);
		for (String kind : kinds) {
			width = Math.max(width, o.meter.width(kind, size, false));
		}
		double x = centreX - left - width;
		double y = centreY - top - (kinds.size() + 1) * line;
		if (x < 0 || y < 0 || Math.hypot(x, y) < radius + 30) {
			return;
		}
		text(left, top + size, head, o.palette.mutedText(), Shape.Anchor.START, size);
		for (int i = 0; i < kinds.size(); i++) {
			text(left, top + (i + 1) * line + size, kinds.get(i), o.palette.mutedText(), Shape.Anchor.START, size);
		}
	}

	/** Numbers of CPUs around the rings, so many as have room, at equal distances. */
	private void numbers(double longest) {
		double size = numberSize(o);
		double arc = cpuAngle * (radius + 8);
		double needed = longest + 6;
		int every = 1;
		while (every * arc < needed && every < cpus.size()) {
			every *= 2;
		}
		for (int i = 0; i < cpus.size(); i += every) {
			Box box = cpus.get(i);
			Sector s = box.sector();
			double angle = (s.start() + s.end()) / 2;
			if (i > 0 && (2 * Math.PI - angle) * (radius + 8) < needed || box.object().osIndex() < 0) {
				continue;
			}
			shapes.add(new Shape.Line(s.x(radius + 1, angle), s.y(radius + 1, angle), s.x(radius + 4, angle), s.y(radius + 4, angle),
					o.palette.axis(), 1, false));
			double sin = Math.sin(angle);
			double cos = Math.cos(angle);
			Shape.Anchor anchor = sin > 0.2 ? Shape.Anchor.START : sin < -0.2 ? Shape.Anchor.END : Shape.Anchor.MIDDLE;
			text(s.x(radius + 6, angle), s.y(radius + 6, angle) + size * (0.35 - 0.4 * cos), Integer.toString(box.object().osIndex()),
					o.palette.mutedText(), anchor, size);
		}
	}

	/** A tick at the start of a sector: how much a value rose (outwards) or fell since the one before; in the middle it is the same. */
	private void variation(double change, Sector s, int fill) {
		double width = s.outer() - s.inner();
		if (Double.isNaN(change) || width < 10 || s.arc() < 16) {
			return;
		}
		double part = Math.max(-1, Math.min(1, change)) * (width / 2 - 2);
		int color = Palette.textOn(fill);
		double length = s.arc() < 70 ? 3 : 6;
		if (s.isWhole() && s.inner() == 0) { // a disc: as in a box, at the left
			if (s.outer() >= LEAST_TICKED) {
				double x = s.centreX() - 0.85 * s.outer();
				double y = s.centreY() - Math.max(-1, Math.min(1, change)) * 0.45 * s.outer();
				shapes.add(new Shape.Line(x, y, x + length, y, color, 2, false));
			}
			return;
		}
		double r = (s.inner() + s.outer()) / 2 + part;
		double from = s.start() + 1 / r;
		double to = s.start() + (1 + length) / r;
		shapes.add(new Shape.Line(s.x(r, from), s.y(r, from), s.x(r, to), s.y(r, to), color, 2, false));
	}

	/** Lines as those of a hatched rectangle, within a sector. */
	private void hatch(Sector s, int color) {
		double[] p = s.inset(Math.min(1, s.arc() / 4)).points();
		double[] v = new double[p.length / 2];
		for (int i = 0; i < v.length; i++) {
			v[i] = p[2 * i + 1] - p[2 * i];
		}
		double period = Shape.Hatch.LINE_PERIOD;
		double least = Arrays.stream(v).min().orElse(0);
		double most = Arrays.stream(v).max().orElse(0);
		for (double line = Math.ceil(least / period) * period; line <= most; line += period) {
			double[] cuts = new double[v.length];
			int n = 0;
			for (int i = 0, j = v.length - 1; i < v.length; j = i++) {
				if (v[i] > line != v[j] > line) {
					cuts[n++] = p[2 * j] + (p[2 * i] - p[2 * j]) * (line - v[j]) / (v[i] - v[j]);
				}
			}
			Arrays.sort(cuts, 0, n);
			for (int i = 0; i + 1 < n; i += 2) {
				shapes.add(new Shape.Line(cuts[i], cuts[i] + line, cuts[i + 1], cuts[i + 1] + line, color, Shape.Hatch.LINE_WIDTH, false));
			}
		}
	}

	private void mark(Box box) {
		Sector s = box.sector();
		Sector seen = s;
		if (s.arc() < LEAST_BORDERED && !s.isWhole()) { // too narrow for a border inside: around it
			double more = (LEAST_BORDERED - s.arc()) / 2 / Math.max(1, s.outer());
			seen = new Sector(s.centreX(), s.centreY(), Math.max(0, s.inner() - 3), s.outer() + 3, s.start() - more, s.end() + more);
		}
		if (isFiltered(box.object())) {
			int lines = seen == s ? 3 : 2;
			for (int i = 0; i < lines; i++) {
				outline(seen.inset(i), o.palette.warning());
			}
		}
		if (o.focus != null && box.objects().contains(o.focus)) {
			for (int i = 0; i < 2; i++) {
				outline(seen.inset(-i), o.palette.highlight());
			}
		}
	}

	private void outline(Sector s, int color) {
		if (!s.isWhole()) {
			marks.add(new Shape.Polygon(s.points(), 0, color));
			return;
		}
		for (double r : s.inner() > 0 ? new double[] {s.inner(), s.outer()} : new double[] {s.outer()}) {
			marks.add(new Shape.Polygon(new Sector(s.centreX(), s.centreY(), 0, r, 0, 2 * Math.PI).points(), 0, color));
		}
	}
}
