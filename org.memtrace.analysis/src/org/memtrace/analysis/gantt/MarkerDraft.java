// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

/**
 * A marker that needs a name.
 *
 * @param title what it is of
 * @param proposal a name for it
 * @param marker the marker with the proposed name
 */
public record MarkerDraft(String title, String proposal, Marker marker) {
	private static final int[] COLORS = { 0x1f5fd0, 0xb3261e, 0x1b7f4b, 0x8b3fb0, 0x9a5b00, 0x00738a };

	/** @param number of markers that there are */
	static MarkerDraft of(String title, String what, int number, long fromNs, long toNs, int producer, boolean bookmark) {
		String proposal = what + " " + (number + 1);
		return new MarkerDraft(title, proposal,
				new Marker(proposal, COLORS[number % COLORS.length], fromNs, toNs, producer, bookmark));
	}
}
