// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.stream.StreamSupport;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.analysis.table.StructureSheet;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** What the page is told is what the presenters say; what cannot be meant is refused with a sentence. */
class AnswersTest {
	private static final String HOSTILE = "<img src=x onerror=alert(1)>\"'\u202e\u0000&";

	private static TraceServer server;
	private static HttpForTests http;
	private static TraceStore store;

	@BeforeAll
	static void start() throws Exception {
		store = SyntheticTrace.matrixMultiplication(20, 12);
		MadeTrace hostile = new MadeTrace(2, 20, 1_000_000);
		int s = hostile.structure(HOSTILE, 4);
		for (int i = 0; i < 20; i++) {
			hostile.access(i, s, i % 4, i % 2, 1, 1);
		}
		TraceStore second = hostile.open();
		server = TraceServer.start(List.of(new Source("matmul", () -> store), new Source(HOSTILE, () -> second)),
				new TraceServer.Settings(0, true, 60_000));
		http = new HttpForTests(server.address());
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	private static List<String> texts(JsonElement array) {
		return StreamSupport.stream(array.getAsJsonArray().spliterator(), false).map(JsonElement::getAsString).toList();
	}

	@Test
	void trace() throws IOException {
		JsonObject t = http.ask("trace");
		assertEquals("matmul", t.get("name").getAsString());
		assertEquals(120_000_000, t.get("duration").getAsLong());
		assertEquals(5, t.get("threads").getAsInt());
		assertEquals("type", t.getAsJsonArray("colours").get(0).getAsJsonObject().get("id").getAsString());
	}

	@Test
	void pictureHasTheSceneOfItsSize() throws IOException {
		JsonObject p = http.ask("picture?w=700&h=500");
		JsonObject scene = p.getAsJsonObject("scene");
		assertEquals(700, scene.get("w").getAsInt());
		assertEquals(500, scene.get("h").getAsInt());
		int[] length = {7, 7, 14, 8, 0, 9};
		JsonArray ops = scene.getAsJsonArray("ops");
		int i = 0;
		int shapes = 0;
		int texts = 0;
		while (i < ops.size()) {
			int kind = ops.get(i).getAsInt();
			texts += kind == 5 ? 1 : 0;
			i += kind == 4 ? 4 + 2 * ops.get(i + 1).getAsInt() : length[kind];
			shapes++;
		}
		assertEquals(ops.size(), i);
		assertTrue(shapes > 50 && texts > 5, shapes + " shapes, " + texts + " texts");
		assertTrue(texts(scene.get("texts")).containsAll(List.of("A", "B", "C")), scene.get("texts")::toString);
		assertEquals(0, p.getAsJsonObject("state").size());
	}

	@Test
	void levelOfDetail() throws IOException {
		JsonObject one = http.ask("picture?p=1");
		JsonObject all = http.ask("picture?p=0");
		assertEquals(1, one.get("p").getAsDouble());
		assertTrue(one.get("blocks").getAsInt() < all.get("blocks").getAsInt());
		assertEquals(0, all.get("loss_percent").getAsDouble(), 1e-9);
		JsonObject levels = http.ask("levels?all=1");
		assertTrue(levels.get("complete").getAsBoolean());
		JsonArray last = levels.getAsJsonArray("levels").get(levels.getAsJsonArray("levels").size() - 1).getAsJsonArray();
		assertEquals(one.get("blocks").getAsInt(), last.get(1).getAsInt());
		assertTrue(http.ask("picture?p=0.999").get("figures").getAsString().startsWith("p = 0.999 "), "the p that was asked for");
	}

	@Test
	void aDragSnapsToSlicesAndToAProducer() throws IOException {
		JsonObject p = http.ask("picture?w=800&h=600");
		JsonArray plot = p.getAsJsonArray("plot");
		double x = plot.get(0).getAsDouble();
		double y = plot.get(1).getAsDouble();
		double w = plot.get(2).getAsDouble();
		JsonObject flat = http.ask("target?w=800&h=600&x0=" + x + "&y0=" + (y + 3) + "&x1=" + (x + w / 2) + "&y1=" + (y + 4))
				.getAsJsonObject("zoom");
		assertEquals(0, flat.get("from").getAsLong());
		assertFalse(flat.has("in"), "a flat drag is of time only");
		JsonObject at = http.ask("at?w=800&h=600&x=" + (x + w / 4) + "&y=" + (y + plot.get(3).getAsDouble() / 3));
		assertTrue(at.get("name").getAsString().matches("[ABC]"), at::toString);
		JsonObject zoomed = http.ask("picture?in=" + at.get("member").getAsInt());
		assertEquals(at.get("name").getAsString(),
				zoomed.getAsJsonArray("path").get(0).getAsJsonObject().get("name").getAsString());
		assertFalse(http.ask("at?x=1&y=1").has("lines"));
	}

	@Test
	void structuresAreThoseOfTheSheet() throws Exception {
		AccessTable table = AccessTable.load(store, Progress.NONE);
		StructureSheet sheet = StructureSheet.of(table, store.structures(), store.info().startNs(), store.info().endNs(), -1, id -> "",
				Progress.NONE);
		int[] order = sheet.arrange("", false, Column.ACCESSES, true, Progress.NONE);
		JsonObject found = http.ask("structures?limit=3");
		assertEquals(order.length, found.get("all").getAsInt());
		assertEquals(3, found.getAsJsonArray("rows").size());
		for (int i = 0; i < 3; i++) {
			List<String> cells = texts(found.getAsJsonArray("rows").get(i).getAsJsonObject().get("cells"));
			for (Column c : Column.values()) {
				assertEquals(sheet.text(c, order[i]), cells.get(c.ordinal()), c::name);
			}
		}
		assertEquals(1, http.ask("structures?words=" + HttpForTests.encoded("pids")).get("all").getAsInt());
		assertEquals(0, http.ask("structures?words=" + HttpForTests.encoded("/(a+)+$/")).get("all").getAsInt(), "a text, no regular expression");
		assertEquals(0, http.ask("structures?offset=100000").getAsJsonArray("rows").size());
		assertEquals(sheet.toCsv(order).lines().count(), http.get("/api/structures.csv").body().lines().count());
	}

	@Test
	void findingsAreThoseOfTheAdvisor() throws Exception {
		FindingCards cards = FindingCards.of("matmul", Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE));
		JsonObject found = http.ask("findings");
		assertEquals(cards.heading(), found.get("heading").getAsString());
		assertEquals(cards.cards().size(), found.getAsJsonArray("cards").size());
		assertFalse(cards.cards().isEmpty());
		for (int n = 0; n < cards.cards().size(); n++) {
			assertEquals(cards.cards().get(n).name(), found.getAsJsonArray("cards").get(n).getAsJsonObject().get("name").getAsString());
			JsonObject to = http.ask("finding?n=" + n);
			assertTrue(to.get("reason").getAsString().startsWith("Shown for finding " + cards.cards().get(n).name()), to::toString);
			String by = cards.cards().get(n).finding().view();
			assertEquals(by.equals(BasicDimensions.TYPE.id()) ? null : by,
					to.getAsJsonObject("zoom").has("by") ? to.getAsJsonObject("zoom").get("by").getAsString() : null);
			assertEquals(200, http.get("/api/picture?in=" + to.getAsJsonObject("zoom").get("in").getAsInt()).status());
		}
	}

