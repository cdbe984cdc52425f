// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.List;
import java.util.function.DoubleToIntFunction;

import org.memtrace.analysis.machine.MachinePicture.Box;

/** What a picture of a machine shows on its objects: another kind of figures is another one of these. */
interface MachineContent {
	/**
	 * A part of the legend: a gradient, or one colour.
	 *
	 * @param least what the begin of the gradient means
	 * @param most what its end, or the one colour, means
	 * @param color colours of the gradient from 0 to 1; null for one colour
	 * @param fill the one colour
	 */
	record Scale(String least, String most, DoubleToIntFunction color, int fill) {
	}

	MachineTopology topology();

	/** What to know of the figures, a sentence each. */
	List<String> notes();

	/** Sums of what is local, remote and unknown, for the bar at the top; empty for none. */
	double[] parts();

	/** The line at the top. */
	String headline();

	/** Colour of a box. */
	int fill(Box box);

	/** What stands in a box beside the name, empty for nothing. */
	String value(Box box);

	/** How much the value of a box rose since the one before, -1 to 1; NaN for no tick. */
	double variation(Box box);

	/** Whether the box of a CPU is hatched. */
	boolean isHatched(Box box);

	/** What hatching means. */
	String hatch();

	/** The legend, from left to right. */
	List<Scale> scales();
}
