// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.find.FindHit;
import org.memtrace.analysis.find.FindJump;
import org.memtrace.analysis.find.FindQuery;
import org.memtrace.analysis.find.Found;
import org.memtrace.analysis.find.TraceIndex;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.cli.Ran;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.Stores;

/** The same program has the same names and rows, whatever else there is beside them. */
class NamesTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata/format-example");
	private static final long START = 1_000_000_000L;
	private static final long LIFE = 5_000_000L;
	private static final int LIVES = 40;
	private static final String SITE = "/a/long/way/to/the/source/of/it/app.c:";

	@TempDir
	Path temporary;

	/**
	 * A trace with a variable, 40 lives of y8n at one address, three rows at the same time, and others.
	 *
	 * @param named whether each of the others has a name and a place of its own
	 */
	private Path trace(int structures, boolean named) throws IOException {
		Path trace = temporary.resolve(structures + (named ? "n" : "")); // the name is not in what is compared
		Path image = Files.createDirectories(trace.resolve("p0000"));
		Files.copy(EXAMPLE.resolve("manifest.json"), trace.resolve("manifest.json"));
		for (String file : new String[] {"image.json", "intervals.csv", "maps-start.txt", "threads.csv", "stacks.csv"}) {
			Files.copy(EXAMPLE.resolve("p0000").resolve(file), image.resolve(file));
		}
		List<String> lines = new ArrayList<>(List.of("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site"));
		List<String> accesses = new ArrayList<>(List.of("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags"));
		add(lines, accesses, "static", "table", 0x601000, 0x2000, 0, LIVES, SITE + "2");
		for (int life = 0; life < LIVES; life++) {
			add(lines, accesses, "heap", "y8n", 0x7f0000000010L, 0x20000, life, life + 1, SITE + "16");
		}
		for (int row = 0; row < 3; row++) {
			add(lines, accesses, "heap", "rows[i]", 0x7e0000000010L - row * 0x100000L, 0x18000, 0, LIVES, SITE + "20");
		}
		for (int other = 0; lines.size() <= structures; other++) {
			add(lines, accesses, "heap", named ? "v" + other : "other[i]", 0x10000000L + other * 0x12000L, 0x11000, 0, LIVES,
					SITE + (named ? 100 + other : 12));
		}
		Files.write(image.resolve("structures.csv"), lines);
		Files.write(image.resolve("accesses-000000.csv"), accesses);
		return trace;
	}

	private static void add(List<String> lines, List<String> accesses, String kind, String name, long start, long bytes, int birth, int death,
			String site) {
		lines.add(String.format("%d,%s,%s,%x,%x,%d,%s,1000,-1,%s", lines.size() - 1, kind, name, start, start + bytes, START + birth * LIFE,
				death == LIVES ? "-1" : Long.toString(START + death * LIFE), site));
		for (int page = 0; page < 2; page++) {
			accesses.add(String.format("%x,0,%d,1,1,%d,%d,1000,0,0,0", start + page * 0x1000L, 1 + birth, START + birth * LIFE,
					START + birth * LIFE + LIFE / 2));
		}
	}

	private String importOf(int structures, boolean named) throws IOException {
		Path trace = trace(structures, named);
		String db = trace + ".db";
		Ran.ok("import", "-o", db, trace.toString());
		return db;
	}

	private static List<String> rows(String text, String... names) {
		return text.lines().filter(l -> List.of(names).stream().anyMatch(n -> l.startsWith(n + ",") || l.startsWith(n + " "))).toList();
	}

	@Test
	void theNumberOfOtherStructuresChangesNoName() throws Exception {
		for (boolean named : new boolean[] {false, true}) {
			List<String> groups = null;
			for (int n : new int[] {999, 1000, 1001, 5000}) {
				String db = importOf(n, named);
				String what = n + (named ? " with names" : " others");
				List<String> found = rows(Ran.ok("query", "--what", "groups", "--by", "structure,site", "--format", "csv", db), "table",
						"y8n (40 blocks)", "rows[i] (3 blocks)", "v0", "v900");
				assertEquals(named ? 5 : 3, found.size(), what + ": " + found);
				groups = groups == null ? found : groups;
				assertEquals(groups, found, what);
				try (TraceStore store = Stores.openFile(Path.of(db))) {
					StructureTable table = StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE);
					StructureTable.Row y8n = table.rows().stream().filter(r -> r.name().equals("y8n (40 blocks)")).findFirst().orElseThrow();
					assertEquals("heap 131072 2 " + SITE + "16", y8n.kind() + " " + y8n.sizeBytes() + " " + y8n.details().pages() + " " + y8n.site());
					assertEquals(LIVES * LIFE, y8n.lifetimeNs(START, START + LIVES * LIFE), "from the first birth to the last death");
					assertEquals(named ? n - LIVES - 3 + 2 : 4, table.rows().size(), what);
				}
			}
		}
	}

	/** A life is a time of a place: it is opened by its number, and accesses tell it. */
	@Test
	void aLifeIsOpened() throws Exception {
		String db = importOf(100, false);
		String csv = Ran.ok("query", "--what", "accesses", "--columns", "structure_id,page_index,start_ns,reads", "--format", "csv", db);
		for (int life = 0; life < LIVES; life++) {
			assertTrue(csv.contains("\n" + (1 + life) + ",1," + (START + life * LIFE) + "," + (1 + life) + "\n"), "life " + life + ": " + csv);
		}
		try (TraceStore store = Stores.openFile(Path.of(db))) {
			TraceIndex index = TraceIndex.of(store, store.producers(), Progress.NONE);
			Found all = index.find(FindQuery.of("y8n"), 3, Progress.NONE);
			assertEquals("y8n (40 blocks) | heap, 128 KiB, app.c:16", all.hits().get(0).name() + " | " + all.hits().get(0).detail(),
					"no folders before the file");
			FindHit hit = index.find(FindQuery.of("y8n #7"), 1, Progress.NONE).hits().get(0);
			assertEquals("y8n #7", hit.name());
			FindHit.Memory memory = (FindHit.Memory) hit.target();
			Structure life = store.structures().get(memory.structure());
			assertEquals(START + 6 * LIFE, life.birthNs());
			TraceSelection selection = new TraceSelection(store.producers(), START, START + LIVES * LIFE);
			assertTrue(FindJump.zoom("y8n #7", store.info(), selection, memory, life));
			assertEquals("y8n (40 blocks)", store.producers().name(selection.state().producer()));
			assertEquals(START + 6 * LIFE, selection.state().fromNs());
			assertEquals(START + 7 * LIFE, selection.state().toNs());
		}
	}

	/** Storages and ways of import agree. */
	@Test
	void eachStorageHasTheSameTree() throws Exception {
		Path trace = trace(1200, false);
		String sqlite = temporary.resolve("one.db").toString();
		Ran.ok("import", "-o", sqlite, trace.toString());
		String h2 = temporary.resolve("h2").toString();
		Ran.ok("import", "--dbms", "h2", "--catalogue", h2, trace.toString());
		try (TraceStore one = Stores.openFile(Path.of(sqlite));
				TraceCatalogue catalogue = Stores.openCatalogue(Path.of(h2), notice -> assertEquals("", notice));
				TraceStore other = catalogue.open(catalogue.list().get(0).id())) {
			assertEquals(tree(one.producers()), tree(other.producers()));
		}
	}

	private static List<String> tree(ProducerTree tree) {
		List<String> all = new ArrayList<>();
		for (int id = 0; id < tree.size(); id++) {
			all.add(tree.kind(id) + " " + tree.name(id) + " " + tree.parent(id) + " " + tree.structure(id));
		}
		return all;
	}
}
