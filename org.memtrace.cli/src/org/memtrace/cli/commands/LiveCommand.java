// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.memtrace.analysis.live.LiveTable;
import org.memtrace.analysis.machine.MachineMonitors;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MonitorFrame;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.live.LiveMonitors;
import org.memtrace.importer.live.LiveReader;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.CancelledException;
import org.memtrace.model.LivePages;
import org.memtrace.model.LiveValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.UnavailableException;
import org.memtrace.topology.Hwloc;
import com.google.gson.JsonObject;

/** {@code memtrace live TRACE}: pages of a recording, or values of monitors. */
public final class LiveCommand implements Command {
	private static final int POLL_MS = 50;
	/** The screen that programs use that fill it, without a cursor, and back. */
	private static final String ENTER = "\033[?1049h\033[?25l";
	private static final String LEAVE = "\033[?25h\033[?1049l";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path directory = Path.of(args.argument(0));
		String trace = directory.toAbsolutePath().normalize().getFileName().toString();
		boolean once = args.has("once") || !args.get("format").equals("text") || args.isJson() || !console.isTerminal();
		if (!Files.exists(directory.resolve("manifest.json"))) {
			if (Files.isDirectory(directory) || LiveMonitors.files(directory).isEmpty()) {
				throw new MemtraceException(
						directory + " is neither a trace directory, as it has no manifest.json, nor what memtrace monitor -o writes");
			}
			monitors(directory, trace, once, args, console);
			return ExitCode.OK;
		}
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

	/** The values of monitors on the places of the machine: once, or until the user has seen enough. */
	private static void monitors(Path output, String trace, boolean once, CommandLine args, Console console) throws Exception {
		Hwloc hwloc = Hwloc.load();
		MachineTopology topology = null;
		PrintStream out = console.out();
		MachineMonitors monitors = null;
		try (LiveMonitors reader = new LiveMonitors(output, Math.max(2, (int) args.getInt("last")))) {
			if (!once) {
				out.print(ENTER);
			}
			while (true) {
				LiveValues values = reader.read();
				console.progress().check();
				if (values.samples() > 0) {
					if (topology == null) {
						topology = values.topology() == null ? hwloc.live() : hwloc.read(values.topology(), trace);
					}
					monitors = MachineMonitors.of(topology, values, trace);
					if (once) {
						break;
					}
					out.print("\033[H" + screen(monitors, values, (int) args.getInt("rows")).replace("\n", "\033[K\n") + "\033[J");
					out.flush();
				}
				Thread.sleep(once ? POLL_MS : Math.max(POLL_MS, args.getDurationNs("every") / 1_000_000));
			}
		} catch (CancelledException e) {
			if (monitors == null) {
				throw e;
			}
		} finally {
			if (!once) {
				out.print(LEAVE);
				out.flush();
			}
		}
		MonitorFrame frame = monitors.frame(MachineMonitors.Show.DEFAULT, 0, monitors.info().endNs());
		if (args.isJson() || args.get("format").equals("json")) {
			JsonObject o = Json.of("memtrace.monitors/1");
			o.addProperty("trace", trace);
			out.println(Json.text(frame.addTo(o)));
		} else {
			out.print(args.get("format").equals("csv") ? frame.toCsv() : frame.text());
		}
	}

	/** As much as has room: the places that stand first are the outermost ones. */
	private static String screen(MachineMonitors monitors, LiveValues values, int rows) {
		String text = monitors.frame(MachineMonitors.Show.DEFAULT, 0, values.endNs()).text();
		List<String> lines = text.lines().toList();
		int head = lines.indexOf("") + 2;
		int shown = Math.min(lines.size(), head + rows);
		String more = shown == lines.size() ? "" : "… " + (lines.size() - shown) + " more; --rows shows more of them\n";
		String skipped = values.skipped() == 0 ? "" : values.skipped() + " lines not used, the first: " + values.problem() + "\n";
		return String.join("\n", lines.subList(0, shown)) + "\n" + more + skipped;
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
