// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TimeRange;
import org.memtrace.model.memory.MemoryLevel;
import org.memtrace.model.store.AccessBatch;

/** The rows of {@link AccessCsvReader}. Used by one thread, for one file after the other. */
final class AccessCsvRows implements CsvTable.RowVisitor {
	/** Samples of the same interval are at the same time for the sharing of a page, as those of perf. */
	static final long INTERVAL_NS = 20_000_000;
	static final long INTERVAL_TICKS = 10_000;
	private static final int MOST_BYTES = 1 << 20;
	private static final int PROGRESS_ROWS = 1024;
	/** What tools call the levels, beside our names. */
	private static final Map<String, MemoryLevel> LEVELS = levels();

	private final SampleDirectory samples;
	private final SkipCounter skips;
	private final Progress progress;
	private final Sample sample = new Sample();
	private final List<String> notes = new ArrayList<>();
	private String file;
	private String timeColumn;
	private int places;
	private boolean isTicks;
	private CountedInput in;
	private long told;
	private long rows;
	private long exactRows;
	private long unknownLevels;

	AccessCsvRows(SampleDirectory samples, SkipCounter skips, Progress progress) {
		this.samples = samples;
		this.skips = skips;
		this.progress = progress;
	}

	private static Map<String, MemoryLevel> levels() {
		Map<String, MemoryLevel> all = new HashMap<>();
		for (MemoryLevel level : MemoryLevel.values()) {
			all.put(word(level.name()), level);
			all.put(word(level.label()), level);
		}
		all.put("llc", MemoryLevel.L3);
		all.put("lfb", MemoryLevel.FILL_BUFFER);
		all.put("dram", MemoryLevel.LOCAL_MEMORY);
		all.put("localdram", MemoryLevel.LOCAL_MEMORY);
		all.put("remotedram", MemoryLevel.REMOTE_MEMORY);
		all.put("hitm", MemoryLevel.MODIFIED);
		all.put("remotehitm", MemoryLevel.REMOTE_MODIFIED);
		all.put("pmem", MemoryLevel.PERSISTENT);
		all.put("cxl", MemoryLevel.CXL);
		return all;
	}

	private static String word(String text) {
		return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
	}

	/** A file begins. @param decimals the power of ten of its unit, in nanoseconds */
	void begin(String name, String unit, int decimals, CountedInput input) {
		file = name;
		timeColumn = "time_" + unit;
		places = decimals;
		isTicks = unit.equals("tick");
		in = input;
		told = 0;
	}

	/** A column that nothing was read of. */
	void unused(String column) {
		notes.add(file + ": its column " + column + " is not known and not kept");
	}

	/** Whether every row says that all accesses are there. */
	boolean isExact() {
		return rows > 0 && exactRows == rows;
	}

	/** Sentences for the report. */
	List<String> notes() {
		List<String> all = new ArrayList<>(notes);
		if (unknownLevels > 0) {
			all.add(String.format(Locale.ROOT, "%,d accesses have a level of memory that is not known; it is left out", unknownLevels));
		}
		return all;
	}

	@Override
	public void visit(CsvTable.Row row) throws MemtraceException {
		if (++rows % PROGRESS_ROWS == 0) {
			progress.check();
			progress.worked(in.bytes() - told);
			told = in.bytes();
		}
		String problem;
		try {
			problem = take(row);
		} catch (ArithmeticException e) {
			problem = TimeRange.REASON;
		} catch (IOException e) {
			throw new UncheckedIOException("the scratch folder cannot be written: " + e.getMessage(), e);
		}
		if (problem != null) {
			skips.skip(file, row.line(), problem);
		}
	}

	/** @return why the row is not used, or null */
	private String take(CsvTable.Row row) throws IOException {
		sample.clear();
		exactRows += row.text("counts").strip().equalsIgnoreCase("exact") ? 1 : 0;
		sample.structure = row.text("structure").strip();
		sample.source = row.text("source").strip();
		sample.function = row.text("function").strip();
		sample.command = row.text("name").strip();
		String level = row.text("level").strip();
		sample.level = level.isEmpty() ? null : LEVELS.get(word(level));
		sample.timeNs = DecimalNumber.scaled(row.text(timeColumn).strip(), places);
		sample.process = whole(row, "process", 1);
		sample.thread = whole(row, "thread", AccessBatch.NO_THREAD);
		sample.cpu = whole(row, "cpu", -1);
		sample.node = whole(row, "node", -1);
		sample.bytes = row.number("bytes", 1);
		sample.latencyCycles = row.number("latency", 0);
		String address = row.text("address").strip();
		String ip = row.text("ip").strip();
		String access = row.text("access").strip();
		if (!isHex(address) || !ip.isEmpty() && !isHex(ip)) {
			return "address or ip that does not begin with 0x";
		}
		sample.address = Long.parseUnsignedLong(address.substring(2), 16);
		sample.ip = ip.isEmpty() ? 0 : Long.parseUnsignedLong(ip.substring(2), 16);
		if (sample.bytes < 1 || sample.bytes > MOST_BYTES) {
			return "access of less than 1 byte or more than 1 MiB";
		}
		if (sample.thread < AccessBatch.NO_THREAD || sample.process < 0 || sample.cpu < -1 || sample.node < -1) {
			return "negative thread, process, CPU or node";
		}
		if (!counts(row, access)) {
			return "access that is neither read nor write";
		}
		long interval = isTicks ? INTERVAL_TICKS : INTERVAL_NS;
		sample.startNs = Math.multiplyExact(Math.floorDiv(sample.timeNs, interval), interval);
		sample.endNs = Math.addExact(sample.startNs, interval);
		if (!TimeRange.holds(sample.startNs, sample.endNs) || sample.timeNs < 0) {
			return TimeRange.REASON;
		}
		String problem = samples.add(sample);
		unknownLevels += problem == null && sample.level == null && !level.isEmpty() ? 1 : 0;
		return problem;
	}

	private static int whole(CsvTable.Row row, String column, int unknown) {
		long number = row.number(column, unknown);
		if (number != (int) number) {
			throw new NumberFormatException(column);
		}
		return (int) number;
	}

	private static boolean isHex(String text) {
		return text.startsWith("0x") || text.startsWith("0X");
	}

	/** How many reads and writes a row stands for; false when it does not say what it is. */
	private boolean counts(CsvTable.Row row, String access) {
		long weight = row.number("count", 1);
		switch (access.toLowerCase(Locale.ROOT)) {
		case "r", "read", "load" -> sample.reads = weight;
		case "w", "write", "store" -> sample.writes = weight;
		case "rw", "m", "modify" -> {
			sample.reads = weight;
			sample.writes = weight;
		}
		case "" -> {
			sample.reads = weight;
			sample.isDirectionKnown = false;
		}
		default -> {
			return false;
		}
		}
		return true;
	}
}
