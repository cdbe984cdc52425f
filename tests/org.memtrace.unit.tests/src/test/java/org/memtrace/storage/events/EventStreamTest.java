// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.StoreContract;
import org.memtrace.storage.Stores;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.trace.SqlTraceWriter;

/** The rows of FrameSoc are the same whether they are written while the accesses come or from the chunks. */
class EventStreamTest {
	private static final long SEED = 20261123;
	private static final int TOGETHER = 300;

	@TempDir
	Path directory;
	private int files;

	/** Every row of every table behind EVENT and EVENT_PARAM. */
	private record Written(List<String> rows, boolean streamed) {
	}

	private Written write(DatabaseKind kind, AccessBatch batch, int size, long expected, FrameSocRows when) throws Exception {
		Path file = directory.resolve("t" + files++ + (kind == DatabaseKind.H2 ? ".mv.db" : ".db"));
		boolean streamed;
		try (SqlTraceWriter writer = (SqlTraceWriter) Stores.createFile(file, kind, n -> {
		})) {
			writer.limitTogether(TOGETHER);
			writer.threads(StoreContract.THREADS);
			writer.structures(StoreContract.STRUCTURES);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.trees(StoreContract.LAYOUT, StoreContract.trees());
			if (expected >= 0) {
				writer.expect(expected);
			}
			give(writer, batch, size);
			streamed = writer.streamsEvents();
			writer.frameSocRows(when);
			writer.commit(StoreContract.INFO, null, Progress.NONE);
		}
		try (TraceStore store = Stores.openFile(file)) {
			List<String> problems = new ArrayList<>();
			store.verify(problems::add, Progress.NONE);
			assertEquals(List.of(), problems);
		}
		List<String> rows = new ArrayList<>();
		Dbms dbms = kind == DatabaseKind.H2 ? Dbms.H2 : Dbms.SQLITE;
		try (Connection db = dbms.read(file); Statement statement = db.createStatement()) {
			for (String table : List.of("MT_EVENT", "MT_RUN", "MT_CONTEXT", "MT_CONTEXT_PARAM")) {
				try (ResultSet found = statement.executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2")) {
					int columns = found.getMetaData().getColumnCount();
					while (found.next()) {
						StringBuilder row = new StringBuilder(table);
						for (int i = 1; i <= columns; i++) {
							row.append(' ').append(found.getString(i));
						}
						rows.add(row.toString());
					}
				}
			}
		}
		return new Written(rows, streamed);
	}

	private static void give(TraceWriter writer, AccessBatch all, int size) throws Exception {
		AccessBatch part = new AccessBatch(size);
		for (int i = 0; i < all.count; i++) {
			part.addFrom(all, i);
			if (part.isFull() || i == all.count - 1) {
				writer.accesses(part);
				part.count = 0;
			}
		}
	}

	/** @param alike accesses with the same start at most */
	private static AccessBatch random(Random random, int count, int alike) {
		AccessBatch batch = new AccessBatch(count);
		long start = 100;
		int left = 1 + random.nextInt(alike);
		for (int i = 0; i < count; i++) {
			if (left-- == 0) {
				start += 1 + random.nextInt(5);
				left = random.nextInt(alike);
			}
			boolean read = random.nextBoolean();
			batch.add(start, start + 1 + random.nextInt(3), random.nextInt(5), random.nextInt(3) - 1, random.nextInt(3),
					read ? 1L << random.nextInt(40) : 0, read && random.nextInt(4) > 0 ? 0 : 1 + random.nextInt(3), 1 + random.nextInt(3),
					random.nextInt(2), random.nextInt(2), 0, -1, -1, -1);
		}
		return batch;
	}

	@ParameterizedTest
	@EnumSource(DatabaseKind.class)
	void rowsAreTheSame(DatabaseKind kind) throws Exception {
		Random random = new Random(SEED);
		int streamed = 0;
		for (int alike : new int[] { 1, 2, 40, 128, 129, 280, 700 }) {
			AccessBatch rows = random(random, 64 + random.nextInt(1500), alike);
			String of = "seed " + SEED + ", " + rows.count + " accesses, at most " + alike + " with one start";
			Written plain = write(kind, rows, 100, -1, FrameSocRows.AUTO);
			Written announced = write(kind, rows, 1 + random.nextInt(100), rows.count, FrameSocRows.AUTO);
			assertEquals(plain.rows, announced.rows, of);
			streamed += announced.streamed ? 1 : 0;
			assertTrue(alike > TOGETHER || announced.streamed, of);
		}
		assertEquals(6, streamed, "and too many at once are not kept");
	}

	@ParameterizedTest
	@EnumSource(DatabaseKind.class)
	void whatWasAnnouncedNeedNotComeTrue(DatabaseKind kind) throws Exception {
		AccessBatch rows = random(new Random(SEED), 700, 5);
		Written plain = write(kind, rows, 100, -1, FrameSocRows.YES);
		Written more = write(kind, rows, 100, 3, FrameSocRows.YES);
		assertEquals(plain.rows, more.rows);
		assertTrue(more.streamed);
		assertEquals(plain.rows, write(kind, rows, 100, FrameSocRows.MOST_AUTO + 1, FrameSocRows.YES).rows);
		assertEquals(write(kind, rows, 100, -1, FrameSocRows.NO).rows, write(kind, rows, 100, 700, FrameSocRows.NO).rows, "taken back");

		AccessBatch late = new AccessBatch(701);
		for (int i = 0; i < rows.count; i++) {
			late.addFrom(rows, i);
		}
		late.addFrom(rows, 0);
		Written unordered = write(kind, late, 100, 701, FrameSocRows.YES);
		assertEquals(write(kind, late, 100, -1, FrameSocRows.YES).rows, unordered.rows);
		assertEquals(false, unordered.streamed);
	}
}
