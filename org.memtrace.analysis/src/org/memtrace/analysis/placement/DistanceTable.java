// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.TraceFormatException;

/**
 * A table of distances or latencies between NUMA nodes, as a person writes it down: a line for each node with a number for each node,
 * separated by blanks, tabs, commas or semicolons. What {@code numactl --hardware} prints is understood, too. Lines that begin with # are
 * comments.
 */
public final class DistanceTable {
	private DistanceTable() {
	}

	/**
	 * Reads a table.
	 *
	 * @param nodes number of nodes that it must have
	 * @param file its name, for messages
	 * @return [from the node of the CPU][to the node of the memory], all above 0
	 */
	public static double[][] parse(String text, int nodes, String file) throws TraceFormatException {
		List<double[]> rows = new ArrayList<>();
		List<String> lines = text.lines().toList();
		int first = 0;
		for (int i = 0; i < lines.size(); i++) {
			if (lines.get(i).strip().startsWith("node distances")) {
				first = i + 2; // behind the numbers of the nodes
			}
		}
		for (int i = first; i < lines.size(); i++) {
			String line = lines.get(i).replaceFirst("^\\s*\\d+\\s*:", "").strip();
			if (line.isEmpty() || line.startsWith("#")) {
				continue;
			}
			String[] cells = line.split("[\\s,;]+");
			if (cells.length != nodes) {
				throw new TraceFormatException(file, i + 1, "has " + cells.length + " numbers in this line, but the machine has " + nodes
						+ " NUMA nodes");
			}
			double[] row = new double[nodes];
			for (int c = 0; c < nodes; c++) {
				try {
					row[c] = Double.parseDouble(cells[c]);
				} catch (NumberFormatException e) {
					row[c] = -1;
				}
				if (!(row[c] > 0 && row[c] < 1e12)) {
					throw new TraceFormatException(file, i + 1, "has '" + cells[c] + "', which is no distance above 0");
				}
			}
			rows.add(row);
		}
		if (rows.size() != nodes) {
			throw new TraceFormatException(file, lines.size(), "has " + rows.size() + " lines of numbers, but the machine has " + nodes
					+ " NUMA nodes");
		}
		return rows.toArray(new double[0][]);
	}
}
