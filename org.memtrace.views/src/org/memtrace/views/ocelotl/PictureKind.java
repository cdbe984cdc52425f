// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Arrays;
import java.util.List;

import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.overview.TimePicture;

/** What the picture is. */
enum PictureKind {
	/** Memory over time, blocks in the colour of their strongest type. */
	BLOCKS("Memory over time", "Producers over time", Sides.MEMORY_TIME, null),
	/** The same blocks, a colour for each. */
	PARTS("Blocks of memory over time", "Blocks of producers over time", Sides.MEMORY_TIME, null),
	/** Time only, types stacked. */
	PROFILE("Profile over time", "Profile over time", Sides.MEMORY_TIME, TimePicture.Kind.PROFILE),
	/** Time only, the strongest type. */
	MODE("Strongest type over time", "Strongest type over time", Sides.MEMORY_TIME, TimePicture.Kind.MODE),
	/** Time only, the parts. */
	TIME_PARTS("Parts of time", "Parts of time", Sides.MEMORY_TIME, TimePicture.Kind.PARTS),
	/** Memory down, packages, cores and CPUs to the right. */
	MEMORY_MACHINE("Memory across the machine", null, Sides.MEMORY_MACHINE, null),
	/** Packages, cores and CPUs down, time to the right. */
	MACHINE_TIME("Machine over time", null, Sides.MACHINE_TIME, null);

	private final String ofAccesses;
	private final String ofEvents;
	private final Sides sides;
	private final TimePicture.Kind time;

	PictureKind(String ofAccesses, String ofEvents, Sides sides, TimePicture.Kind time) {
		this.ofAccesses = ofAccesses;
		this.ofEvents = ofEvents;
		this.sides = sides;
		this.time = time;
	}

	/** Those that a trace of accesses or of events has. */
	static List<PictureKind> of(boolean accesses) {
		return Arrays.stream(values()).filter(k -> k.title(accesses) != null).toList();
	}

	/** For a person; null when there is no such picture. */
	String title(boolean accesses) {
		return accesses ? ofAccesses : ofEvents;
	}

	/** What stands down and to the right. */
	Sides sides() {
		return sides;
	}

	/** How time is drawn, null when memory is drawn too. */
	TimePicture.Kind time() {
		return time;
	}

	/** Whether time alone is aggregated. */
	boolean isOfTime() {
		return time != null;
	}
}
