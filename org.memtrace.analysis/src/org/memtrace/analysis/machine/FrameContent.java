// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleToIntFunction;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MonitorFrame.Cell;

/** Values of monitors on the objects of a machine. Objects that are not active are washed out. */
record FrameContent(MonitorFrame frame, MachinePicture.Options o) implements MachineContent {
	@Override
	public MachineTopology topology() {
		return frame.topology();
	}

	@Override
	public List<String> notes() {
		return frame.notes();
	}

	@Override
	public double[] parts() {
		return new double[0];
	}

	@Override
	public String headline() {
		return frame.summary();
	}

	/** Of the objects that share a box the innermost one that is watched, or null. */
	private Cell cell(Box box) {
		List<MachineObject> objects = box.objects();
		for (int i = objects.size() - 1; i >= 0; i--) {
			Cell c = frame.cells().get(objects.get(i));
			if (c != null) {
				return c;
			}
		}
		return null;
	}

	/** From little to much; a value is never as pale as nothing. */
	private DoubleToIntFunction heat() {
		return t -> o.palette.heat(Math.max(1e-3, t));
	}

	@Override
	public int fill(Box box) {
		Cell c = cell(box);
		return c == null ? o.palette.plotBackground()
				: c.isActive() ? heat().applyAsInt(c.scale().share(c.value())) : inactive();
	}

	private int inactive() {
		return Palette.mix(o.palette.plotBackground(), o.palette.unknown(), 0.35);
	}

	@Override
	public String value(Box box) {
		Cell c = cell(box);
		return c == null || !c.isActive() ? "" : MonitorFrame.text(c.value());
	}

	@Override
	public double variation(Box box) {
		Cell c = cell(box);
		return c == null ? Double.NaN : c.variation();
	}

	@Override
	public boolean isHatched(Box box) {
		return false;
	}

	@Override
	public String hatch() {
		return "";
	}

	@Override
	public List<Scale> scales() {
		List<Scale> scales = new ArrayList<>();
		for (MonitorFrame.Scale s : frame.scales()) {
			scales.add(new Scale(MonitorFrame.text(s.min()), MonitorFrame.text(s.max()) + (s.log() ? " (log) " : " ") + s.variable()
					+ (frame.scales().size() > 1 ? ", " + s.level() : ""), heat(), 0));
		}
		if (frame.cells().values().stream().anyMatch(c -> !c.isActive())) {
			scales.add(new Scale("", "not active", null, inactive()));
		}
		return scales;
	}
}
