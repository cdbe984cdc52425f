// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.selection.Kept;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.analysis.table.StructureSheet;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** Structures, stacks and ranges with their figures in what is looked at. Safe for all threads. */
final class Tables {
	private static final int MOST_KEPT = 4;
	private static final int MOST_ROWS = 1000;
	private static final int MOST_FRAMES = 4;

	private final ServedTrace trace;
	private final Kept<ViewState, StructureSheet> sheets = new Kept<>(MOST_KEPT, this::sheet);

	Tables(ServedTrace trace) {
		this.trace = trace;
	}

	private StructureSheet sheet(ViewState s, Progress progress) throws MemtraceException {
		Map<Integer, String> stacks = new HashMap<>();
		for (Structure one : trace.structures()) {
			if (one.stack() >= 0 && !stacks.containsKey(one.stack())) {
				progress.check();
				stacks.put(one.stack(), trace.store().stack(one.stack()).stream().map(CallFrame::function).filter(f -> !f.isEmpty())
						.limit(MOST_FRAMES).collect(Collectors.joining(" ← ")));
			}
		}
		return StructureSheet.of(trace.accesses(s.filters(), progress), trace.structures(), s.fromNs(), s.toNs(), s.producer(),
				id -> stacks.getOrDefault(id, ""), progress);
	}

	private StructureSheet sheetOf(ViewState s, Progress progress) throws MemtraceException {
		return sheets.get(s.withP(ViewState.AUTOMATIC_P).withViewpoint(trace.selection().initial().viewpoint()), progress);
	}

	/** The rows that are wanted, in their order. */
	private int[] rows(StructureSheet sheet, Query q, Progress progress) throws MemtraceException, Refused {
		Column sort = Column.valueOf(q.word("sort", "accesses", Arrays.stream(Column.values()).map(Tables::id).toList())
				.toUpperCase(Locale.ROOT));
		// between slashes there would be a regular expression, which can take for ever
		String words = q.text("words").replaceFirst("^/+(?=.*/$)", "");
		return sheet.arrange(words, q.number("unused", 0, 0, 1) == 1, sort, q.number("descending", sort.isNumber() ? 1 : 0, 0, 1) == 1, progress);
	}

	private static String id(Column c) {
		return c.name().toLowerCase(Locale.ROOT);
	}

	/** Some rows as texts, with the columns and the number of all rows. */
	JsonObject structures(Query q, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		StructureSheet sheet = sheetOf(s, progress);
		int[] rows = rows(sheet, q, progress);
		int offset = q.number("offset", 0, 0, Integer.MAX_VALUE);
		int limit = q.number("limit", 100, 1, MOST_ROWS);
		CountUnit unit = trace.info().counts();
		ViewState whole = trace.selection().initial();
		boolean part = !s.sameAccesses(whole);
		JsonObject o = new JsonObject();
		JsonArray columns = new JsonArray();
		for (Column c : Column.values()) {
			JsonObject one = new JsonObject();
			one.addProperty("id", id(c));
			one.addProperty("title", c.title(unit, part));
			one.addProperty("meaning", c.meaning(unit, part));
			one.addProperty("number", c.isNumber());
			columns.add(one);
		}
		o.add("columns", columns);
		o.addProperty("all", rows.length);
		o.addProperty("offset", offset);
		JsonArray list = new JsonArray();
		for (int i = Math.min(offset, rows.length); i < Math.min(rows.length, (long) offset + limit); i++) {
			JsonObject one = new JsonObject();
			one.addProperty("producer", sheet.producer(rows[i]));
			JsonArray cells = new JsonArray();
			for (Column c : Column.values()) {
				cells.add(sheet.text(c, rows[i]));
			}
			one.add("cells", cells);
			list.add(one);
		}
		o.add("rows", list);
		return o;
	}

	/** All wanted rows as CSV. */
	String structuresCsv(Query q, Progress progress) throws MemtraceException, Refused {
		StructureSheet sheet = sheetOf(States.of(trace, q), progress);
		return sheet.toCsv(rows(sheet, q, progress));
	}

	/** Names of files on the screen end in what tells them apart. */
	static String fileName(String file) {
		return file.substring(file.lastIndexOf('/') + 1);
	}

	/** A list of texts. */
	static JsonArray texts(List<String> texts) {
		JsonArray a = new JsonArray();
		texts.forEach(a::add);
		return a;
	}
}