	@Test
	void sumsAreThoseOfTheStatistics() throws Exception {
		List<Statistics.Item> items = Statistics.of(AccessTable.load(store, Progress.NONE), Statistics.Sum.ACCESSES, BasicDimensions.THREAD,
				store.info().startNs(), store.info().endNs(), -1, Progress.NONE);
		JsonObject found = http.ask("sums?key=thread");
		assertEquals(items.size(), found.get("all").getAsInt());
		double most = items.stream().mapToDouble(Statistics.Item::value).max().orElseThrow();
		assertEquals(Units.count(most), texts(found.getAsJsonArray("rows").get(0).getAsJsonObject().get("cells")).get(1));
	}

	@Test
	void accessesStopAtTheLimit() throws Exception {
		JsonObject some = http.ask("accesses?limit=5");
		assertEquals(5, some.getAsJsonArray("rows").size());
		assertFalse(some.get("complete").getAsBoolean());
		assertEquals("0.000000", texts(some.getAsJsonArray("rows").get(0).getAsJsonObject().get("cells")).get(0));
		JsonObject all = http.ask("accesses?limit=1000&trace=1");
		assertTrue(all.get("complete").getAsBoolean());
		assertEquals(20, all.getAsJsonArray("rows").size());
	}

	@ParameterizedTest
	@ValueSource(strings = {"density?w=500&h=200", "gantt?w=500&h=200", "gantt?w=500&h=200&rows=THREAD", "gantt?w=500&h=200&first=3",
			"density?w=500&h=200&by=thread", "gantt?w=500&h=200&first=9999999"})
	void chartsAreScenes(String target) throws IOException {
		JsonObject found = http.ask(target);
		assertEquals(500, found.getAsJsonObject("scene").get("w").getAsInt());
		assertTrue(found.getAsJsonObject("scene").getAsJsonArray("ops").size() > 100);
		assertEquals(0, found.get("from").getAsLong());
	}

