// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.memtrace.analysis.overview.TimePicture;

/** What the picture is. */
enum PictureKind {
	/** Memory over time, blocks in the colour of their strongest type. */
	BLOCKS("Memory over time", "Producers over time", null),
	/** The same blocks, a colour for each. */
	PARTS("Blocks of memory over time", "Blocks of producers over time", null),
	/** Time only, types stacked. */
	PROFILE("Profile over time", "Profile over time", TimePicture.Kind.PROFILE),
	/** Time only, the strongest type. */
	MODE("Strongest type over time", "Strongest type over time", TimePicture.Kind.MODE),
	/** Time only, the parts. */
	TIME_PARTS("Parts of time", "Parts of time", TimePicture.Kind.PARTS);

	private final String ofAccesses;
	private final String ofEvents;
	private final TimePicture.Kind time;

	PictureKind(String ofAccesses, String ofEvents, TimePicture.Kind time) {
		this.ofAccesses = ofAccesses;
		this.ofEvents = ofEvents;
		this.time = time;
	}

	/** For a person. */
	String title(boolean accesses) {
		return accesses ? ofAccesses : ofEvents;
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
