// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.regex.Pattern;

import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.perf.PerfScript;
import org.memtrace.model.MemtraceException;

/** Page faults of a CTF trace as samples of memory accesses, as those of perf are. */
public final class CtfFaults {
	private static final Pattern FAULT = Pattern.compile("(?:x86_)?exceptions[_:]page_fault_(?:user|kernel)");
	/** What is recorded to know the threads. */
	private static final Pattern CONTEXT = Pattern.compile("lttng_statedump_.*|sched_process_.*");
	/** Of the error code of x86: the access was a write. */
	private static final int WRITE = 2;

	private final PerfScript samples;
	private final SkipCounter skips;
	private final String file;
	private final CtfLine line = new CtfLine();
	private final CtfThreads who = new CtfThreads();
	private long others;

	public CtfFaults(PerfScript samples, SkipCounter skips, String file) {
		this.samples = samples;
		this.skips = skips;
		this.file = file;
	}

	/** Whether a trace with these events has page faults, and nothing else but who the threads are. */
	public static boolean areAll(Collection<String> events) {
		return areAmong(events) && events.stream().allMatch(e -> FAULT.matcher(e).matches() || CONTEXT.matcher(e).matches());
	}

	/** Whether a trace with these events has page faults. */
	public static boolean areAmong(Collection<String> events) {
		return events.stream().anyMatch(e -> FAULT.matcher(e).matches());
	}

	/** A line: bytes {@code [start, end)}. @param number from 1 */
	public void line(byte[] buffer, int start, int end, long number) throws MemtraceException, IOException {
		if (!line.parse(new String(buffer, start, end - start, StandardCharsets.UTF_8))) {
			samples.unused(file, number, "not an event as babeltrace2 prints it");
			return;
		}
		who.look(line);
		if (!FAULT.matcher(line.name).matches()) {
			others++;
			return;
		}
		Long address = CtfLine.number(line.fields.get("address"));
		if (address == null || who.thread < 0) {
			samples.unused(file, number, address == null ? "page fault without an address"
					: "page fault of an unknown thread (lttng add-context -k -t pid -t tid)");
			return;
		}
		Long code = CtfLine.number(line.fields.get("error_code"));
		Long ip = CtfLine.number(line.fields.get("ip"));
		String command = who.commandOf(who.thread);
		samples.pageFault(file, number, new PerfScript.Thread(who.process < 0 ? who.thread : who.process, who.thread, who.cpu,
				command.isEmpty() ? "thread" : command), line.timeNs, address, ip == null ? 0 : ip,
				code == null ? null : (code & WRITE) != 0);
	}

	/** There are no more. */
	public void finish() {
		if (others > 0) {
			skips.warn(others + " events that are no page faults are left out; import the trace without a recording to see them");
		}
	}
}
