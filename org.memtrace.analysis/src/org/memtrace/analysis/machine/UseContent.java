// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachinePicture.Colouring;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.machine.MachineUse.Figures;
import org.memtrace.analysis.text.Units;

/** Accesses and pages, or local and remote accesses, on the objects of a machine. */
record UseContent(MachineUse use, MachinePicture.Options o) implements MachineContent {
	@Override
	public MachineTopology topology() {
		return use.topology();
	}

	@Override
	public List<String> notes() {
		return use.notes();
	}

	@Override
	public double[] parts() {
		Figures f = use.whole();
		return new double[] {f.local(), f.remote(), f.unknown()};
	}

	@Override
	public String headline() {
		return use.locality(use.whole());
	}

	@Override
	public int fill(Box box) {
		MachineObject m = box.object();
		Figures f = use.figures(m);
		if (o.colouring == Colouring.LOCALITY) {
			return locality(f);
		}
		if (m.type() == Type.NODE) {
			return o.palette.secondHeat(Palette.intensity(f.pages(), use.mostPages()));
		}
		// by the accesses per CPU, so that objects of all sizes have the same scale
		return o.palette.heat(Palette.intensity(f.accesses() / Math.max(1, m.cpuCount()), use.mostPerCpu()));
	}

	private int locality(Figures f) {
		if (f.accesses() <= 0) {
			return o.palette.plotBackground();
		}
		double known = f.local() + f.remote();
		int color = known > 0 ? between(f.remote() / known) : o.palette.unknown();
		return Palette.mix(color, o.palette.unknown(), Math.max(0, Math.min(1, f.unknown() / f.accesses())));
	}

	/** From all local to all remote, pale in the middle. */
	private int between(double remote) {
		int middle = Palette.mix(o.palette.plotBackground(), o.palette.text(), 0.06);
		return remote <= 0.5 ? Palette.mix(o.palette.local(), middle, 2 * remote)
				: Palette.mix(middle, o.palette.remote(), 2 * remote - 1);
	}

	@Override
	public String value(Box box) {
		MachineObject m = box.object();
		Figures f = use.figures(m);
		if (m.type() == Type.NODE && o.colouring != Colouring.LOCALITY) {
			return Units.plural(Math.max(0, f.pages()), "page")
					+ (use.pages() > 0 ? " (" + Units.percent(100.0 * f.pages() / use.pages()) + ")" : "");
		}
		if (f.accesses() <= 0) {
			return m.type() == Type.PU ? "" : "no " + use.unit().plural();
		}
		return o.colouring == Colouring.LOCALITY ? remote(f) : Units.percent(Math.min(100, 100 * f.accesses() / use.whole().accesses()));
	}

	private static String remote(Figures f) {
		if (f.local() + f.remote() <= 1e-9 * f.accesses()) {
			return "unknown";
		}
		double share = 100 * f.remote() / f.accesses();
		return Units.percent(share < 1e-9 ? 0 : share > 100 - 1e-9 ? 100 : share) + " remote";
	}

	@Override
	public double variation(Box box) {
		return Double.NaN;
	}

	@Override
	public boolean isHatched(Box box) {
		Figures f = use.figures(box.object());
		return f.accesses() > 0 && f.spread() >= 0.5 * f.accesses();
	}

	@Override
	public String hatch() {
		return "mostly from " + use.unit().row() + "s of several CPUs";
	}

	@Override
	public List<Scale> scales() {
		if (o.colouring == Colouring.LOCALITY) {
			return List.of(new Scale("local", "remote", this::between, 0), new Scale("", "unknown", null, o.palette.unknown()));
		}
		// the colour is the square root of the number, so the number grows along the bar with the square
		List<Scale> scales = new ArrayList<>();
		scales.add(new Scale("0", Units.count(use.mostPerCpu()) + " " + use.unit().plural() + " per CPU", o.palette::heat, 0));
		if (!use.topology().nodes().isEmpty()) {
			scales.add(new Scale("0", Units.count(use.mostPages()) + " pages", o.palette::secondHeat, 0));
		}
		return scales;
	}
}
