// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A bundled program with a known picture (docs/start/examples.md).
 *
 * @param program file name
 * @param variant its first argument
 * @param arguments more of them
 * @param title what it shows, for a list
 * @param lesson what one sees, and what it means; one or two sentences
 */
public record Example(String program, String variant, List<String> arguments, String title, String lesson) {
	/** So few steps that the initialisation is no thin line in the picture. */
	private static final List<String> SHORT = List.of("-s", "100");
	/** First touch by one thread. */
	public static final Example STENCIL_SERIAL = new Example("stencil", "serial", SHORT, "Stencil, serial initialisation",
			"One thread touches all memory first, then four threads work on it: on a machine with several nodes all pages are on one.");
	/** The first touch example, repaired. */
	public static final Example STENCIL_PARALLEL = new Example("stencil", "parallel", SHORT, "Stencil, parallel initialisation",
			"Each thread touches the pages first that it works on later.");

	/** All of them; the first two are a pair, before and after. */
	public static final List<Example> ALL = List.of(STENCIL_SERIAL, STENCIL_PARALLEL,
			new Example("matmul", "naive", List.of(), "Matrix multiplication, naive", "One matrix is read everywhere by all threads."),
			new Example("matmul", "blocked", List.of(), "Matrix multiplication, in tiles",
					"The shared matrix has become a line: only the current tiles are in use."),
			new Example("bucketsort", "dynamic", List.of(), "Bucket sort, dynamic schedule",
					"Buckets go to another thread in each iteration: no page has a home."),
			new Example("bucketsort", "fair", List.of(), "Bucket sort, fair schedule", "Each thread keeps its buckets."),
			new Example("falsesharing", "packed", List.of(), "Counters side by side", "All threads write into one page, and into one cache line."),
			new Example("falsesharing", "page", List.of(), "Counters on pages of their own", "Each page is private to one thread."),
			new Example("listwalk", "random", List.of(), "List in random order", "Each step goes to another page."),
			new Example("listwalk", "ordered", List.of(), "List in the order of memory", "A page after the other."));

	private static final String INTERVAL = "20ms";
	/** They run for seconds: a picture that is fine in time counts more than their speed, also on a busy machine. */
	private static final String MAX_OVERHEAD = "3";

	/** The argument vector without the program. */
	public List<String> words() {
		return Stream.concat(Stream.of(variant), arguments.stream()).toList();
	}

	/** Name of a trace of it. */
	public String traceName() {
		return program + " " + variant;
	}

	/**
	 * How it is recorded.
	 *
	 * @param file the program
	 * @param recordings folder for trace directories
	 */
	public RecordSettings settings(Path file, Path recordings) {
		// a thread that waits for the others sleeps: a spinning one uses the processor without touching memory
		return new RecordSettings(0, file.toString(), words(), "", Map.of("OMP_WAIT_POLICY", "passive"),
				RecordSettings.freeDirectory(recordings, program + "-" + variant).toString(),
				Map.of(RecordOption.INTERVAL, INTERVAL, RecordOption.MAX_OVERHEAD, MAX_OVERHEAD, RecordOption.NAME, traceName()));
	}
}
