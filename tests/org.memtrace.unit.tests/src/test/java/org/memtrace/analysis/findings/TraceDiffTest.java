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
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.diff.Comparison;
import org.memtrace.analysis.diff.DiffHtml;
import org.memtrace.analysis.diff.DiffJUnit;
import org.memtrace.analysis.diff.DiffJson;
import org.memtrace.analysis.diff.DiffTable;
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
		return new Run(label, program(label, threads, serial, shared, name, INTERVALS).advise());
	}

	private static PlantedTrace program(String label, int threads, boolean serial, boolean shared, String name, int intervals) {
		PlantedTrace t = new PlantedTrace(threads, intervals);
		int s = t.structure(name, StructureKind.HEAP, 64);
		int table = t.structure("table", StructureKind.STATIC, 32);
		for (int i = 0; i < intervals; i++) {
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
		return t;
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

	/** The same repair, but the program takes more time: its cause is gone, and nothing has worked. */
	@Test
	void noAdviceWorkedBesideASlowerProgram() throws Exception {
		Run slow = new Run("b", program("b", 4, false, false, "field", 36).advise());
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(slow));
		FindingDiff f = only(d);
		assertEquals(FindingDiff.State.GONE, f.state());
		assertTrue(f.conditionsGone() && !f.worked() && d.verdict().isSlower());
		assertTrue(f.text().endsWith("; but these runs need more: time +80.0 %"), f.text());
		String text = DiffText.text(d, List.of());
		String[] lines = text.split("\n");
		assertEquals("Time: 20 µs to 36 µs, +80.0 %: not known whether that is noise.", lines[2], "the first thing that is said");
		assertTrue(lines[3].startsWith("CPU time: ") && lines[3].endsWith(": not known whether that is noise."), lines[3]);
		assertTrue(text.replaceAll("\\s+", " ").contains("One run each: cannot tell how much is noise"), text);
		JsonObject json = JsonParser.parseString(DiffJson.json(d, List.of())).getAsJsonObject();
		JsonObject verdict = json.getAsJsonObject("verdict");
		assertEquals("more more false true", verdict.get("time").getAsString() + " " + verdict.get("cpu").getAsString() + " "
				+ verdict.get("tested") + " " + verdict.get("slower"));
		JsonObject gone = json.getAsJsonArray("findings").get(0).getAsJsonObject();
		assertEquals("true false", gone.get("conditions_gone") + " " + gone.get("advice_worked"));
		String html = DiffHtml.html(d, List.of());
		assertTrue(html.indexOf("Time: 20 µs to 36 µs, +80.0 %: not known") < html.indexOf("<h2>"), "before all else");
		assertFalse(html.contains("card gone"), "green is what helped");
		assertTrue(DiffText.sentences(d).get(0).startsWith("Time: 20 µs"), DiffText.sentences(d).toString());
		FindingCards cards = FindingCards.of(d);
		assertTrue(cards.heading().startsWith("Time +80.0 %, CPU time ") && cards.heading().endsWith(" (one run each): 1 gone"), cards.heading());
		assertFalse(cards.cards().get(0).worked());
		for (String all : new String[] {text, DiffJson.json(d, List.of()), html, DiffJUnit.xml(d, List.of()),
				String.join(" ", DiffText.sentences(d)), cards.warnings().toString()}) {
			assertFalse(all.contains("dvice worked"), all);
		}
		assertTrue(FailIf.of("time>+3%").judge(d).failed());
		assertFalse(FailIf.of("new").judge(d).failed());
	}

	/** With runs enough the times are tested, and what is noise is called so. */
	@Test
	void timesHaveIntervalsAndATest() throws MemtraceException {
		List<Run> a = new ArrayList<>();
		List<Run> b = new ArrayList<>();
		List<Run> same = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			a.add(new Run("a" + i, program("a" + i, 4, true, false, "field", INTERVALS + i % 3).advise()));
			b.add(new Run("b" + i, program("b" + i, 4, false, false, "field", 36 + i % 3).advise()));
			same.add(new Run("c" + i, program("c" + i, 4, true, false, "field", INTERVALS + (i + 1) % 3).advise()));
		}
		TraceDiff d = diff(a, b);
		String time = d.verdict().sentences().get(0);
		assertTrue(time.matches("Time: 21 µs to 37 µs, \\+76\\.2 %, 95 % interval of the difference \\+1[45]\\S* µs to \\+1[678]\\S* µs, p 0\\.0\\d\\d: slower\\."),
				time);
		assertTrue(d.verdict().isTested() && d.verdict().isSlower() && !only(d).worked());
		assertTrue(DiffHtml.html(d, List.of()).contains("class=\"card verdict new\""), "tested, so it may be red");
		assertTrue(FailIf.of("time>+3%").judge(d).failed());
		TraceDiff noise = diff(a, same);
		assertTrue(noise.verdict().sentences().get(0).endsWith(": no difference beyond noise."), noise.verdict().sentences().get(0));
		assertFalse(noise.verdict().isSlower());
		TraceDiff few = diff(a.subList(0, 2), b.subList(0, 2));
		assertTrue(few.verdict().sentences().get(0).contains("95 % interval"), few.verdict().sentences().get(0));
		assertTrue(few.verdict().sentences().get(2).contains("Fewer than four runs on a side"), few.verdict().sentences().toString());
		assertTrue(diff(a, b.subList(0, 1)).verdict().sentences().get(2).contains("One run on a side: cannot tell how much is noise"));
	}

	@Test
	void readsAndWritesAreCompared() throws MemtraceException {
		TraceDiff d = diff(List.of(run("a", 4, true, true, "field")), List.of(run("b", 4, true, false, "field")));
		Comparison reads = metric(structure(d, "table").comparisons(), Metric.READS);
		assertEquals("2560.0 640.0 -0.75", reads.before() + " " + reads.after() + " " + reads.change());
		assertEquals(0, metric(structure(d, "field").comparisons(), Metric.WRITES).change());
		assertEquals(64.0 * INTERVALS + 640, metric(d.whole(), Metric.WRITES).after());
		assertTrue(FailIf.of("reads of table<-50%").judge(d).failed());
		assertFalse(FailIf.of("writes of field>+1%").judge(d).failed());
		String text = DiffText.text(d, List.of());
		assertTrue(text.contains("reads") && text.contains("2,560 -> 640"), text);
		assertTrue(text.replaceAll("\\s+", " ").contains("Reads and writes are counted records: how many"), text);
		assertTrue(DiffTable.csv(d.structures()).lines().anyMatch(l -> l.startsWith("table,") && l.contains(",2560,640,-1920,")),
				DiffTable.csv(d.structures()));
		// one side counts accesses, the other one page faults: the numbers have nothing to do with each other
		TraceDiff other = diff(List.of(in("a", "guarantee_counts", "exact")), List.of(in("b", "guarantee_pages", "complete")));
		assertEquals(List.of("reads and writes count different things (accesses and page faults) and are not compared"), other.warnings());
		assertTrue(other.whole().stream().noneMatch(c -> c.metric().isCount()));
	}

	/** Two builds side by side are one program, whatever their files are called. */
	@Test
	void twoBuildsHaveTwoNames() throws MemtraceException {
		PlantedTrace fixed = program("b", 4, false, false, "field", INTERVALS);
		fixed.application = "/tmp/app_fixed";
		TraceDiff d = diff(List.of(run("a", 4, true, false, "field")), List.of(new Run("b", fixed.advise())));
		assertEquals(List.of("the programs have other names: work and app_fixed; they are compared as builds of one program"), d.warnings());
		assertTrue(only(d).worked());
		assertEquals(2, d.structures().stream().filter(s -> s.inA() > 0 && s.inB() > 0).count(), "all are matched");
		assertEquals(1, FindingCards.of(d).warnings().stream().filter(w -> w.contains("app_fixed")).count(), "told once");
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
