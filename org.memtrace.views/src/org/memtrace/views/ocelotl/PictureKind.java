// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.memtrace.analysis.TimePicture;

/** What the picture is. */
enum PictureKind {
	/** Memory over time, blocks in the colour of their strongest type. */
	BLOCKS("Memory over time", null),
	/** The same blocks, a colour for each. */
	PARTS("Blocks of memory over time", null),
	/** Time only, types stacked. */
	PROFILE("Profile over time", TimePicture.Kind.PROFILE),
	/** Time only, the strongest type. */
	MODE("Strongest type over time", TimePicture.Kind.MODE),
	/** Time only, the parts. */
	TIME_PARTS("Parts of time", TimePicture.Kind.PARTS);

	private final String title;
	private final TimePicture.Kind time;

	PictureKind(String title, TimePicture.Kind time) {
		this.title = title;
		this.time = time;
	}

	/** For a person. */
	String title() {
		return title;
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
