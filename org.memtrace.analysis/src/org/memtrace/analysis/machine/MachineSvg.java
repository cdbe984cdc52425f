// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.io.IOException;
import java.io.UncheckedIOException;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.analysis.scene.SvgWriter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** The machine of a trace with what each part of it did in the whole run, as SVG for a page. */
public final class MachineSvg {
	private static final int WIDTH = 1000;
	private static final int HEIGHT = 360;

	private MachineSvg() {
	}

	/** Draws it. */
	public static String of(MachineTopology topology, AccessTable table, Progress progress) throws MemtraceException {
		MachineUse use = MachineUse.of(topology,
				AccessPlaces.of(table, ModelRequest.WHOLE_TREE, table.info().startNs(), table.info().endNs(), progress));
		MachinePicture.Options o = new MachinePicture.Options();
		o.width = WIDTH;
		o.height = HEIGHT;
		o.title = table.info().alias() + ": " + topology.summary();
		StringBuilder svg = new StringBuilder();
		try {
			SvgWriter.write(MachinePicture.of(use, o).scene(), o.title, svg);
		} catch (IOException e) {
			throw new UncheckedIOException(e); // a string has no end
		}
		return svg.toString();
	}
}
