// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.analysis.dimension.Dimensions;

/**
 * The columns of a table of accesses: what a record says, then each dimension of the list that is a column. {@code query --what accesses},
 * {@code export}, Parquet files and the table in the workbench take theirs from here. Safe for all threads.
 */
public final class AccessColumns {
	/** Columns of text and CSV, if nobody chooses others. */
	public static final List<String> USUAL = List.of("start_ns", "end_ns", "image", "producer", "page_start", "structure", "structure_id",
			"task", "thread", "cpu", "type", "reads", "writes", "sharing", "node", "flags", "ip");
	/** Columns that the workbench shows, if nobody chooses others. */
	public static final List<String> SHOWN = List.of("start_ns", "end_ns", "page", "structure", "thread", "cpu", "type", "reads", "writes",
			"sharing", "node", "ip");

	private AccessColumns() {
	}

	/** All of them. */
	public static List<Dimension> all() {
		List<Dimension> all = new ArrayList<>(RecordFields.ALL);
		all.addAll(Dimensions.of(Use.COLUMN));
		return all;
	}

	/** The one with an id, or null. */
	public static Dimension find(String id) {
		return all().stream().filter(d -> d.id().equals(id)).findFirst().orElse(null);
	}

	/** Those with some ids, which exist. */
	public static List<Dimension> of(List<String> ids) {
		List<Dimension> all = all();
		return ids.stream().map(id -> all.stream().filter(d -> d.id().equals(id)).findFirst()
				.orElseThrow(() -> new IllegalArgumentException("there is no column '" + id + "'"))).toList();
	}

	/**
	 * What a person chooses.
	 *
	 * @param text ids separated by commas, or {@code all}
	 * @throws IllegalArgumentException with a sentence that names what is wrong and the columns there are
	 */
	public static List<Dimension> parse(String text) {
		if (text.strip().equals("all")) {
			return all();
		}
		List<Dimension> chosen = new ArrayList<>();
		for (String id : text.split(",", -1)) {
			// a trace with a logical clock calls its times ticks
			String wanted = id.strip().replaceFirst("_ticks$", "_ns");
			Dimension d = find(wanted);
			if (d == null) {
				throw new IllegalArgumentException("there is no column '" + id.strip() + "'; the columns are "
						+ all().stream().map(Dimension::id).collect(Collectors.joining(", ")));
			}
			if (chosen.contains(d)) {
				throw new IllegalArgumentException("there is the column '" + id.strip() + "' twice");
			}
			chosen.add(d);
		}
		return chosen;
	}
}
