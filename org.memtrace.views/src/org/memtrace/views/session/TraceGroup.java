// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

/**
 * Views that show the same trace and the same part of it: what one of them changes, all others follow. A new workbench has one
 * group; a view can be put into another one, and groups can be linked. Display thread.
 */
public final class TraceGroup {
	private final int number;
	private OpenTrace trace;
	private PictureStatus status = PictureStatus.NONE;
	private int views;

	TraceGroup(int number) {
		this.number = number;
	}

	/** From 1; what the user sees. */
	public int number() {
		return number;
	}

	/** The trace that is shown, or null. */
	public OpenTrace trace() {
		return trace;
	}

	PictureStatus status() {
		return status;
	}

	void status(PictureStatus now) {
		status = now;
	}

	void trace(OpenTrace now) {
		trace = now;
		status = PictureStatus.NONE;
	}

	/** A view joins or leaves. */
	public void views(int change) {
		views += change;
	}

	/** Whether no view is in it. */
	boolean isEmpty() {
		return views == 0;
	}

	@Override
	public String toString() {
		return "Group " + number + (trace == null ? "" : ": " + trace.name());
	}
}
