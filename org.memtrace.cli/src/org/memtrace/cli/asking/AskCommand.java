// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.asking;

import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.analysis.text.Units;
import org.memtrace.analysis.words.WordCount;
import org.memtrace.analysis.words.Words;
import org.memtrace.analysis.words.WordsAnswer;
import org.memtrace.analysis.words.WordsException;
import org.memtrace.analysis.words.WordsParser;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace ask TRACE WORDS...}. */
public final class AskCommand implements Command {
	/** Before the heads of columns of the other trace. */
	private static final String OTHER = "other_";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		List<String> arguments = args.arguments();
		String option = arguments.stream().filter(a -> a.startsWith("--")).findFirst().orElse(null);
		if (option != null) {
			throw new UsageException("options such as " + option + " stand before the trace");
		}
		String text = WordsParser.joined(arguments.subList(1, arguments.size()));
		try {
			Words words = WordsParser.parse(text); // before the long work
			try (TraceStore store = trace(arguments.getFirst(), args, console);
					TraceStore other = words.vs() == null ? null : trace(words.vs(), args, console)) {
				WordsAnswer answer = WordsAnswer.of(words, AccessOptions.load(store, console),
						other == null ? null : AccessOptions.load(other, console), console.progress());
				print(answer, text, store.info(), other == null ? null : other.info(), args, console);
			}
		} catch (WordsException e) {
			throw new UsageException(e.getMessage());
		}
		return ExitCode.OK;
	}

	private static TraceStore trace(String name, CommandLine args, Console console) throws MemtraceException, UsageException {
		TraceStore store = TraceArgument.tree(TraceArgument.open(name, console), args);
		if (store.accessCount() == 0) {
			store.close();
			throw new MemtraceException(name + " is no memory trace, it has no accesses");
		}
		return store;
	}

	private static void print(WordsAnswer answer, String words, TraceInfo info, TraceInfo other, CommandLine args, Console console) {
		boolean text = args.get("format").equals("text");
		if (text) {
			console.out().println(answer.understood() + (other == null ? "" : ", here and in " + other.alias()));
		}
		List<String> columns = new ArrayList<>(answer.keys());
		for (WordCount c : answer.counts()) {
			columns.add(c.column(info));
			if (other != null) {
				columns.add(OTHER + c.column(info));
			}
		}
		List<Object[]> rows = new ArrayList<>(answer.rows().stream().map(r -> cells(answer, r, text, info)).toList());
		if (text) {
			align(columns, rows, answer.keys().size());
		}
		try (TablePrinter table = new TablePrinter(console.out(), args.get("format"), head(answer, words, info, other),
				columns.toArray(String[]::new))) {
			rows.forEach(table::row);
		}
		if (args.get("format").equals("csv")) {
			console.hint(answer.understood());
		}
		if (answer.rows().isEmpty()) {
			console.hint("nothing: the trace has no such " + (answer.keys().isEmpty() ? info.counts().plural() : "groups"));
		} else if (text && !answer.keys().isEmpty()) {
			console.hint(Units.plural(answer.rows().size(), "line"));
		}
		answer.notes().forEach(n -> console.hint("note: " + n));
	}

	/** Numbers and their heads end at the right; they have units, so a table does not know that they are numbers. */
	private static void align(List<String> columns, List<Object[]> rows, int from) {
		for (int c = from; c < columns.size(); c++) {
			int column = c;
			int width = Math.max(columns.get(c).length(), rows.stream().mapToInt(r -> String.valueOf(r[column]).length()).max().orElse(0));
			columns.set(c, " ".repeat(width - columns.get(c).length()) + columns.get(c));
			rows.forEach(r -> r[column] = " ".repeat(width - String.valueOf(r[column]).length()) + r[column]);
		}
	}

	/** What the columns have; of text with units. */
	private static Object[] cells(WordsAnswer answer, WordsAnswer.Row r, boolean text, TraceInfo info) {
		List<Object> cells = new ArrayList<>(r.keys());
		if (text) {
			for (int k = 0; k < cells.size(); k++) {
				cells.set(k, cells.get(k) == null ? "(not known)" : k == 0 && answer.keys().getFirst().startsWith("from_")
						? Units.duration(info, (Long) cells.getFirst()) : cells.get(k));
			}
		}
		for (int c = 0; c < answer.counts().size(); c++) {
			WordCount count = answer.counts().get(c);
			cells.add(text ? shown(count, r.values().get(c), info) : r.values().get(c));
			if (r.other() != null) {
				cells.add(text ? shown(count, r.other().get(c), info) : r.other().get(c));
			}
		}
		return cells.toArray();
	}

	private static String shown(WordCount count, Object value, TraceInfo info) {
		return value == null ? "-" : count.shown(value, info).toString();
	}

	/** What JSON has before the rows. */
	private static JsonObject head(WordsAnswer answer, String words, TraceInfo info, TraceInfo other) {
		JsonObject head = Json.of("memtrace.ask/1");
		head.addProperty("trace", info.alias());
		if (other != null) {
			head.addProperty("other", other.alias());
		}
		head.addProperty("words", words);
		head.addProperty("understood", answer.understood());
		head.addProperty("time_unit", info.timeUnit().id());
		JsonArray notes = new JsonArray();
		answer.notes().forEach(notes::add);
		head.add("notes", notes);
		return head;
	}
}