	@Test
	void sourceIsOnlyWhatTheTraceNames() throws IOException {
		JsonArray files = http.ask("sources").getAsJsonArray("files");
		assertEquals(1, files.size());
		assertEquals("matmul.c", files.get(0).getAsJsonObject().get("name").getAsString());
		JsonObject file = http.ask("source?id=0");
		assertTrue(file.get("note").getAsString().startsWith("The file is not on this machine"));
		for (String id : List.of("1", "-1", "99999999", "/etc/passwd", "..", "")) {
			HttpForTests.Reply r = http.get("/api/source?id=" + HttpForTests.encoded(id));
			assertTrue(r.status() == 400 || r.status() == 404, id + ": " + r.head());
		}
		assertEquals("made.c", http.ask("sources?trace=1").getAsJsonArray("files").get(0).getAsJsonObject().get("name").getAsString());
	}

	@Test
	void namesComeAsTheyAreAndNeverAsMarkup() throws IOException {
		HttpForTests.Reply r = http.get("/api/structures?trace=1");
		assertTrue(r.head().contains("application/json"), r.head());
		String name = texts(r.json().getAsJsonArray("rows").get(0).getAsJsonObject().get("cells")).get(0);
		assertTrue(name.startsWith("<img src=x onerror=alert(1)>"), name);
		assertTrue(texts(http.ask("traces").get("traces")).contains(HOSTILE));
		HttpForTests.Reply svg = http.get("/api/picture.svg?trace=1");
		assertEquals(200, svg.status());
		assertFalse(svg.body().contains("<img"), "markup in SVG");
		assertTrue(svg.head().contains("attachment; filename=\"picture.svg\""), svg.head());
	}

	@ParameterizedTest
	@ValueSource(strings = {"trace?trace=2", "trace?trace=-1", "trace?trace=x", "picture?w=0", "picture?w=100000000", "picture?h=-5",
			"picture?p=2", "picture?p=NaN", "picture?p=-0.1", "picture?p=Infinity", "picture?from=-1", "picture?from=5&to=5",
			"picture?to=99999999999999999999",
			"picture?in=-2", "picture?in=100000000", "picture?by=nothing", "picture?by=../../x", "picture?f=x", "picture?f=%7B", "picture?f=[[[[",
			"picture?f=%00", "picture?m=1,", "picture?m=999999999", "picture?m=-1", "picture?theme=x", "picture?font=1e9", "picture?w=1&w=2",
			"at?x=x", "at?x=1e999", "structures?limit=0", "structures?limit=1000000", "structures?sort=drop",
			"structures?offset=-1",
			"structures?descending=2", "finding?n=-1", "finding?n=99999", "finding?n=", "target?x0=NaN", "levels?all=9",
			"picture.svg?w=x", "sums?key=x", "accesses?limit=1001", "gantt?rows=x", "gantt?first=-1", "density?h=1"})
	void whatCannotBeMeantIsRefused(String target) throws IOException {
		HttpForTests.Reply r = http.get("/api/" + target);
		assertTrue(r.status() == 400 || r.status() == 404, r.head() + r.body());
		assertFalse(r.json().get("error").getAsString().isEmpty());
	}

	@Test
	void manyValuesAreRefused() throws IOException {
		StringBuilder b = new StringBuilder("/api/trace?a=1");
		for (int i = 0; i < 100; i++) {
			b.append("&a").append(i).append("=1");
		}
		assertEquals(400, http.get(b.toString()).status());
	}
}
