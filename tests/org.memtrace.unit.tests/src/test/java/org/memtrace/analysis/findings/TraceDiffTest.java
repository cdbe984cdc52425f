// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.diff.Comparison;
import org.memtrace.analysis.diff.DiffHtml;
import org.memtrace.analysis.diff.DiffJUnit;
import org.memtrace.analysis.diff.DiffJson;
import org.memtrace.analysis.diff.DiffText;
import org.memtrace.analysis.diff.FailIf;
import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.diff.Metric;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;
import org.xml.sax.InputSource;

/** Recordings of a made program before and after its repair. */
class TraceDiffTest {
	private static final int INTERVALS = 20;

	/** A field, touched first by thread 0 or by its users, and a table that all write. */
	private static Run run(String label, int threads, boolean serial, boolean shared, String name) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(threads, INTERVALS);
		int s = t.structure(name, StructureKind.HEAP, 64);
		int table = t.structure("table", StructureKind.STATIC, 32);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 && serial ? 0 : t.owner(p, 64));
			}
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < threads; k++) {
					if (shared || k == t.owner(p, 32)) {
						t.access(table, p, i, k, 1, 1, 8 * ((i + k) % 5), 8 * ((i + k) % 5));
					}
				}
			}
			for (int k = 0; k < threads; k++) {
				t.cpu(k, i, (long) ((i + 1) * PlantedTrace.INTERVAL * (serial ? 0.9 : 0.6)) + label.hashCode() % 7);
			}
		}
		return new Run(label, t.advise());
	}

	private static TraceDiff diff(List<Run> a, List<Run> b) {
		return new TraceDiff(a, b, Thresholds.STANDARD);
	}

	private static FindingDiff only(TraceDiff d) {
		assertEquals(1, d.findings().size(), d.findings().toString());
		return d.findings().get(0);
	}

	private static StructureDiff structure(TraceDiff d, String name) {
		return d.structures().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
	}

	private static Comparison metric(List<Comparison> list, Metric m) {
		return list.stream().filter(c -> c.metric() == m).findFirst().orElseThrow();
	}

	@Test
	void theAdviceWorked() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(run("b", 4, false, false, "field")));
		FindingDiff f = only(d);
		assertEquals(FindingDiff.State.GONE, f.state());
		assertTrue(f.worked());
		assertTrue(f.text().contains("share of its pages that one thread touches first: 100 % to 25.0 %"), f.text());
		assertTrue(f.text().contains("share of its pages whose main user is another thread: 75.0 % to 0 %"), f.text());
		StructureDiff s = structure(d, "field");
		assertEquals(0.75, s.movedPlaces());
		assertEquals(0.25, s.after().firstTouch()[0]);
		assertEquals(-0.75, metric(s.comparisons(), Metric.HANDED_ON).change(), 1e-9);
		assertEquals(-1.0 / 3, metric(d.whole(), Metric.CPU).change(), 0.01);
		FailIf.Outcome out = FailIf.of("new").judge(d);
		assertFalse(out.failed(), out.reason());
		String text = DiffText.text(d, List.of(out));
		assertTrue(text.contains("The advice worked") && text.contains("One run each"), text);
		assertTrue(text.contains("00000000000000000000000000000000 -> 00000000111111112222222233333333"), text);
	}

	@Test
	void aNewFindingIsWorse() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, false, false, "field")), List.of(run("b", 4, false, true, "field")));
		FindingDiff f = only(d);
		assertEquals(FindingDiff.State.NEW, f.state());
		assertEquals("table", f.structure());
		assertTrue(FailIf.of("new").judge(d).failed());
		assertFalse(FailIf.of("none").judge(d).failed());
	}

	@Test
	void nothingChanges() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, true, true, "field")), List.of(run("b", 4, true, true, "field")));
		assertEquals(2, d.findings().size());
		assertTrue(d.findings().stream().allMatch(f -> f.state() == FindingDiff.State.SAME));
		assertEquals(List.of(), d.warnings());
		assertFalse(FailIf.of("new").judge(d).failed());
		assertEquals(0, structure(d, "field").movedPlaces());
	}

	/** The same problem as another finding of the same structure. */
	@Test
	void anotherFindingOfAStructureIsAChange() throws MemtraceException {
		PlantedTrace all = new PlantedTrace(4, INTERVALS);
		int s = all.structure("field", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				for (int k = 0; k < (i == 0 ? 1 : 4); k++) {
					all.read(s, p, i, k);
				}
			}
		}
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(new Run("b", all.advise())));
		FindingDiff f = d.findings().stream().filter(x -> x.structure().equals("field")).findFirst().orElseThrow();
		assertEquals(FindingDiff.State.CHANGED, f.state());
		assertEquals("was first touch, now read by all", f.text().split(":")[0]);
		assertFalse(f.isWorse(), "a medium one instead of a high one");
		assertEquals(0, structure(d, "table").inB());
	}

	@Test
	void aRenamedStructureIsMatchedByItsFileAndOrder() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(run("b", 4, false, false, "grid")));
		assertEquals("field, now grid", only(d).structure());
		assertEquals("by source file and order", structure(d, "field, now grid").how());
		assertEquals(2, d.structures().size());
		assertFalse(FailIf.of("handed-on of field>+1%").judge(d).failed());
	}

	private static Run in(String label, String... properties) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("field", StructureKind.HEAP, 4);
		for (int i = 0; i < INTERVALS; i++) {
			t.write(s, i % 4, i, i % 2);
		}
		for (int i = 0; i < properties.length; i += 2) {
			t.properties.put(properties[i], properties[i + 1]);
		}
		return new Run(label, t.advise());
	}

	@Test
	void otherEnvironmentsAreTold() throws MemtraceException {
		TraceDiff d = diff(List.of(in("a", "setting_numa_balancing", "0", "setting_cpu_governor", "performance", "setting_loadavg_at_start", "1",
				"environment_OMP_PROC_BIND", "close")), List.of(in("b", "setting_numa_balancing", "1", "setting_cpu_governor", "performance",
				"setting_loadavg_at_start", "7", "setting_swappiness", "60")));
		assertEquals(List.of("the kernel settings numa_balancing differ: 0 and 1", "the values of OMP_PROC_BIND differ: close and (not set)"),
				d.warnings());
		assertEquals(List.of(), diff(List.of(in("a", "environment_OMP_PROC_BIND", "close")), List.of(in("b"))).warnings(),
				"an older import did not keep them");
	}

	@Test
	void otherNumbersOfThreadsAreTold() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(run("b", 8, true, false, "field")));
		assertTrue(d.warnings().stream().anyMatch(w -> w.equals("the numbers of threads that work differ: 4 and 8")), d.warnings().toString());
	}

	/** With four runs on each side differences are tested; with three they cannot be significant. */
	@Test
	void severalRunsAreTested() throws MemtraceException {
		for (int n : new int[] {3, 4, 6}) {
			List<Run> a = new ArrayList<>();
			List<Run> b = new ArrayList<>();
			for (int i = 0; i < n; i++) {
				a.add(run("a" + i, 4, true, false, "field"));
				b.add(run("b" + i, 4, false, false, "field"));
			}
			TraceDiff d = diff(a, b);
			Comparison handedOn = metric(structure(d, "field").comparisons(), Metric.HANDED_ON);
			assertEquals(n >= 4, handedOn.isTested());
			// some 13 comparisons are made: 2/70 times their number is not below 0.05, 2/924 is
			assertEquals(n >= 6, handedOn.isSignificant(), "p " + handedOn.p());
			assertEquals(-0.75, handedOn.interval()[0], 1e-9);
			assertEquals(n, only(d).inA());
			assertEquals(0, only(d).inB());
			assertEquals(n >= 6, DiffHtml.html(d, List.of()).contains("<td class=\"better\">-75.0 points"));
			assertFalse(FailIf.of("handed-on>+1%").judge(d).failed());
			assertEquals(n == 3 || n == 6, FailIf.of("handed-on<-10%").judge(d).failed(), "beyond, and significant where that can be");
		}
	}

	/** A finding that a minority of runs has is chance. */
	@Test
	void aFindingIsThereWhenMostRunsHaveIt() throws MemtraceException {
		List<Run> a = List.of(run("a1", 4, false, false, "field"), run("a2", 4, true, false, "field"), run("a3", 4, false, false, "field"));
		TraceDiff d = diff(a, List.of(run("b", 4, false, false, "field")));
		assertEquals(List.of(), d.findings());
	}

	@Test
	void conditionsAreRead() throws MemtraceException {
		FailIf c = FailIf.of("shared of my field>+2.5%");
		assertEquals(Metric.SHARED, c.metric());
		assertEquals("my field", c.structure());
		assertEquals(0.025, c.limit(), 1e-12);
		assertTrue(FailIf.of("time < -3%").limit() < 0);
		for (String wrong : new String[] {"", "time", "time>3", "speed>3%", "time=3%", "time>x%"}) {
			assertThrows(MemtraceException.class, () -> FailIf.of(wrong), wrong);
		}
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(run("b", 4, false, false, "field")));
		assertTrue(FailIf.of("shared of nothing>+1%").judge(d).failed(), "what cannot be judged does not pass");
	}

	@Test
	void otherFormsHaveTheSame() throws Exception {
		TraceDiff d = diff(List.of(run("a <1>", 4, true, false, "field")), List.of(run("b", 4, false, true, "field")));
		List<FailIf.Outcome> outcomes = List.of(FailIf.of("new").judge(d), FailIf.of("cpu>+3%").judge(d));
		JsonObject json = JsonParser.parseString(DiffJson.json(d, outcomes)).getAsJsonObject();
		assertEquals("memtrace.diff/1", json.get("schema").getAsString());
		assertEquals(2, json.getAsJsonArray("findings").size());
		assertEquals("new", json.getAsJsonArray("findings").get(0).getAsJsonObject().get("state").getAsString());
		assertTrue(json.getAsJsonArray("findings").get(1).getAsJsonObject().get("advice_worked").getAsBoolean());
		var xml = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(DiffJUnit.xml(d, outcomes))));
		assertEquals("1", xml.getDocumentElement().getAttribute("failures"));
		assertEquals(2, xml.getElementsByTagName("testcase").getLength());
		assertEquals(1, xml.getElementsByTagName("failure").getLength());
		String html = DiffHtml.html(d, outcomes);
		assertTrue(html.contains("a &lt;1&gt;") && !html.contains("a <1>"), "escaped");
		assertTrue(html.contains("The advice worked") && !html.contains("http"), "no network");
		assertFalse(html.contains("td class=\"worse\"") || html.contains("td class=\"better\""), "one run each is no judgement");
		assertTrue(html.contains("no number is called better or worse"), html);
	}
}
