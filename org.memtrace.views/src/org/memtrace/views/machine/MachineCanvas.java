// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.BiConsumer;

import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture;
import org.memtrace.analysis.machine.MachinePicture.Arrangement;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachinePicture.Colouring;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineUse;
import org.memtrace.analysis.machine.MonitorFrame;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;

/** Paints a machine, tells what is under the pointer or has the focus, and reports clicks. */
final class MachineCanvas extends Canvas {
	private final BiConsumer<MachineObject, Boolean> clicked;
	/** One of these two is shown, or a sentence. */
	private MachineUse use;
	private MonitorFrame frame;
	private String message = "";
	private BitSet cpus = new BitSet();
	private BitSet nodes = new BitSet();
	private Colouring colouring = Colouring.ACCESSES;
	private Arrangement arrangement = Arrangement.AUTO;
	/** What the keyboard acts on: has a border while the canvas has the focus. */
	private MachineObject focus;
	private MachinePicture picture;
	private Point pictureSize;
	private Palette picturePalette;
	private Box hover;

	/** @param clicked an object, and whether it is to be added to the others */
	MachineCanvas(Composite parent, BiConsumer<MachineObject, Boolean> clicked) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND);
		this.clicked = clicked;
		addListener(SWT.Paint, this::paint);
		addListener(SWT.Resize, e -> picture = null);
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, e -> hover(topology() == null ? null : picture().at(e.x, e.y)));
		addListener(SWT.MouseExit, e -> hover(null));
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> {
			focus = null;
			picture = null;
			redraw();
		});
		addListener(SWT.Traverse, e -> e.doit = e.detail != SWT.TRAVERSE_RETURN);
		describe();
	}

	/** Shows what was done to a machine. */
	void show(MachineUse now, BitSet filteredCpus, BitSet filteredNodes) {
		if (topology() != now.topology()) {
			focus = null;
		}
		use = now;
		frame = null;
		cpus = filteredCpus;
		nodes = filteredNodes;
		message = "";
		changed();
	}

	/** Shows values of monitors. */
	void show(MonitorFrame now) {
		MachineTopology before = topology();
		use = null;
		frame = now;
		message = "";
		if (before != now.topology()) {
			focus = null;
		}
		changed();
	}

	/** The machine that is shown, or null. */
	private MachineTopology topology() {
		return use != null ? use.topology() : frame != null ? frame.topology() : null;
	}

	/** What a tool tip and a screen reader say of a box. */
	private String describe(Box box) {
		return use != null ? MachinePicture.describe(use, box) : frame.describe(box.objects());
	}

	/** Shows a sentence instead of a machine. */
	void message(String text) {
		use = null;
		frame = null;
		message = text;
		changed();
	}

	void colouring(Colouring now) {
		colouring = now;
		changed();
	}

	void arrangement(Arrangement now) {
		arrangement = now;
		changed();
	}

	private void changed() {
		picture = null;
		hover = null;
		setToolTipText(null);
		redraw();
	}

	MachineUse use() {
		return use;
	}

	MonitorFrame frame() {
		return frame;
	}

	/** The machine at the present size, null without one; not only after a paint: keys and clicks may come before it. */
	MachinePicture picture() {
		if (topology() == null) {
			return null;
		}
		Palette palette = ScenePainter.palette(this);
		if (picture == null || !getSize().equals(pictureSize) || palette != picturePalette) {
			pictureSize = getSize();
			picturePalette = palette;
			picture = use != null ? MachinePicture.of(use, options()) : MachinePicture.of(frame, options());
		}
		return picture;
	}

	String message() {
		return message;
	}

	/** How the machine is drawn. */
	MachinePicture.Options options() {
		MachinePicture.Options o = new MachinePicture.Options();
		Point size = getSize();
		o.width = Math.max(1, size.x);
		o.height = Math.max(1, size.y);
		o.palette = ScenePainter.palette(this);
		o.colouring = colouring;
		o.arrangement = arrangement;
		o.filteredCpus = cpus;
		o.filteredNodes = nodes;
		o.focus = isFocusControl() ? focus : null;
		return o;
	}

	private void paint(Event e) {
		Palette palette = ScenePainter.palette(this);
		GC gc = e.gc;
		if (topology() == null) {
			gc.setBackground(ScenePainter.color(palette.background()));
			gc.fillRectangle(getClientArea());
			gc.setForeground(ScenePainter.color(palette.mutedText()));
			int y = 12;
			for (String line : wrapped(gc, message, getClientArea().width - 24)) {
				gc.drawText(line, 12, y, true);
				y += gc.getFontMetrics().getHeight() + 2;
			}
			return;
		}
		ScenePainter.paint(picture().scene(), gc);
	}

	private static List<String> wrapped(GC gc, String text, int width) {
		List<String> lines = new ArrayList<>();
		StringBuilder line = new StringBuilder();
		for (String word : text.split(" ")) {
			if (!line.isEmpty() && gc.textExtent(line + " " + word).x > width) {
				lines.add(line.toString());
				line.setLength(0);
			}
			line.append(line.isEmpty() ? "" : " ").append(word);
		}
		lines.add(line.toString());
		return lines;
	}

	private void hover(Box now) {
		if (now != hover) {
			hover = now;
			setToolTipText(now == null || topology() == null ? null : describe(now).replace("&", "&&"));
		}
	}

	private void mouseDown(Event e) {
		setFocus();
		if (e.button == 1 && topology() != null) {
			Box box = picture().at(e.x, e.y);
			if (box != null) {
				focus = box.object();
				clicked.accept(focus, (e.stateMask & SWT.MOD1) != 0);
			}
		}
	}

	private void key(Event e) {
		if (topology() == null) {
			return;
		}
		List<Box> boxes = picture().boxes();
		int at = 0;
		while (at < boxes.size() && (focus == null || !boxes.get(at).objects().contains(focus))) {
			at++;
		}
		boolean none = at == boxes.size();
		switch (e.keyCode) {
		case SWT.ARROW_RIGHT -> at = none ? 0 : Math.min(boxes.size() - 1, at + 1);
		case SWT.ARROW_LEFT -> at = none ? 0 : Math.max(0, at - 1);
		case SWT.ARROW_UP -> at = none ? 0 : next(boxes, at, -1);
		case SWT.ARROW_DOWN -> at = none ? 0 : next(boxes, at, 1);
		case SWT.HOME -> at = 0;
		case SWT.END -> at = boxes.size() - 1;
		case SWT.CR, SWT.KEYPAD_CR, ' ' -> {
			if (!none) {
				clicked.accept(boxes.get(at).object(), (e.stateMask & SWT.MOD1) != 0);
			}
			return;
		}
		case SWT.ESC -> {
			clicked.accept(topology().root(), false);
			return;
		}
		default -> {
			return;
		}
		}
		focus = boxes.get(at).object();
		picture = null;
		redraw();
		setToolTipText(null);
		getAccessible().selectionChanged();
		getAccessible().sendEvent(ACC.EVENT_VALUE_CHANGED, null);
	}

	/** The next box of the same kind of object. */
	private static int next(List<Box> boxes, int from, int step) {
		for (int i = from + step; i >= 0 && i < boxes.size(); i += step) {
			if (boxes.get(i).object().type() == boxes.get(from).object().type()) {
				return i;
			}
		}
		return from;
	}

	private void describe() {
		Accessibility.graphic(this, () -> "Machine",
				() -> use != null ? MachinePicture.summary(use) : frame != null ? frame.summary() : message, () -> {
					Box box = topology() == null || focus == null ? null
							: picture().boxes().stream().filter(b -> b.objects().contains(focus)).findFirst().orElse(null);
					return box == null ? null : describe(box);
				});
	}
}
