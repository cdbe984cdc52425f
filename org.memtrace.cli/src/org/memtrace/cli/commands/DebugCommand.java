// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.column.ColumnReference;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AggregationCase;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

/** {@code memtrace debug}. */
public final class DebugCommand implements Command {
	/** The list for the native program: a line for each dimension, metric and format with id, uses and meaning, separated by tabs. */
	static String names() {
		StringBuilder b = new StringBuilder("""
				# SPDX-FileCopyrightText: memtrace contributors
				# SPDX-License-Identifier: EPL-2.0
				# Written by 'memtrace debug names >org.memtrace.cli/commands/names.list' from Dimensions, Metric and InputReaders.
				""");
		for (Dimension d : Dimensions.all()) {
			line(b, d.id(), Arrays.stream(Use.values()).filter(d::can).map(u -> u.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(" ")),
					d.explanation());
		}
		for (Metric m : Metric.values()) {
			line(b, m.id(), m.ofAccesses() ? m.ofEvents() ? "metric event-metric" : "metric" : "event-metric", m.explanation());
		}
		for (InputReader r : InputReaders.all()) {
			r.examples().forEach(e -> line(b, e.name(), "format", e.what()));
		}
		return b.toString();
	}

	private static void line(StringBuilder b, String id, String uses, String meaning) {
		b.append(id).append('\t').append(uses).append('\t').append(meaning).append('\n');
	}

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.argument(0).equals("names")) {
			console.out().print(names());
			return ExitCode.OK;
		}
		if (args.argument(0).equals("columns")) {
			console.out().print(ColumnReference.markdown());
			return ExitCode.OK;
		}
		if (!args.argument(0).equals("aggregate")) {
			throw new UsageException("there is nothing to debug named '" + args.argument(0) + "', only 'aggregate', 'columns' and 'names'");
		}
		if (args.arguments().size() < 2) {
			throw new UsageException("'aggregate' needs a case");
		}
		Path file = Path.of(args.argument(1));
		JsonObject input;
		try (Reader reader = Files.newBufferedReader(RegularFile.check(file))) {
			JsonElement e = JsonParser.parseReader(reader);
			if (!e.isJsonObject()) {
				throw new TraceFormatException(file.toString(), 0, "the file holds no JSON object");
			}
			input = e.getAsJsonObject();
		} catch (JsonParseException e) {
			java.util.regex.Matcher line = java.util.regex.Pattern.compile("line (\\d+) column \\d+").matcher(String.valueOf(e.getMessage()));
			throw new TraceFormatException(file.toString(), line.find() ? Long.parseLong(line.group(1)) : 0, "this is no JSON");
		}
		AggregationCase problem;
		try {
			problem = new AggregationCase(input);
		} catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException
				| UnsupportedOperationException | ClassCastException e) {
			throw new TraceFormatException(file.toString(), 0, "this is no aggregation case: " + e.getMessage());
		}
		console.out().println(JsonText.LINE.toJson(problem.recompute(console.progress())));
		return ExitCode.OK;
	}
}
