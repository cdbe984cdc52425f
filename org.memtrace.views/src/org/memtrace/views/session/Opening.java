// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

/**
 * How far the opening of a trace is.
 *
 * @param group in which it will be shown
 * @param name of what is opened, as the user knows it
 * @param step what is done, for a person
 * @param fraction how much of the step is done, -1 when not known
 */
public record Opening(TraceGroup group, String name, String step, double fraction) {
	/** For a place where another trace is shown. */
	public String text() {
		return "Opening " + name + ": " + step;
	}
}
