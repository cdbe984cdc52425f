// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.find.AddressIndex.Block;
import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.find.FindHit.Listed;
import org.memtrace.analysis.find.FindHit.Memory;
import org.memtrace.analysis.find.FindHit.OfThread;
import org.memtrace.analysis.find.FindHit.Place;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CancelledException;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What a person types is found, the best first; law tests against the obvious way. */
class TraceIndexTest {
	private static final long BASE = 0x7f0000000000L;
	private static final int PAGE = 4096;
	private static final int MOST = 12;
	private static final ProducerTree TREE = tree();
	private static final List<Structure> STRUCTURES = List.of(structure(0, "grid", BASE, 4 * PAGE, 0, 50, "work.c:4"),
			structure(1, "old grid", BASE + 0x100000, 2 * PAGE, 0, 50, "/src/work.c:9"),
			// the memory of the grid, used again
			structure(2, "halo", BASE + PAGE, PAGE, 50, Long.MAX_VALUE, "work.c:4"),
			structure(3, "never", BASE + 0x200000, PAGE, 0, Long.MAX_VALUE, ""));
	private static final List<ThreadInfo> THREADS = List.of(new ThreadInfo(0, 0, 100, "app", 0, Long.MAX_VALUE, "", true),
			new ThreadInfo(1, 0, 117, "worker", 0, Long.MAX_VALUE, "sweep", false));

	private static Structure structure(int id, String name, long start, long bytes, long birth, long death, String site) {
		return new Structure(id, 0, StructureKind.HEAP, name, start, start + bytes, birth, death, 100, id == 0 ? 7 : -1, site);
	}

