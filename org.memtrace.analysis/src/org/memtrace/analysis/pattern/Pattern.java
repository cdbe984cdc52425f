// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

/**
 * A way to use memory, in the order in which they are looked for: the first one whose conditions hold is the label.
 * docs/reference/patterns.md
 */
public enum Pattern {
	/** Two threads use the same pages, with writes, again and again. */
	PING_PONG("ping-pong"),
	/** Three threads or more use nearly all pages, with writes. */
	ALL_TO_ALL("all-to-all"),
	/** A few pages are used much more than the others, and by several threads. */
	HOT_SPOT("hot spot"),
	/** From page to page with the same step, or to the same line of each page. */
	STRIDED("strided"),
	/** Pages or lines in no order. */
	RANDOM("random"),
	/** Each thread has a contiguous part. */
	BLOCKS("blocks"),
	/** Page after page, each from its begin or its end on. */
	LINEAR("linear sweep");

	private final String title;

	Pattern(String title) {
		this.title = title;
	}

	/** For a person. */
	public String title() {
		return title;
	}
}
