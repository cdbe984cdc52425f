// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.findings.price.Price;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.Ticks.Access;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Findings are ordered by what they cost on the recorded machine; where that is not known they say why. */
class PriceTest {
	private static final int INTERVALS = 40;
	private static final int PAGES = 400;
	/** A column of a matrix in memory costs ten times what a walk along it does: 0.4 ns. */
	private static final String MACHINE = "l2_bytes=65536 fault=1000,900,1100 unmap_page=200,190,210 read_1=0.04,0.038,0.042 "
			+ "write_1=0.05,0.048,0.052 sweep_l2=0.4,0.4,0.4 sweep_column=4,3.8,4.2 sweep_column_16k=8,7.8,8.2 sweep_column_l3=0.4,0.4,0.4 "
			+ "write_own_line=1,0.9,1.1 write_shared_line=4,3.5,5";
	private static final long IN_SWEEP = 0x1000;
	private static final long IN_COUNT = 0x2000;
	private static final long ELSEWHERE = 0x3000;

	private final PlantedTrace trace = new PlantedTrace(2, INTERVALS);

	private Price price(String rule) throws MemtraceException {
		Advisor advisor = trace.advise().withSmall();
		return advisor.findings().stream().filter(f -> f.rule().equals(rule)).findFirst()
				.orElseThrow(() -> new AssertionError(AdviceText.text(advisor))).price();
	}

