// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.nio.file.Path;
import java.util.List;

import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceWriter;

/**
 * What is wanted of an import.
 *
 * @param target where the trace goes
 * @param name display name, empty for the one of the input
 * @param strict whether anything that would be skipped is an error
 * @param scratchDirectory where temporary data goes
 * @param rules merging rules ({@link ImportOption#MERGE})
 * @param fanout parts of a range ({@link ImportOption#FANOUT})
 * @param mocaFramesoc a file to write, or null ({@link ImportOption#MOCA_FRAMESOC})
 * @param incomplete why the recording is as a killed recorder left it, or null
 */
public record ImportRequest(Target target, String name, boolean strict, Path scratchDirectory, List<MergeRule> rules, int fanout,
		Path mocaFramesoc, String incomplete) {
	public static final int DEFAULT_FANOUT = 2;
	public static final int MAX_FANOUT = 16;

	/** Where a trace goes. */
	@FunctionalInterface
	public interface Target {
		/** @param databaseName wanted name */
		TraceWriter create(String databaseName) throws MemtraceException;
	}

	public ImportRequest {
		rules = List.copyOf(rules);
	}
}
