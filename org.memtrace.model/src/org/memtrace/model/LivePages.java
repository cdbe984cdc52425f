// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.List;

/**
 * Pages that a program touched in its last monitoring intervals, while it is recorded. Immutable.
 *
 * @param state whether there will be more
 * @param originNs begin of the recording, clock of the trace
 * @param startNs begin of the oldest of these intervals, clock of the trace
 * @param endNs end of the newest one; equal to {@code startNs} when there is none yet
 * @param intervals monitoring intervals since the begin of the recording, of the process image that has most of them
 * @param images process images of which this tells
 * @param structures a row for each name and place of structures that had pages in these intervals, in the order in which they appeared
 * @param threads the same pages by thread
 * @param named whether the structures of the program are known; until then all pages are of {@link #UNKNOWN}
 * @param left what was not read
 */
public record LivePages(State state, long originNs, long startNs, long endNs, long intervals, int images, List<Row> structures,
		List<Row> threads, boolean named, Left left) {
	/** Name of the row of pages that belong to no structure that is known until now. */
	public static final String UNKNOWN = "no known structure";

	/** How far the recording is. */
	public enum State {
		/** There is no interval yet. */
		WAITING,
		/** The program is recorded. */
		RUNNING,
		/** The recorder has completed the trace, or is gone. */
		ENDED
	}

	/**
	 * What a structure, or a thread, had in one interval.
	 *
	 * @param startNs begin of the interval
	 * @param endNs its end, exclusive
	 * @param pages different pages that were touched
	 * @param shared those of them that several threads touched in this interval
	 * @param written those of them that were written
	 * @param users threads that touched them; accesses of the kernel have none
	 */
	public record Cell(long startNs, long endNs, int pages, int shared, int written, int users) {
	}

	/**
	 * A structure or a thread.
	 *
	 * @param name for a person; different rows may have the same
	 * @param kind of a structure its kind in small letters, else empty
	 * @param site of a structure where it is allocated or defined, empty when not known
	 * @param image index of the process image, -1 for rows of all images
	 * @param cells in the order of time, none for intervals without pages
	 * @param now the cell of the newest interval of its process image, null when it has no pages in it
	 */
	public record Row(String name, String kind, String site, int image, List<Cell> cells, Cell now) {
		/** Sum over the intervals: what makes a row important. */
		public long sumOfPages() {
			return cells.stream().mapToLong(Cell::pages).sum();
		}
	}

	/**
	 * What was not read, so that it is in no row. All of it is in the trace.
	 *
	 * @param records of intervals that are told
	 * @param intervals without any of their records: those before the reading began, or that were passed over to keep up
	 * @param images process images beyond those that are followed
	 * @param reason why names are no longer brought up to date, one sentence; empty when they are
	 */
	public record Left(long records, long intervals, int images, String reason) {
	}

	/** Before the first interval. */
	public static LivePages none() {
		return new LivePages(State.WAITING, 0, 0, 0, 0, 0, List.of(), List.of(), false, new Left(0, 0, 0, ""));
	}

	/** Records of accesses and intervals that are not in the rows, or names that are not. */
	public boolean isPartial() {
		return left.records > 0 || left.images > 0 || !left.reason.isEmpty();
	}
}
