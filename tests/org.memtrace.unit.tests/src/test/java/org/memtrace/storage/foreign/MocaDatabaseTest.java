// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.foreign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.Stores;

/** A database as FrameSoc's own importer of Moca's files writes it is a memory trace. */
class MocaDatabaseTest {
	@TempDir
	Path directory;

	/** @param byThread as in the databases called {@code _Task_Virtual} */
	private Path database(boolean byThread, String... more) throws SQLException {
		Path file = directory.resolve((byThread ? "task" : "plain") + more.length + ".db");
		try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + file); Statement s = db.createStatement()) {
			s.execute("CREATE TABLE EVENT(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, EVENT_PRODUCER_ID INTEGER, TIMESTAMP BIGINT,"
					+ " CPU INTEGER, PAGE INTEGER, CATEGORY INTEGER, LPAR BIGINT, DPAR DOUBLE)");
			s.execute("CREATE TABLE EVENT_TYPE(ID INTEGER PRIMARY KEY, CATEGORY INTEGER, NAME VARCHAR(128) UNIQUE)");
			s.execute("CREATE TABLE EVENT_PARAM(ID INTEGER PRIMARY KEY, EVENT_ID INTEGER, EVENT_PARAM_TYPE_ID INTEGER, VALUE TEXT)");
			s.execute("CREATE TABLE EVENT_PARAM_TYPE(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, NAME VARCHAR(128), TYPE TEXT)");
			s.execute("CREATE TABLE EVENT_PRODUCER(ID INTEGER PRIMARY KEY, TYPE VARCHAR(128), LOCAL_ID VARCHAR(128), NAME TEXT,"
					+ " PARENT_ID INTEGER)");
			String[] names = { "Private_Read", "Private_Write", "Shared_Read", "Shared_Write" };
			int id = 0;
			for (String suffix : List.of("", "_T0", "_T7")) { // all of them are in each of its databases
				for (String name : names) {
					s.execute("INSERT INTO EVENT_TYPE VALUES(" + id + ",3,'" + name + suffix + "')");
					s.execute("INSERT INTO EVENT_PARAM_TYPE VALUES(" + 2 * id + "," + id + ",'CPUMask','STRING')");
					s.execute("INSERT INTO EVENT_PARAM_TYPE VALUES(" + (2 * id + 1) + "," + id + ",'Tid','INTEGER')");
					id++;
				}
			}
			s.execute("INSERT INTO EVENT_PRODUCER VALUES(0,'','0','MemoryRoot',-1),(1,'Memory Zone','1','A_0',0),"
					+ "(2,'Memory Zone','2','6295568',1),(3,'Memory Zone','3','6299648',1),(4,'Memory Zone','4','18446744073699065856',0)");
			// in the order of pages: page, task, shared, reads, writes, start, end, CPU mask
			long[][] accesses = { { 2, 0, 0, 3, 1, 50, 60, 1 }, { 2, 7, 1, 2, 0, 10, 20, 10 }, { 2, 0, 1, 0, 4, 10, 20, 1 },
					{ 3, 7, 0, 5_000_000_000L, 0, 5, 5, 10 }, { 4, 0, 0, 1, 1, 70, 71, 11 } };
			int event = 0;
			for (long[] a : accesses) {
				for (int write = 0; write < 2; write++) {
					if (a[3 + write] > 0) {
						int type = (int) (a[2] * 2 + write + (byThread ? a[1] == 0 ? 4 : 8 : 0));
						s.execute("INSERT INTO EVENT VALUES(" + event + "," + type + "," + a[0] + "," + a[5] + ",0,0,3," + a[6] + "," + a[3 + write]
								+ ")");
						s.execute("INSERT INTO EVENT_PARAM VALUES(" + 2 * event + "," + event + "," + 2 * type + ",'" + a[7] + "')");
						s.execute("INSERT INTO EVENT_PARAM VALUES(" + (2 * event + 1) + "," + event + "," + (2 * type + 1) + ",'" + a[1] + "')");
						event++;
					}
				}
			}
			for (String sql : more) {
				s.execute(sql);
			}
		}
		return file;
	}

	private static List<String> accesses(TraceStore store, AccessQuery query) throws Exception {
		List<String> rows = new ArrayList<>();
		List<ThreadInfo> threads = store.threads();
		store.visitAccesses(query, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(store.producers().name(b.producer[i]) + " " + b.startNs[i] + "-" + b.endNs[i] + " T"
						+ (b.thread[i] == AccessBatch.NO_THREAD ? "?" : threads.get(b.thread[i]).taskId()) + " r" + b.reads[i] + " w"
						+ b.writes[i] + " by " + b.sharing[i] + " on " + store.cpuSets().get(b.cpuSet[i]));
			}
		}, Progress.NONE);
		return rows;
	}

	@Test
	void isAMemoryTrace() throws Exception {
		for (boolean byThread : new boolean[] { false, true }) {
			Path file = database(byThread);
			byte[] before = Files.readAllBytes(file);
			try (TraceStore store = Stores.openFile(file)) {
				assertEquals("Moca", store.info().type());
				assertEquals(4096, store.info().pageSizeBytes());
				assertEquals(5, store.accessCount(), "a read and a write of one access are one");
				assertEquals(List.of("6299648 5-6 T7 r5000000000 w0 by 1 on {1}", "6295568 10-20 T7 r2 w0 by 2 on {1}",
						"6295568 10-20 T0 r0 w4 by 2 on {0}", "6295568 50-60 T0 r3 w1 by 1 on {0}",
						"18446744073699065856 70-71 T0 r1 w1 by 1 on {0, 1}"), accesses(store, AccessQuery.ALL));
				ProducerTree tree = store.producers();
				assertEquals(ProducerKind.ROOT, tree.kind(0));
				int page = java.util.stream.IntStream.range(0, tree.size()).filter(p -> tree.name(p).equals("6295568")).findFirst().orElseThrow();
				assertEquals(ProducerKind.PAGE, tree.kind(page));
				assertEquals(6295568 & -4096, tree.startAddress(page));
				assertEquals(2, accesses(store, AccessQuery.ALL.window(10, 20)).size());
				assertEquals(4, accesses(store, AccessQuery.ALL.subtree(tree, tree.parent(page))).size());
				long[] events = { 0 };
				store.visitEvents(AccessQuery.ALL, b -> events[0] += b.count, Progress.NONE);
				assertEquals(7, events[0], "events are those of the database");
			}
			assertTrue(java.util.Arrays.equals(before, Files.readAllBytes(file)), "nothing is written into it");
		}
	}

	@Test
	void otherEventsBesideThemMakeItAnotherTrace() throws Exception {
		try (TraceStore store = Stores.openFile(database(false, "INSERT INTO EVENT_TYPE VALUES(99,1,'Running')"))) {
			assertEquals(0, store.accessCount());
		}
	}

	@Test
	void whatIsNoAccessIsSaid() throws Exception {
		try (TraceStore store = Stores.openFile(database(true, "UPDATE EVENT SET DPAR = 0.5 WHERE ID = 3", "SELECT 1"))) {
			String said = assertThrows(StoreException.class, store::accessCount).getMessage();
			assertTrue(said.contains("event 3 is no access") && said.contains("0.5"), said);
		}
	}
}
