// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.build.ModelPart;
import org.memtrace.aggregation.build.ModelParts;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.store.TraceStore;

/**
 * A trace, or parts of a model of one that {@code memtrace model-part} wrote.
 *
 * @param args the command line with the trace as its only argument; with parts, the options that decided their values are those with which
 *            they were made
 * @param parts null for a trace
 */
public record PartArguments(CommandLine args, ModelParts parts) {
	/** The options that decide the values of a model. */
	public static final List<String> OPTIONS = List.of("view", "metric", "slices", "slicing", "from", "to", "region", "subtree", "filter",
			"types", "tree");

	public static PartArguments of(CommandLine line, Console console) throws Exception {
		List<String> arguments = line.arguments();
		if (!mayBePart(arguments.getFirst())) {
			if (arguments.size() > 1) {
				throw new UsageException("unexpected argument '" + arguments.get(1) + "'; several are for parts of a model, and '"
						+ arguments.getFirst() + "' is none");
			}
			if (line.has("trace")) {
				throw new UsageException("--trace is for parts of a model, and '" + arguments.getFirst() + "' is none");
			}
			return new PartArguments(line, null);
		}
		List<ModelPart> read = new ArrayList<>();
		for (String argument : arguments) {
			Path file = TraceArgument.path(argument);
			if (file == null || !Files.isRegularFile(file)) {
				throw new NoSuchFileException(argument);
			}
			read.add(ModelPart.read(RegularFile.bytes(file), argument));
		}
		ModelParts parts = ModelParts.of(read);
		console.watch(parts::losses);
		List<String> across = line.known(List.of("across", "tree"));
		for (String option : across) {
			if (line.has(option) && line.get(option).equals("machine")) {
				throw new UsageException("parts of a model are of memory over time: --" + option + " machine needs the trace");
			}
		}
		String trace = line.has("trace") ? line.get("trace") : parts.origin();
		return new PartArguments(line.with(List.of(trace), parts.question(), "the parts were made with"), parts);
	}

	private static boolean mayBePart(String argument) throws IOException {
		Path file = TraceArgument.path(argument);
		if (file == null || !Files.isRegularFile(file)) {
			return false;
		}
		try (InputStream in = RegularFile.open(file)) {
			return ModelPart.mayBe(in.readNBytes(16));
		}
	}

	/** The options of a command line that decide the values of a model, with their defaults; a saved filter as what it is now. */
	public static List<String> question(CommandLine args, TraceStore store, Console console) throws MemtraceException, UsageException {
		List<String> question = new ArrayList<>();
		for (String option : OPTIONS) {
			if (args.get(option) != null) {
				question.add("--" + option + "=" + (option.equals("filter") ? AccessOptions.filters(args, store, console).toJson() : args.get(option)));
			}
		}
		return question;
	}
}
