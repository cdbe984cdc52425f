// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.importer.parts.MergeOperation;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Imports something of any format into a store. Set the options, then {@link #call} once: the reader that recognises the input
 * ({@link InputReaders}) does the work. Whatever happens before the end, the store is left as it was.
 */
public final class ImportOperation {
	private final Input input;
	private final ImportRequest.Target target;
	private final Set<ImportOption> required = EnumSet.noneOf(ImportOption.class);
	private Path mocaFramesoc;
	private String name = "";
	private List<MergeRule> rules = List.of();
	private boolean strict;
	private int fanout = ImportRequest.DEFAULT_FANOUT;
	private String incomplete;
	private Path scratchDirectory = Path.of(System.getProperty("java.io.tmpdir"));
	private boolean called;

	/** @param path a trace directory, a folder, or one file */
	public ImportOperation(Path path, ImportRequest.Target target) {
		this(List.of(path), System.in, target);
	}

	/** @param input a folder, or any number of files; {@code -} stands for standard input */
	public ImportOperation(List<Path> input, InputStream standardInput, ImportRequest.Target target) {
		this.input = new Input(input, standardInput);
		this.target = target;
	}

	/** Display name of the trace; empty for the name in the input. */
	public ImportOperation setName(String displayName) {
		name = displayName.strip();
		return this;
	}

	/** Whether anything that would be skipped is an error. */
	public ImportOperation setStrict(boolean on) {
		strict = on;
		return this;
	}

	/** Also writes the accesses as {@code Moca-framesoc.csv} does (docs/how/import.md); the file must not exist. */
	public ImportOperation setMocaFramesoc(Path file) {
		mocaFramesoc = file;
		return file == null ? this : require(ImportOption.MOCA_FRAMESOC);
	}

	/** Rules by which structures are merged into one producer; they can be changed later ({@link MergeOperation}). */
	public ImportOperation setMergeRules(List<MergeRule> mergeRules) {
		rules = List.copyOf(mergeRules);
		return rules.isEmpty() ? this : require(ImportOption.MERGE);
	}

	/** Parts into which a range of pages is divided, 2 to 16. */
	public ImportOperation setFanout(int parts) {
		if (parts < 2 || parts > ImportRequest.MAX_FANOUT) {
			throw new IllegalArgumentException("fan-out " + parts + " is not between 2 and " + ImportRequest.MAX_FANOUT);
		}
		fanout = parts;
		return parts == ImportRequest.DEFAULT_FANOUT ? this : require(ImportOption.FANOUT);
	}

	/** Something will be done that not all formats can. */
	public ImportOperation require(ImportOption option) {
		required.add(option);
		return this;
	}

	/** Why the trace is as a killed recorder left it ({@link TraceCompletion#complete}), for the report; null when it is not known. */
	public ImportOperation setIncomplete(String why) {
		incomplete = why;
		return this;
	}

	/** Where temporary data goes that does not fit on the heap; some 30 bytes for each access. */
	public ImportOperation setScratchDirectory(Path existing) {
		scratchDirectory = existing;
		return this;
	}

	/**
	 * What identifies the content of a folder: equal to {@link ImportSource#PROPERTY_SOURCE_IDENTITY} of a trace that was imported
	 * from it and is up to date.
	 */
	public static String identity(Path folder) throws MemtraceException {
		Input input = new Input(List.of(folder), InputStream.nullInputStream());
		try {
			return InputReaders.find(input).reader().identity(input);
		} catch (IOException e) {
			throw new TraceFormatException(input.text(), 0, "cannot be read: " + e.getMessage());
		}
	}

	/** Imports; may be called once. */
	public ImportReport call(Progress progress) throws MemtraceException {
		if (called) {
			throw new IllegalStateException("an import is called once");
		}
		called = true;
		input.readBy(progress);
		try {
			InputReaders.Found found = InputReaders.find(input);
			ImportSource source = found.source();
			for (ImportOption option : required) {
				if (!source.options().contains(option)) {
					throw new MemtraceException(option.option() + " does not apply to " + input.text() + ": " + source.kind());
				}
			}
			return found.reader().read(input,
					new ImportRequest(target, name, strict, scratchDirectory, rules, fanout, mocaFramesoc, incomplete), progress);
		} catch (IOException e) {
			progress.check(); // waiting for a pipe was
			throw new TraceFormatException(input.text(), 0, "cannot be read: " + e.getMessage());
		} catch (UncheckedIOException e) { // names the file
			progress.check();
			throw new MemtraceException(e.getMessage(), e);
		}
	}
}