	/** An image that is walked down its columns. */
	private int image() {
		int s = trace.structure("image", StructureKind.HEAP, PAGES);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < PAGES; p++) {
				int offset = 64 * (5 + i % 40) + 8;
				trace.access(s, p, i, trace.owner(p, PAGES), 1, 1, offset, offset);
			}
		}
		code();
		return s;
	}

	private void code() {
		trace.code(IN_SWEEP, "sweep", "work.c", 10);
		trace.code(IN_COUNT, "count", "work.c", 20);
		trace.code(ELSEWHERE, "other", "work.c", 30);
	}

	private int counters() {
		int s = trace.structure("counters", StructureKind.STATIC, 1);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < 2; k++) {
				trace.access(s, 0, i, k, 1, 1, 8 * k, 8 * k);
			}
		}
		return s;
	}

	private static void near(double expected, double value) {
		assertEquals(expected, value, 0.01);
	}

	/** 60 % of the ticks are at it; 90 % of what an access takes can go. The interval has the ticks', the machine's and the model's error. */
	@Test
	void aSweepCostsItsTimeTimesWhatTheMachineTakesLonger() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 600);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 600, 400);
		Price p = price("strided");
		assertEquals(Price.Kind.KNOWN, p.kind());
		near(0.6 * 0.9, p.share());
		assertTrue(p.low() > 0.4 && p.low() < 0.45, p.toString());
		assertTrue(p.high() > 0.62 && p.high() < 0.64, p.toString());
		Finding f = trace.advise().findings().get(0);
		assertEquals("high", f.severity().id());
		assertTrue(f.worth().startsWith("costs 54 % of its running time here (4"), f.worth());
		String text = AdviceText.text(trace.advise());
		assertTrue(text.contains("1. image: strided sweep (costs 54 % of its running time here"), text);
		assertFalse(text.contains("severity"), text);
	}

	/** Instructions that work with what a load brings wait for it, too: where most of the time is there only a bound is known. */
	@Test
	void whatTheLoopComputesMayWaitForIt() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 130);
		trace.ticks(-1, 0, null, 0, 0, IN_SWEEP, 130, 870);
		Price p = price("strided");
		assertEquals(Price.Kind.AT_MOST, p.kind());
		assertTrue(p.high() > 0.9, p.toString());
		assertTrue(trace.advise().findings().get(0).worth().startsWith("severity medium, cost not known, at most "), p.toString());
	}

	/** What fits a cache is walked in any order. */
	@Test
	void aSweepOfWhatFitsACacheCostsNothing() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE.replace("l2_bytes=65536", "l2_bytes=4194304"));
		trace.ticks(image(), 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 1000);
		near(0, price("strided").share());
	}

	/** First what costs most, whatever its rule thinks of itself; what costs less than 1 % is no finding, but told. */
	@Test
	void theFirstFindingIsWhatCostsMost() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		int counters = counters();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 600);
		trace.ticks(image, 8, Access.BOTH, 1, 1, IN_SWEEP, 0, 600);
		trace.ticks(counters, 0, Access.BOTH, 0, 0, IN_COUNT, 600, 100);
		trace.ticks(counters, 8, Access.BOTH, 1, 1, IN_COUNT, 600, 100);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 700, 100);
		assertEquals(List.of("strided", "false-sharing"), trace.advise().findings().stream().map(Finding::rule).toList());
	}

	@Test
	void whatCostsLittleIsNoFinding() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 1);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 1, 5000);
		Advisor advisor = trace.advise();
		assertEquals(List.of(), advisor.findings());
		assertEquals(List.of("strided"), advisor.small().stream().map(Finding::rule).toList());
		String text = AdviceText.text(advisor);
		assertTrue(text.contains("Small here, less than 1 % of the run") && text.contains("- image: strided sweep:"), text);
		JsonObject json = JsonParser.parseString(AdviceJson.json(advisor, List.of())).getAsJsonObject();
		assertEquals(0, json.getAsJsonArray("findings").size());
		assertEquals("image", json.getAsJsonArray("small").get(0).getAsJsonObject().getAsJsonArray("structures").get(0).getAsString());
		assertEquals(1, advisor.withSmall().findings().size());
		assertTrue(AdviceText.text(advisor.withSmall()).contains("1. image: strided sweep (costs less than 1 % here"), text);
		FindingCards cards = FindingCards.of("t", advisor);
		assertEquals("No finding costs 1 % of the run or more", cards.heading());
		assertTrue(cards.warnings().stream().anyMatch(w -> w.startsWith("small here, less than 1 % of the run: image: strided sweep:")),
				cards.warnings().toString());
		assertTrue(cards.whyNot().stream().anyMatch(w -> w.reason().endsWith("all conditions hold, but it costs less than 1 % of the run here")),
				cards.whyNot().toString());
		String report = trace.report(1000);
		assertTrue(report.contains("\"small\":[\"image: strided sweep: "), report);
	}

	/** Two threads on two CPUs, 30 of 40 ms in which both run at the counters. */
	@Test
	void falseSharingIsJudgedWhileBothRun() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int counters = counters();
		code();
		for (int k = 0; k < 2; k++) {
			trace.ticks(counters, 8 * k, Access.BOTH, k, k, IN_COUNT, 0, 150);
			trace.ticks(-1, 0, null, k, k, ELSEWHERE, 150, 50);
			trace.ticks(counters, 8 * k, Access.BOTH, k, k, IN_COUNT, 200, 150);
			trace.ticks(-1, 0, null, k, k, ELSEWHERE, 350, 50);
		}
		Price p = price("false-sharing");
		// 600 of 800; all lies between the first and the last of them but 100; three quarters of a shared write can go, or all
		near(0.75 * 700 / 800 * (0.75 + 1) / 2, p.share());
		assertTrue(p.low() < 0.5 && p.low() > 0.3, p.toString());
		assertTrue(p.high() > 0.66 && p.high() < 0.72, p.toString());
	}

	@Test
	void falseSharingOfThreadsThatDidNotRunTogetherIsNotKnown() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int counters = counters();
		code();
		trace.ticks(counters, 0, Access.BOTH, 0, 0, IN_COUNT, 0, 300);
		trace.ticks(counters, 8, Access.BOTH, 1, 1, IN_COUNT, 400, 300);
		Price p = price("false-sharing");
		assertEquals(Price.Kind.NOT_KNOWN, p.kind());
		assertEquals("the threads did not run together: 0 ticks while another thread ran", p.why());
		assertFalse(p.isSmall());
	}

	private static String line(String summary, String head) {
		String[] lines = summary.split("\n");
		for (int i = 0; i < lines.length; i++) {
			if (lines[i].startsWith(head + " ")) {
				StringBuilder b = new StringBuilder(lines[i].substring(11));
				for (int k = i + 1; k < lines.length && lines[k].startsWith("           "); k++) {
					b.append(' ').append(lines[k].strip());
				}
				return b.toString();
			}
		}
		throw new AssertionError(head + " is not in\n" + summary);
	}

	/** The first lines have the numbers of the sections below them. */
	@Test
	void theFirstLinesSayWhatTheRestSays() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 600);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 600, 400);
		String text = trace.summary();
		assertTrue(line(text, "Ran").matches(".* with 2 threads.*"), text);
		assertTrue(line(text, "Spent").startsWith("1 s in its own code (60 ± 3 % at accesses to image, 40.0 % computing); 0 ns in page faults"), text);
		assertTrue(line(text, "Time").contains("60 ± 3 % at accesses to image"), text);
		assertTrue(line(text, "First").startsWith("image: strided sweep, costs 54 % of its running time here"), text);
		assertTrue(text.contains("* image: strided sweep (costs 54 % of its running time here"), text);
		assertTrue(line(text, "Where").startsWith("sweep (work.c:10) needs most of the time at it"), text);
		assertFalse(line(text, "Not known").contains("what findings cost"), text);
	}

	/** A place that needs most time and writes first is one place. */
	@Test
	void aPlaceIsSaidOnce() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		trace.code(IN_SWEEP, "sweep", "work.c", 10);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 600);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 600, 400);
		assertEquals("sweep (work.c:10) needs most of the time at it and writes it first", line(trace.summary(), "Where"));
	}

	/** An address alone tells nobody whose code it is. */
	@Test
	void codeWithoutSymbolsHasItsFile() throws Exception {
		int image = image();
		trace.code(0x7700, "/usr/lib/libz.so.1", "", "", 0);
		trace.ticks(image, 8, Access.BOTH, 0, 0, 0x7700, 0, 600);
		assertEquals("libz.so.1 (0x7700) needs most of the time at it", line(trace.summary(), "Where"));
	}

	/** A process that ended, or became another program, does not live on until the trace ends. */
	@Test
	void whoEndedDoesNotWait() throws Exception {
		trace.imageOfThread.put(1, 1);
		trace.process(1, 2);
		image();
		trace.cpu(0, 1, PlantedTrace.INTERVAL);
		trace.cpu(1, 1, PlantedTrace.INTERVAL);
		String text = trace.summary();
		assertTrue(text.replaceAll("\\s+", " ").contains("in the other 40 µs that they lived, summed"), text);
	}

	@Test
	void theFirstLinesSayWhatIsNotKnown() throws Exception {
		image();
		String text = trace.summary();
		assertEquals("not known where its time went: there are no ticks", line(text, "Spent"));
		assertEquals("image: strided sweep, severity medium", line(text, "First"));
		assertTrue(line(text, "Not known").startsWith("what findings cost: the recording has no ticks; how long threads waited"), text);
	}

	@Test
	void theFirstLinesSayThatNothingCostsMuch() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE);
		int image = image();
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 1);
		trace.ticks(-1, 0, null, 0, 0, ELSEWHERE, 1, 5000);
		String text = trace.summary();
		assertEquals("nothing costs 1 % of the run or more here; 1 finding would be small: memtrace advise --all", line(text, "First"));
		assertTrue(text.contains("Nothing that costs 1 % of the run or more"), text);
		assertFalse(text.contains("no rule holds"), text);
	}

	/** One figure that was refused leaves those that need it without a price. */
	@Test
	void aFigureThatIsNotKnownIsSaid() throws Exception {
		trace.properties.put(TraceInfo.PROPERTY_MEASURED, MACHINE.replaceFirst("sweep_column=\\S+ ", ""));
		trace.ticks(image(), 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 1000);
		assertEquals("the figure sweep_column of the machine is not known (memtrace check --measure)", price("strided").why());
	}

	@Test
	void withoutTicksOrMeasurementNothingIsKnown() throws Exception {
		int image = image();
		assertEquals("the recording has no ticks", price("strided").why());
		assertTrue(trace.advise().findings().get(0).worth().startsWith("severity "));
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 0, 50);
		assertEquals("the recording has too few ticks", price("strided").why());
		trace.ticks(image, 8, Access.BOTH, 0, 0, IN_SWEEP, 50, 500);
		assertTrue(price("strided").why().startsWith("the machine was not measured"));
		String text = AdviceText.text(trace.advise());
		assertTrue(text.contains("What findings cost here is not known: the machine was not measured"), text);
	}
}
