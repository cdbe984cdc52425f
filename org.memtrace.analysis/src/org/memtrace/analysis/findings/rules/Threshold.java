// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

/**
 * The numbers that the rules compare with. A user can set each one: {@code memtrace advise --set NAME=VALUE}; docs/reference/findings.md
 * lists them.
 */
public enum Threshold {
	RELEVANT("relevant", 0.01, "share of all accesses or pages that makes a structure relevant"),
	OTHERS("others", 0, "1: programs that are installed, and run time systems, are judged, too"),
	FIRST_TOUCH("first-touch.one", 0.9, "share of the pages that one thread touches first"),
	HANDED_ON("first-touch.handed-on", 0.3, "share of the pages whose main user is not the first toucher"),
	FIRST_TOUCH_USED("first-touch.used", 0.1, "share of the intervals in which a thread uses pages that another one touched first"),
	PAGES("pages", 16, "pages that a structure must have for advice about placement"),
	REMOTE_SPREAD("remote.spread", 0.6, "share of the pages above which one thread touches them first"),
	REMOTE("remote.handed-on", 0.5, "share of the pages that one thread touches first and another one uses alone"),
	REMOTE_SHARE("remote.share", 0.3, "share of the accesses to pages on another NUMA node than the thread"),
	REMOTE_PAGES("remote.pages", 0.3, "share of the pages that one thread or node uses nearly alone, from another NUMA node"),
	TEAM("team", 0.75, "share of the team that uses a page which all use"),
	EVERYWHERE("everywhere", 0.8, "share of the pages of which something must be true"),
	LASTING("lasting", 0.25, "share of the intervals in which sharing must be seen"),
	LASTING_LEAST("lasting.least", 3, "intervals in which sharing must be seen"),
	READ_ONLY("read-only", 0.01, "share of writes after the first interval, at most, of data that is only read"),
	REPLICATE_BYTES("replicate.bytes", 64 << 20, "largest structure that is worth a copy for each node"),
	SHARED_PAIRS("all-to-all.shared", 0.3, "share of (page, interval) pairs that are shared and written"),
	LINES_PRIVATE("page-shared.lines", 0.1, "share of the lines with several threads, at most, of data that is shared only by page"),
	FALSE_PAGES("false-sharing.pages", 16, "pages of a small structure"),
	FALSE_LINES("false-sharing.lines", 0.25, "share of the lines that several threads write in different words"),
	FALSE_WORDS("false-sharing.words", 0.02, "share of the words that several threads use, at most, of a large structure"),
	STACK_PAGES("stack.pages", 8, "pages of a stack that other threads use"),
	STACK_FOREIGN("stack.foreign", 0.25, "share of the accesses to a stack that are not by its main user"),
	RECYCLED_BLOCKS("recycled.blocks", 8, "blocks from one place"),
	RECYCLED_REUSE("recycled.reuse", 0.5, "share of the blocks at addresses that several threads got in turn"),
	HOT_PAGES("hot.pages", 64, "pages of a structure in which a few can be hot"),
	HOT_SHARE("hot.share", 0.05, "share of the pages that are hot, at most"),
	HOT_INTERVALS("hot.intervals", 0.5, "share of the intervals in which a hot page is shared and written"),
	PING_PONG("ping-pong.two", 0.9, "share of the accesses that two threads make"),
	PING_PONG_SECOND("ping-pong.second", 0.2, "share of the accesses that the second of them makes"),
	PING_PONG_PAIRS("ping-pong.pairs", 0.1, "share of (page, interval) pairs that are shared and written"),
	IMBALANCE("imbalance", 1.4, "work of the busiest thread divided by the mean"),
	STRIDE_MASS("strided.mass", 0.15, "share of the pages that are entered neither in their first nor in their last line"),
	STRIDE_TOP("strided.top", 0.5, "share of these entries that are in one line"),
	STRIDE_STEPS("strided.steps", 0.9, "share of the steps from page to page that are multiples of the length of a row"),
	STRIDE_INSTRUCTIONS("strided.instructions", 0.5, "share of the accesses by source lines that jump over lines by one distance"),
	PADDING_SHARE("padding.share", 0.6, "share of an element that is padding, in whole cache lines"),
	PADDING_BYTES("padding.bytes", 1 << 20, "bytes of padding in a structure"),
	UNUSED_BYTES("unused.bytes", 1 << 20, "bytes of a structure that is hardly used"),
	UNUSED_SHARE("unused.share", 0.1, "share of its pages that are touched, at most"),
	SHORT_LIVED_BLOCKS("short-lived.blocks", 64, "blocks from one place that live shorter than two intervals"),
	SHORT_LIVED_BYTES("short-lived.bytes", 64 << 10, "mean size of such blocks");

	private final String id;
	private final double standard;
	private final String meaning;

	Threshold(String id, double standard, String meaning) {
		this.id = id;
		this.standard = standard;
		this.meaning = meaning;
	}

	/** Name for a user. */
	public String id() {
		return id;
	}

	/** The value when nobody says another one. */
	public double standard() {
		return standard;
	}

	/** What the number is. */
	public String meaning() {
		return meaning;
	}
}
