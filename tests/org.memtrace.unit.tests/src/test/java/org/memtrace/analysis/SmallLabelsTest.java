// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** What a picture calls several small structures that share a label. */
class SmallLabelsTest {
	private static final long PAGE = 4096;
	private static final int LARGE = 2000;
	private static TraceStore store;
	private static AccessTable table;

	/** A large structure between two runs of small ones: the first has structures of the program, the second has not. */
	private static final class Trace {
		private final ProducerTreeBuilder tree = new ProducerTreeBuilder((int) PAGE);
		private final List<Structure> structures = new ArrayList<>();
		private final AccessBatch batch = new AccessBatch(1 << 14);
		private long address = 0x400000;

		private void add(ProducerKind kind, StructureKind structure, String name, int pages, String site, int accesses) {
			long end = address + pages * PAGE;
			int id = -1;
			if (structure != null) {
				id = structures.size();
				structures.add(new Structure(id, 0, structure, name, address, end, 0, Long.MAX_VALUE, 100, -1, site));
			}
			tree.begin(kind, name, address, end, id);
			for (int p = 0; p < pages; p++) {
				int leaf = tree.leaf(ProducerKind.PAGE, name + " [page " + p + "]", address + p * PAGE,
						address + (p + 1) * PAGE, id);
				batch.add(0, 100, leaf, 0, 0, accesses, 0, 1, 0, 0, 0);
			}
			tree.end();
			address = end + PAGE;
		}

		TraceInfo write(TraceWriter w) throws Exception {
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			add(ProducerKind.STRUCTURE, StructureKind.FILE, "app data", 1, "", 900);
			add(ProducerKind.RANGE, null, "404000 (2 pages)", 2, "", 900);
			add(ProducerKind.STRUCTURE, StructureKind.STATIC, "_rtld_global", 1, "", 900);
			add(ProducerKind.STRUCTURE, StructureKind.STATIC, "flags", 1, "app.c:3", 1);
			add(ProducerKind.STRUCTURE, StructureKind.STATIC, "a_name_too_long_for_the_room_beside_the_picture", 1, "app.c:4", 5);
			add(ProducerKind.STRUCTURE, StructureKind.HEAP, "counters", 1, "app.c:5", 9);
			add(ProducerKind.STRUCTURE, StructureKind.HEAP, "A", LARGE, "app.c:6", 9);
			add(ProducerKind.RANGE, null, "7f506aea4000 (2 pages)", 2, "", 900);
			add(ProducerKind.STRUCTURE, StructureKind.FILE, "libc.so.6 data", 1, "", 900);
			add(ProducerKind.STACK, StructureKind.STACK, "stack of main thread", 1, "", 900);
			tree.end();
			w.threads(List.of(new ThreadInfo(0, 0, 100, "main", 0, Long.MAX_VALUE, "", true)));
			w.structures(structures);
			var producers = tree.build();
			w.producers(producers);
			w.cpuSets(List.of(new BitSet()));
			w.accesses(batch);
			return w.commit(new TraceInfo(-1, "small", "small", TraceInfo.TYPE_MEMTRACE, "/usr/bin/app", "host", "Linux", 1, 0,
					producers.size(), 0, 1000, Instant.EPOCH, (int) PAGE, "", Map.of()), "{}", Progress.NONE);
		}
	}

	@BeforeAll
	static void load() throws Exception {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("small")) {
			store = catalogue.open(new Trace().write(w).id());
		}
		table = AccessTable.load(store, Progress.NONE);
	}

	private static List<String> texts(int width) throws Exception {
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withSlices(10), Progress.NONE);
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = RowLayout.of(m, names);
		PictureOptions o = new PictureOptions();
		o.width = width;
		o.height = 300;
		Picture picture = PictureBuilder.build(SpatiotemporalAggregator.prepare(m).partition(0.2), names, layout, o);
		return picture.scene().shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text())
				.toList();
	}

	@Test
	void namesOfTheProgramStandForSmallStructures() throws Exception {
		List<String> texts = texts(1000);
		List<String> small = texts.stream().filter(t -> t.contains(" small")).toList();
		assertEquals(List.of("6 small: counters, …", "3 small structures"), small, texts.toString());
	}

	@Test
	void noNameIsCutInsideItsParenthesis() throws Exception {
		for (int width = 300; width <= 1200; width += 100) {
			for (String text : texts(width)) {
				int open = text.lastIndexOf('(');
				assertFalse(open >= 0 && text.indexOf('…', open) >= 0 && text.indexOf(')', open) < 0, text);
			}
		}
	}

	@Test
	void theScaleSaysItsUnitAndWhatIsCut() throws Exception {
		for (int width : new int[] {1200, 560}) {
			assertTrue(texts(width).stream().anyMatch(t -> t.matches(".* per page and (ns|µs|ms|s)(; .* have more, up to .*)?")),
					texts(width).toString());
		}
	}
}