	/** Root 0, grid 1 with pages 2 to 5, halo 6, old grid 7 with pages 8 and 9, a range 10. */
	private static ProducerTree tree() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(PAGE);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		b.begin(ProducerKind.STRUCTURE, "grid", BASE, BASE + 4 * PAGE, 0);
		for (int i = 0; i < 4; i++) {
			b.leaf(ProducerKind.PAGE, null, BASE + i * PAGE, BASE + (i + 1) * PAGE, 0);
		}
		b.end();
		b.leaf(ProducerKind.STRUCTURE, "halo", BASE + PAGE, BASE + 2 * PAGE, 2);
		b.begin(ProducerKind.STRUCTURE, "old grid", BASE + 0x100000, BASE + 0x100000 + 2 * PAGE, 1);
		b.leaf(ProducerKind.PAGE, null, BASE + 0x100000, BASE + 0x100000 + PAGE, 1);
		b.leaf(ProducerKind.PAGE, null, BASE + 0x100000 + PAGE, BASE + 0x100000 + 2 * PAGE, 1);
		b.end();
		b.leaf(ProducerKind.RANGE, "[7f0000300000-7f0000301000]", BASE + 0x300000, BASE + 0x301000, -1);
		b.end();
		return b.build();
	}

	private static TraceIndex index() throws CancelledException {
		CodePlaces.Builder code = new CodePlaces.Builder();
		code.add(0, new CallFrame(1, "app", "sweep", "/src/work.c", 21));
		code.add(0, new CallFrame(2, "app", "sweep", "/src/work.c", 19));
		code.add(0, new CallFrame(3, "libc.so.6", "memcpy", "", 0));
		return TraceIndex.of(TREE, STRUCTURES, THREADS, code.build(), Map.of(7, List.of(new CallFrame(9, "app", "make_grid", "/src/work.c", 4),
				new CallFrame(10, "app", "main", "/src/main.c", 30))), Progress.NONE);
	}

	private static Found find(String typed) throws CancelledException {
		return index().find(FindQuery.of(typed), MOST, Progress.NONE);
	}

	private static List<String> names(Found found) {
		return found.hits().stream().map(h -> h.kind().title() + " " + h.name() + " | " + h.detail()).toList();
	}

	@Test
	void namesOfAllKindsTheBestFirst() throws Exception {
		assertEquals(List.of("Structure grid | heap, 16.0 KiB, work.c:4", "Structure old grid | heap, 8.0 KiB, work.c:9",
				"Function make_grid | work.c:4"), names(find("GRID")));
		assertEquals(new Memory(1, 1, 0), find("grid").hits().get(0).target());
		assertEquals(List.of("Structure old grid | heap, 8.0 KiB, work.c:9"), names(find("rid ol")), "all words, in any order");
		assertEquals(List.of("Structure never | heap, 4.0 KiB, no access was seen"), names(find("nev")));
		assertEquals(new Memory(-1, -1, 3), find("nev").hits().get(0).target());
		assertEquals(List.of("Function memcpy | no source is known"), names(find("memcpy")));
		assertEquals(List.of("Thread worker #1 | task 117, sweep"), names(find("117")));
		assertEquals(new OfThread(1), find("worker").hits().get(0).target());
		// the function itself before the thread that it is the start routine of
		assertEquals(List.of("Function sweep | work.c:19", "Thread worker #1 | task 117, sweep"), names(find("sweep")));
		assertEquals(List.of(), names(find("grid zzz")));
		assertEquals(Found.NOTHING, find(" \n "));
	}

	@Test
	void linesOfTheSource() throws Exception {
		assertEquals(List.of("Line work.c:4 | make_grid, makes 2 structures, /src/work.c"), names(find("work.c:4")));
		assertEquals(new Place(new SourcePlace("sweep", "/src/work.c", 21)), find("work.c:21").hits().get(0).target());
		assertEquals(List.of("Line work.c:9 | makes old grid, /src/work.c"), names(find("src/work.c:9")));
		assertEquals(List.of("Line work.c:13 | no access or allocation of this line is known, /src/work.c"), names(find("work.c:13")));
		assertEquals(new Place(new SourcePlace("", "/src/work.c", 13)), find("WORK.c:13").hits().get(0).target());
		assertEquals(List.of("Line main.c:30 | main, /src/main.c"), names(find("main.c")));
		assertEquals(List.of(), names(find("other.c:4")));
	}

	@Test
	void addresses() throws Exception {
		assertEquals(List.of("Address halo + 0x10 | heap, 4.0 KiB, work.c:4", "Address grid + 0x1010 | grid [page 1], heap, 16.0 KiB, work.c:4"),
				names(find("0x7f0000001010")), "used twice");
		assertEquals(List.of(new Memory(6, 6, 2), new Memory(1, 3, 0)),
				find("0x7F00_0000_1010").hits().stream().map(FindHit::target).toList());
		assertEquals(names(find("0x7f0000001010")), names(find("7f0000001010")), "hexadecimal without 0x");
		assertEquals(List.of("Address between structures: old grid ends 4.0 KiB before | heap, 8.0 KiB, work.c:9",
				"Address between structures: never begins 1012 KiB behind | heap, 4.0 KiB, no access was seen"), names(find("0x7f0000103000")));
		assertEquals(List.of("Address between structures: old grid ends here | heap, 8.0 KiB, work.c:9",
				"Address between structures: never begins 1016 KiB behind | heap, 4.0 KiB, no access was seen"), names(find("0x7f0000102000")));
		assertEquals(List.of("Address [7f0000300000-7f0000301000] + 0x4 | outside of all structures, 4.0 KiB",
				"Address between structures: never ends 1020 KiB before | heap, 4.0 KiB, no access was seen"), names(find("0x7f0000300004")));
		assertEquals(List.of("Address between structures: grid begins 127 TiB behind | heap, 16.0 KiB, work.c:4"), names(find("0x1")));
		assertEquals(1, find("0xffffffffffffffff").hits().size(), "addresses are unsigned");
		assertEquals(List.of(), names(find("0x10000000000000000")), "17 digits");
		assertTrue(find("face").hits().isEmpty(), "a short word is no address");
	}

	@Test
	void manyAreCountedAndTheLargestAreShown() throws Exception {
		int n = 5000;
		ProducerTreeBuilder b = new ProducerTreeBuilder(PAGE);
		List<Structure> structures = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			long start = BASE + (long) i * 16 * PAGE;
			int pages = 1 + i % 7;
			structures.add(structure(i, "block " + i, start, (long) pages * PAGE, 0, 1, "w.c:1"));
			b.leaf(ProducerKind.STRUCTURE, "block " + i, start, start + (long) pages * PAGE, i);
		}
		TraceIndex index = TraceIndex.of(b.build(), structures, List.of(), CodePlaces.NONE, Map.of(), Progress.NONE);
		Found found = index.find(FindQuery.of("bl"), 3, Progress.NONE);
		assertEquals(List.of("block 6", "block 13", "block 20"), found.hits().stream().map(FindHit::name).toList());
		assertEquals("3 of 5,000 structures", found.more());
		assertEquals("block 77", index.find(FindQuery.of("block 77"), 1, Progress.NONE).hits().get(0).name());
		assertEquals("1 of 95 structures", index.find(FindQuery.of("block 77"), 1, Progress.NONE).more(),
				"19 of each thousand");
		assertThrows(CancelledException.class, () -> index.find(FindQuery.of("b"), 3, new Progress() {
			@Override
			public void begin(String step, long units) {
				// nobody looks
			}

			@Override
			public void worked(long units) {
				// nobody looks
			}

			@Override
			public boolean isCancelled() {
				return true;
			}
		}));
	}

	@Test
	void typingFindsWhatAFreshSearchFinds() throws Exception {
		long seed = 20261123;
		Random random = new Random(seed);
		for (int round = 0; round < 300; round++) {
			String at = "seed " + seed + ", round " + round;
			List<String> names = IntStream.range(0, random.nextInt(40)).mapToObj(i -> text(random, 12)).toList();
			NameIndex index = NameIndex.of(names.size(), names::get, Progress.NONE);
			NameSearch typing = new NameSearch(index, i -> i % 3);
			String typed = "";
			for (int key = 0; key < 12; key++) {
				typed = random.nextInt(4) == 0 && !typed.isEmpty() ? typed.substring(0, typed.length() - 1) : typed + text(random, 1);
				List<String> words = FindQuery.of(typed).words();
				int[] obvious = IntStream.range(0, names.size()).filter(i -> words.stream().allMatch(w -> NameIndex.fold(names.get(i)).contains(w)))
						.toArray();
				assertArrayEquals(obvious, index.find(words, null, Progress.NONE), at + ": " + words + " in " + names);
				int most = 1 + random.nextInt(5);
				NameSearch.Result result = typing.find(words, most, Progress.NONE);
				assertEquals(obvious.length, result.total(), at);
				int[] order = Arrays.stream(obvious).boxed().sorted((x, y) -> index.rank(x, words) != index.rank(y, words)
						? index.rank(x, words) - index.rank(y, words) : x % 3 != y % 3 ? y % 3 - x % 3 : x - y).mapToInt(i -> i).limit(most).toArray();
				assertArrayEquals(order, result.best().stream().mapToInt(NameSearch.Match::index).toArray(), at + ": " + words + " in " + names);
			}
		}
	}

	private static String text(Random random, int most) {
		StringBuilder b = new StringBuilder();
		for (int n = most == 1 ? 1 : random.nextInt(most + 1); n > 0; n--) {
			b.append("aAbé _\n".charAt(random.nextInt(7)));
		}
		return b.toString();
	}

	@Test
	void howWellANameFits() throws Exception {
		List<String> names = List.of("grid", "grid 2", "old_grid", "subgrid of grid", "subgrid");
		NameIndex index = NameIndex.of(names.size(), names::get, Progress.NONE);
		assertArrayEquals(new int[] {NameIndex.WHOLE, NameIndex.BEGINNING, NameIndex.WORD, NameIndex.WORD, NameIndex.PART},
				IntStream.range(0, names.size()).map(i -> index.rank(i, List.of("grid"))).toArray());
	}

	@Test
	void blocksAtAnAddressAreThoseThatHaveIt() {
		long seed = 1123;
		Random random = new Random(seed);
		for (int round = 0; round < 500; round++) {
			List<Block> blocks = new ArrayList<>();
			long base = random.nextBoolean() ? 0 : Long.MAX_VALUE - 20;
			for (int i = random.nextInt(9); i > 0; i--) {
				long start = base + random.nextInt(40);
				blocks.add(new Block(start, start + random.nextInt(12), blocks.size()));
			}
			AddressIndex index = new AddressIndex(blocks);
			for (long a = base; Long.compareUnsigned(a, base + 60) < 0; a++) {
				long address = a;
				String at = "seed " + seed + ", round " + round + ", " + blocks + " at " + address;
				List<Integer> have = blocks.stream().filter(b -> b.has(address)).map(Block::id).sorted().toList();
				assertEquals(have, index.at(address).stream().map(Block::id).sorted().toList(), at);
				if (have.isEmpty()) {
					List<Block> real = blocks.stream().filter(b -> b.start() != b.end()).toList();
					long end = real.stream().filter(b -> Long.compareUnsigned(b.end(), address) <= 0).map(Block::end).max(Long::compareUnsigned)
							.orElse(-1L);
					assertEquals(end, index.before(address) == null ? -1 : index.before(address).end(), at);
					long start = real.stream().filter(b -> Long.compareUnsigned(b.start(), address) > 0).map(Block::start).min(Long::compareUnsigned)
							.orElse(-1L);
					assertEquals(start, index.after(address) == null ? -1 : index.after(address).start(), at);
				}
			}
		}
	}

	@Test
	void listsAreFoundByNameAndDetail() throws Exception {
		FindList list = new FindList(Kind.COMMAND, List.of(new FindList.Entry("Zoom in", "Ctrl+="), new FindList.Entry("Zoom out", "Ctrl+-"),
				new FindList.Entry("Show whole trace", "Alt+Home")));
		assertEquals(List.of("Zoom in", "Zoom out"),
				list.find(FindQuery.of("zoom"), MOST, Progress.NONE).hits().stream().map(FindHit::name).toList());
		assertEquals(new Listed(2), list.find(FindQuery.of("alt+home"), MOST, Progress.NONE).hits().get(0).target());
		assertEquals(NameIndex.WHOLE, list.find(FindQuery.of("Zoom Out"), MOST, Progress.NONE).hits().get(0).rank());
		Found all = list.find(FindQuery.EMPTY, 2, Progress.NONE);
		assertEquals(List.of("Zoom in", "Zoom out"), all.hits().stream().map(FindHit::name).toList());
		assertEquals("2 of 3 commands", all.more());
		Found both = find("grid").with(all);
		assertEquals(5, both.hits().size());
		assertEquals("2 of 3 commands", both.more());
		assertEquals("grid", both.hits().get(0).name());
	}

	private static final TraceInfo INFO = new TraceInfo(0, "t", "t", TraceInfo.TYPE_MEMTRACE, "", "", "", 1, 0, 1, 0, 100_000,
			Instant.EPOCH, 4096, "", Map.of());

	@Test
	void whatIsFoundIsShown() {
		TraceSelection s = new TraceSelection(TREE, 0, 100_000);
		assertTrue(FindJump.zoom("grid", INFO, s, new Memory(1, 3, 0), STRUCTURES.get(0)));
		assertEquals(1, s.state().producer());
		assertEquals(3, s.mark());
		assertTrue(FindJump.mark("grid", INFO, s, new Memory(1, 4, 0), STRUCTURES.get(0)));
		assertEquals(1, s.state().producer(), "it is in what is shown");
		FindJump.mark("grid", INFO, s, new Memory(7, 8, 1), STRUCTURES.get(1));
		assertEquals(0, s.state().producer(), "what has both");
		assertEquals(8, s.mark());
		assertFalse(FindJump.zoom("grid", INFO, s, new Memory(-1, -1, 3), STRUCTURES.get(3)));
		assertEquals(8, s.mark());
		s.window(10_000, 30_000);
		FindJump.zoom("grid", INFO, s, new Memory(7, 7, 1), structure(1, "late", BASE, PAGE, 40_000, 70_000, ""));
		assertEquals(List.of(40_000L, 70_000L), List.of(s.state().fromNs(), s.state().toNs()), "its life");
		assertEquals("Shown for grid: window 30 µs from 40 µs, memory of " + TREE.name(7), s.reason(), "nothing changes without a word");
		assertEquals(7, s.mark());
		s.back();
		assertEquals("", s.reason());
		assertEquals(8, s.mark(), "the mark comes back, too");
		assertEquals(new ViewState(10_000, 30_000, 0, BasicDimensions.TYPE, ViewState.AUTOMATIC_P), s.state(), "one step");

		TraceFilter write = TraceFilter.hide(Condition.cpu(1));
		s.filters(FilterSet.of(TraceFilter.only(Condition.thread(0)), write));
		FindJump.onlyThread("worker #1", INFO, s, 1);
		assertEquals(FilterSet.of(write, TraceFilter.only(Condition.thread(1))), s.state().filters());
		FindJump.colourThreads("worker #1", INFO, s);
		assertEquals(BasicDimensions.THREAD, s.state().viewpoint());
		assertEquals("Shown for worker #1: coloured by " + BasicDimensions.THREAD.choiceLabel(), s.reason());
		s.back();
		assertEquals("Shown for worker #1: filtered", s.reason());
	}
}
