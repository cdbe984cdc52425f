// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.analysis.live.LiveTable;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.live.LiveReader;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.LivePages;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.UnavailableException;

/** {@code memtrace live TRACE}. */
public final class LiveCommand implements Command {
	private static final int POLL_MS = 50;
	/** The screen that programs use that fill it, without a cursor, and back. */
	private static final String ENTER = "\033[?1049h\033[?25l";
	private static final String LEAVE = "\033[?25h\033[?1049l";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path directory = Path.of(args.argument(0));
		if (!Files.exists(directory.resolve("manifest.json"))) {
			throw new MemtraceException(directory + " is not a trace directory: it has no manifest.json");
		}
		String trace = directory.toAbsolutePath().normalize().getFileName().toString();
		boolean once = args.has("once") || !args.get("format").equals("text") || args.isJson() || !console.isTerminal();
		LivePages pages;
		try (LiveReader reader = new LiveReader(directory, Installation.find("").launcher(), (int) args.getInt("last"))) {
			pages = once ? once(reader, console) : table(reader, args, console, trace);
		}
		if (once && pages.endNs() == pages.startNs()) {
			throw new UnavailableException(directory + " is not being recorded; 'memtrace import' reads it");
		}
		boolean byThread = args.get("by").equals("thread");
		if (args.isJson() || args.get("format").equals("csv")) {
			LiveTable.cells(console.out(), args.isJson() ? "json" : "csv", Json.of("memtrace.live/1"), trace, pages, byThread);
		} else {
			console.out().print(screen(pages, args, trace));
		}
		if (pages.state() == LivePages.State.ENDED) {
			console.hint("next: memtrace import " + directory);
		}
		return ExitCode.OK;
	}

	/** The state after the first interval whose structures are known, or that of the end. */
	private static LivePages once(LiveReader reader, Console console) throws MemtraceException, InterruptedException {
		LivePages pages = reader.read();
		while (pages.state() == LivePages.State.WAITING || !pages.named() && pages.left().reason().isEmpty() && pages.endNs() > pages.startNs()) {
			console.progress().check();
			Thread.sleep(POLL_MS);
			pages = reader.read();
		}
		return pages;
	}

	/** A table in place, until the recording is over or the user has seen enough. */
	private static LivePages table(LiveReader reader, CommandLine args, Console console, String trace)
			throws MemtraceException, InterruptedException {
		PrintStream out = console.out();
		out.print(ENTER);
		try {
			while (true) {
				LivePages pages = reader.read();
				out.print("\033[H" + screen(pages, args, trace).replace("\n", "\033[K\n") + "\033[J");
				out.flush();
				for (long left = args.getDurationNs("every") / 1_000_000; left > 0 && !console.progress().isCancelled(); left -= POLL_MS) {
					Thread.sleep(Math.min(left, POLL_MS));
				}
				if (pages.state() == LivePages.State.ENDED || console.progress().isCancelled()) {
					reader.awaitNames();
					return reader.read();
				}
			}
		} finally {
			out.print(LEAVE);
			out.flush();
		}
	}

	private static String screen(LivePages pages, CommandLine args, String trace) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		PrintStream text = new PrintStream(bytes, true, StandardCharsets.UTF_8);
		text.println(LiveTable.head(trace, pages));
		LiveTable.text(text, pages, args.get("by").equals("thread"), (int) args.getInt("rows"), (int) args.getInt("last"));
		return bytes.toString(StandardCharsets.UTF_8);
	}
}
