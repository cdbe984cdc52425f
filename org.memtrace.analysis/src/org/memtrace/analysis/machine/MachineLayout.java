// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.scene.Shape;

/** Where the objects of a machine lie in a picture, and their shapes. */
abstract class MachineLayout {
	protected final MachineContent content;
	protected final MachinePicture.Options o;
	protected final List<Shape> shapes = new ArrayList<>();
	protected final List<Box> boxes = new ArrayList<>();
	protected boolean hatched;

	MachineLayout(MachineContent content, MachinePicture.Options options) {
		this.content = content;
		this.o = options;
	}

	/** Draws the machine into a rectangle. */
	abstract void place(double x, double y, double width, double height);

	final List<Shape> shapes() {
		return shapes;
	}

	/** Each before what is in it. */
	final List<Box> boxes() {
		return List.copyOf(boxes);
	}

	/** Whether a CPU is hatched. */
	final boolean isHatched() {
		return hatched;
	}

	/** Whether a filter asks for a CPU or a node. */
	protected final boolean isFiltered(MachineObject m) {
		return m.type() == Type.PU && m.osIndex() >= 0 && o.filteredCpus.get(m.osIndex())
				|| m.type() == Type.NODE && o.filteredNodes.get(Math.max(0, m.osIndex()));
	}

	/** Names of the objects that share a box. */
	protected static String name(Box box) {
		StringBuilder b = new StringBuilder();
		for (MachineObject m : box.objects()) {
			b.append(b.isEmpty() ? "" : " · ").append(m.type() == Type.MACHINE ? "Machine" : m.label());
		}
		return b.toString();
	}

	protected final void text(double x, double y, String text, int color, Shape.Anchor anchor, double size) {
		if (!text.isEmpty()) {
			shapes.add(new Shape.Text(x, y, text, size, false, color, anchor, false));
		}
	}
}
