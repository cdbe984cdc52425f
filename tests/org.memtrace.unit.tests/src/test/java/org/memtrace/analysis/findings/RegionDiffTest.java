// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.diff.Comparison;
import org.memtrace.analysis.diff.DiffHtml;
import org.memtrace.analysis.diff.DiffJson;
import org.memtrace.analysis.diff.DiffText;
import org.memtrace.analysis.diff.FailIf;
import org.memtrace.analysis.diff.Metric;
import org.memtrace.analysis.diff.RegionDiff;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** Recordings with regions of the program, before and after a change. */
class RegionDiffTest {
	private static final int INTERVALS = 10;
	private static final StructureKind[] KINDS = {StructureKind.HEAP, StructureKind.STATIC, StructureKind.STACK};

	/**
	 * Four threads. In "init", intervals 0 and 1, thread 0 (or each thread its part) touches 32 pages of a field; in "solve", from 2 to 8,
	 * each works on its part, and with sharing all write the first 8 pages; 8 and 9 are in no region, and touch 4 pages of a table.
	 */
	private static PlantedTrace made(boolean serial, boolean shared, int solveEnd) {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int field = t.structure("field", StructureKind.HEAP, 32);
		int table = t.structure("table", StructureKind.HEAP, 4);
		for (int p = 0; p < 32; p++) {
			t.write(field, p, 0, serial ? 0 : t.owner(p, 32));
		}
		for (int i = 2; i < 8; i++) {
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < 4; k++) {
					if (k == t.owner(p, 32) || shared && p < 8) {
						t.write(field, p, i, k);
					}
				}
			}
		}
		for (int p = 0; p < 4; p++) {
			t.write(table, p, 9, p);
		}
		t.region(0, "init", 0, 2);
		t.region(0, "solve", 2, solveEnd);
		return t;
	}

	private static TraceDiff diff(List<Run> a, List<Run> b) {
		return new TraceDiff(a, b, Thresholds.STANDARD);
	}

	private static RegionDiff region(TraceDiff d, String name) {
		return d.regions().stream().filter(r -> r.name().equals(name)).findFirst().orElseThrow();
	}

	private static Comparison metric(List<Comparison> list, Metric m) {
		return list.stream().filter(c -> c.metric() == m).findFirst().orElse(null);
	}

	private static String both(List<Comparison> list, Metric m) {
		Comparison c = metric(list, m);
		return c == null ? "none" : c.before() + " " + c.after();
	}

	@Test
	void whatHappensInARegion() throws MemtraceException {
		TraceDiff d = diff(List.of(made(true, true, 8).run("a")), List.of(made(false, false, 7).run("b")));
		assertEquals(List.of("init", "solve"), d.regions().stream().map(RegionDiff::name).toList());
		List<Comparison> init = region(d, "init").comparisons();
		assertEquals("2000.0 2000.0", both(init, Metric.TIME));
		assertEquals("1.0 1.0", both(init, Metric.TIMES));
		assertEquals("1.0 0.25", both(init, Metric.FIRST_TOUCH), "by one thread, then by four");
		assertEquals("32.0 32.0", both(init, Metric.NEW_PAGES));
		assertEquals("none", both(init, Metric.SHARED), "only in the first interval of the pages");
		List<Comparison> solve = region(d, "solve").comparisons();
		assertEquals("6000.0 5000.0", both(solve, Metric.TIME));
		assertEquals("0.25 0.0", both(solve, Metric.SHARED), "8 of 32 pages");
		assertEquals("0.75 0.0", both(solve, Metric.HANDED_ON));
		assertEquals("0.0 0.0", both(solve, Metric.NEW_PAGES));
		assertEquals("none", both(solve, Metric.FIRST_TOUCH), "no page is touched first there");
		// 32 pages, 6 intervals of 32 + 24 accesses, 4 pages; each is a read and a write
		double all = 32 + 6 * (32 + 24) + 4;
		assertEquals(6 * 56 / all + " " + 5 * 32 / (32.0 + 6 * 32 + 4), both(solve, Metric.ACCESSES), "the last interval is in no region");
		List<StructureDiff> inside = region(d, "solve").structures();
		assertEquals(List.of("field"), inside.stream().map(StructureDiff::name).toList(), "the table is used in no region");
		StructureDiff s = inside.get(0);
		assertEquals(1, s.weight());
		assertEquals("0.75 0.0", both(s.comparisons(), Metric.HANDED_ON));
		assertEquals("none", both(s.comparisons(), Metric.TIME));
		assertArrayEquals(new double[] {0.25, 0.25, 0.25, 0.25}, s.before().mainUse());
		assertArrayEquals(new double[] {1, 0, 0, 0}, region(d, "init").structures().get(0).before().firstTouch());
		assertEquals(6 * 56 / all / 2, s.before().writes(), 1e-12);
		assertEquals(s.before().reads(), s.before().writes());
	}

	@Test
	void itIsToldInAllForms() throws Exception {
		TraceDiff d = diff(List.of(made(true, true, 8).run("a")), List.of(made(false, false, 7).run("b")));
		String text = DiffText.text(d, List.of());
		assertTrue(text.contains("Regions of the program\n  init\n    time                 2 µs -> 2 µs"), text);
		assertFalse(text.contains("In it"), text);
		String solve = DiffText.regions(d, "solve", true, List.of());
		assertFalse(solve.contains("init") || solve.contains("Findings"), solve);
		assertTrue(solve.contains("  solve\n") && solve.contains("    field (heap, work.c:7)\n") && solve.contains("used mostly by"), solve);
		String list = DiffText.regions(d, null, false, List.of());
		assertTrue(list.contains("  init\n") && list.contains("  solve\n") && !list.contains("field"), list);
		assertEquals("In solve: time 6 µs to 5 µs, handed-on 75.0 % to 0 %, shared 25.0 % to 0 %, pages 32 to 32, reads 336 to 160, writes 336 to 160, times 1 to 1, accesses 90.3 %"
				+ " to 70.2 %, new-pages 0 to 0.", DiffText.sentence(region(d, "solve")));
		JsonObject json = JsonParser.parseString(DiffJson.json(d, List.of())).getAsJsonObject().getAsJsonArray("regions").get(1)
				.getAsJsonObject();
		assertEquals("solve", json.get("name").getAsString());
		assertEquals(6000, json.getAsJsonArray("metrics").get(0).getAsJsonObject().get("median_before").getAsDouble());
		assertEquals("field", json.getAsJsonArray("structures").get(0).getAsJsonObject().get("name").getAsString());
		String html = DiffHtml.html(d, List.of());
		assertTrue(html.contains("<h2>Regions of the program</h2>") && html.contains("<h3>solve ") && html.contains("1 structure in it"), html);
	}

	@Test
	void regionsOfOneSide() throws MemtraceException {
		PlantedTrace other = made(true, false, 8);
		other.region(0, "check", 9, 10);
		PlantedTrace none = new PlantedTrace(1, INTERVALS);
		none.write(none.structure("field", StructureKind.HEAP, 1), 0, 0, 0);
		TraceDiff d = diff(List.of(made(true, false, 8).run("a")), List.of(other.run("b")));
		assertEquals(List.of(), d.warnings());
		RegionDiff check = region(d, "check");
		assertEquals(List.of(0, 1), List.of(check.inA(), check.inB()));
		assertEquals(List.of(), check.comparisons());
		assertEquals("In check: it is new.", DiffText.sentence(check));
		assertNull(check.structures().get(0).before());
		assertTrue(DiffText.text(d, List.of()).contains("  check: new\n"));
		assertEquals(2, diff(List.of(none.run("a")), List.of(made(true, false, 8).run("b"))).regions().size());
		assertEquals(List.of(), diff(List.of(none.run("a")), List.of(none.run("b"))).regions());
	}

	@Test
	void aShortRegionIsTold() throws MemtraceException {
		PlantedTrace t = made(true, false, 8);
		t.region(0, "short", 8.1, 8.3);
		t.region(0, "short", 8.5, 8.7);
		assertEquals(List.of("the region short of b lasts 200 ns each time, less than an interval (1 µs): only its time is reliable"),
				diff(List.of(made(true, false, 8).run("a")), List.of(t.run("b"))).warnings());
	}

	@Test
	void conditions() throws MemtraceException {
		TraceDiff d = diff(List.of(made(true, true, 8).run("a")), List.of(made(false, false, 7).run("b")));
		assertTrue(FailIf.of("time in solve<-10%").judge(d).failed());
		assertFalse(FailIf.of("time in solve>+1%").judge(d).failed());
		assertFalse(FailIf.of("time in init<-1%").judge(d).failed());
		assertTrue(FailIf.of("handed-on of field in solve<-70%").judge(d).failed());
		assertFalse(FailIf.of("handed-on of field in solve<-80%").judge(d).failed());
		assertTrue(FailIf.of("handed-on of field in solve<-70%").judge(d).reason().startsWith("handed-on of field in solve: 75.0 % to 0 %"));
		assertEquals("time in nowhere is not known on both sides", FailIf.of("time in nowhere>+1%").judge(d).reason());
		assertTrue(FailIf.of("time in nowhere>+1%").judge(d).failed(), "what cannot be judged does not pass");
		PlantedTrace t = new PlantedTrace(1, INTERVALS);
		int s = t.structure("blocks in a", StructureKind.HEAP, 4);
		for (int p = 0; p < 4; p++) {
			t.write(s, p, 1, 0);
		}
		TraceDiff same = diff(List.of(t.run("a")), List.of(t.run("b")));
		assertEquals("pages of blocks in a: 4 to 4, +0.0 %, not tested: fewer than 4 runs",
				FailIf.of("pages of blocks in a>+1%").judge(same).reason());
	}

	@Test
	void severalRunsAreTested() throws MemtraceException {
		List<Run> a = new ArrayList<>();
		List<Run> b = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			a.add(made(true, true, 8).run("a" + i));
			b.add(made(false, false, 8).run("b" + i));
		}
		TraceDiff d = diff(a, b);
		Comparison c = metric(region(d, "solve").comparisons(), Metric.HANDED_ON);
		assertTrue(c.isTested() && c.isSignificant() && c.judged() < 0, c.toString());
		assertFalse(metric(region(d, "solve").comparisons(), Metric.TIME).isSignificant());
		assertTrue(c.p() > 0.0022, "corrected for the number of comparisons of all regions: " + c.p());
		assertEquals(metric(diff(runs(a), runs(b)).whole(), Metric.HANDED_ON).p(), metric(d.whole(), Metric.HANDED_ON).p(),
				"regions do not change what is said of the whole run");
	}

	private static List<Run> runs(List<Run> with) {
		return with.stream().map(r -> new Run(r.label(), r.advisor())).toList();
	}

	/** One region of all threads and all of the time has what the run has; several have it together. */
	@Test
	void regionsAreParts() throws MemtraceException {
		long seed = 4711;
		Random random = new Random(seed);
		for (int round = 0; round < 60; round++) {
			int threads = 1 + random.nextInt(4);
			PlantedTrace whole = new PlantedTrace(threads, INTERVALS);
			PlantedTrace parts = new PlantedTrace(threads, INTERVALS);
			int structures = 1 + random.nextInt(KINDS.length);
			for (int s = 0; s < structures; s++) {
				whole.structure("s" + s, KINDS[s], 4);
				parts.structure("s" + s, KINDS[s], 4);
			}
			for (int i = 0; i < INTERVALS; i++) {
				for (int n = random.nextInt(12); n > 0; n--) {
					int s = random.nextInt(structures);
					int p = random.nextInt(4);
					int t = random.nextInt(threads);
					long reads = random.nextBoolean() ? random.nextInt(4) : 1L << random.nextInt(20);
					long writes = random.nextInt(3) + (reads == 0 ? 1 : 0);
					whole.access(s, p, i, t, reads, writes, -1, -1);
					parts.access(s, p, i, t, reads, writes, -1, -1);
				}
			}
			whole.write(0, 0, 0, 0);
			parts.write(0, 0, 0, 0);
			whole.region(0, "all", 0, INTERVALS);
			int cut = random.nextInt(INTERVALS + 1);
			parts.region(0, "one", 0, cut);
			parts.region(0, "two", cut, INTERVALS);
			Run run = whole.run("a");
			TraceDiff d = diff(List.of(run), List.of(run));
			String context = seed + ", round " + round;
			RegionDiff all = region(d, "all");
			double data = d.structures().stream().filter(s -> !s.origin().startsWith("stack"))
					.mapToDouble(s -> metric(s.comparisons(), Metric.PAGES).before()).sum();
			assertEquals(data, metric(all.comparisons(), Metric.PAGES).before(), context + ": without stacks");
			for (Metric m : List.of(Metric.HANDED_ON, Metric.SHARED)) {
				assertEquals(both(d.whole(), m), both(all.comparisons(), m), context + " " + m);
			}
			for (StructureDiff s : all.structures()) {
				StructureDiff of = d.structures().stream().filter(x -> x.name().equals(s.name())).findFirst().orElseThrow();
				for (Metric m : List.of(Metric.HANDED_ON, Metric.SHARED, Metric.PAGES, Metric.FIRST_TOUCH)) {
					assertEquals(both(of.comparisons(), m), both(s.comparisons(), m), context + " " + m);
				}
				assertArrayEquals(of.before().firstTouch(), s.before().firstTouch(), context);
				assertArrayEquals(of.before().mainUse(), s.before().mainUse(), context);
				assertEquals(of.before().reads(), s.before().reads(), 1e-12, context);
			}
			TraceDiff two = diff(List.of(parts.run("a")), List.of(run));
			double accesses = 0;
			double pages = 0;
			for (RegionDiff r : two.regions()) {
				if (r.inA() > 0) {
					RegionDiff known = region(diff(two.before(), two.before()), r.name());
					accesses += metric(known.comparisons(), Metric.ACCESSES).before();
					pages += metric(known.comparisons(), Metric.NEW_PAGES).before();
				}
			}
			assertEquals(1, accesses, 1e-12, context);
			assertEquals(data, pages, context);
		}
	}
}
