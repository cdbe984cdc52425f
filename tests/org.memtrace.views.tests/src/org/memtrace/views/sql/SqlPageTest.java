// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.nebula.widgets.nattable.NatTable;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.answer.AnswerChart;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.storage.Stores;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** Questions in SQL, with real keys and the real engine. */
class SqlPageTest extends UiTest {
	private static final String CACHE = "memtrace.cache";
	private static final String BY_STRUCTURE = "select structure, count(*) as records, sum(reads) as reads, min(page_start) as first, null as x"
			+ " from access group by structure order by structure";
	private static final String BEFORE = "nothing was asked yet";
	private SqlPage view;

	@BeforeEach
	void open() throws Exception {
		System.setProperty(CACHE, directory.resolve("cache").toString());
		view = bot.ui(() -> show(ViewIds.SQL));
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForViews();
	}

	@AfterEach
	void forget() {
		System.clearProperty(CACHE);
		System.clearProperty(DuckDbLibrary.PROPERTY);
		bot.run(() -> page().hideView(view));
	}

	/** The engine that the build fetches for tests. */
	private static void engine() throws Exception {
		Path folder = Path.of(System.getProperty("memtrace.root"), "build", "test-lib");
		Path jar = folder.resolve(DuckDbLibrary.fileName());
		assumeTrue(Files.isDirectory(folder) && Files.isRegularFile(jar), "no DuckDB in " + folder);
		System.setProperty(DuckDbLibrary.PROPERTY, jar.toString());
	}

	private void ask(String sql) {
		bot.run(() -> {
			view.editor().text(sql);
			view.editor().control().setFocus();
			view.say(BEFORE); // the key may come later than the next question of this test
		});
		bot.key("ctrl+Return");
		bot.waitFor("answer to " + sql, () -> view.isSettled() && !view.status().startsWith("Asking") && !view.status().equals(BEFORE));
	}

	@Test
	void aStatementIsAnsweredDrawnAndExported() throws Exception {
		engine();
		ask(BY_STRUCTURE);
		assertEquals("3 rows", bot.ui(view::status));
		assertEquals(List.of("A", "B", "C"), bot.ui(() -> Stream.of(0, 1, 2).map(r -> view.text(0, r)).toList()));
		assertEquals("NULL", bot.ui(() -> view.text(4, 0)));
		AnswerChart chart = bot.ui(view::chart);
		assertEquals(List.of(AnswerChart.Kind.BARS, 0, 1), List.of(chart.kind(), chart.by(), chart.value()));
		NatTable table = (NatTable) bot.ui(() -> view.grid().control());
		bot.click(table, bot.ui(() -> view.grid().cellBounds(0, 1)));
		bot.waitFor("B is marked", () -> session.trace().selection().mark() == SampleTrace.B);
		assertArrayEquals(new int[] {SampleTrace.B}, bot.ui(() -> session.trace().selection().marks()));
		bot.run(() -> {
			var text = view.editor().control();
			assertTrue(text.getBounds().x + text.getBounds().width <= text.getParent().getClientArea().width,
					"the statement is as wide as its place");
		});
		bot.shot("sql-bars");
		Rectangle head = bot.ui(() -> view.grid().headBounds(0, false));
		bot.click(table, head.x + 10, head.y + 8);
		bot.waitFor("in order", () -> view.grid().sortColumn() == 0 && !view.grid().isDescending());
		bot.click(table, head.x + 40, head.y + 8); // elsewhere: no double click
		bot.waitFor("the other order", () -> view.text(0, 0).equals("C"));
		assertEquals(BY_STRUCTURE, KeptStatements.get().statements().get(0));

		ask("select nothing from access");
		assertTrue(bot.ui(view::status).contains("nothing"), bot.ui(view::status));
		assertEquals(3, bot.ui(view::rowCount), "the answer before stays");
		assertEquals(BY_STRUCTURE, KeptStatements.get().statements().get(0), "a wrong statement is not kept");

		Path json = directory.resolve("answer.json");
		export(json);
		assertTrue(Files.readString(json).startsWith("{\"schema\":\"memtrace.sql/1\",\"trace\":\"small matmul\",\"time_unit\":\"ns\","
				+ "\"sql\":\"select structure"), Files.readString(json));

		int rows = 2 * Question.MOST_ROWS;
		ask("select range as n, range * range as square from range(" + rows + ")");
		assertEquals(Question.MOST_ROWS, bot.ui(view::rowCount));
		assertTrue(bot.ui(view::status).contains("the answer has more"), bot.ui(view::status));
		assertEquals(AnswerChart.Kind.LINE, bot.ui(view::chart).kind());
		Path csv = directory.resolve("answer.csv");
		export(csv);
		List<String> lines = Files.readAllLines(csv);
		assertEquals(rows + 1, lines.size(), "all rows, not only those that are shown");
		assertEquals("n,square", lines.get(0));
		assertEquals(rows - 1 + "," + (rows - 1L) * (rows - 1), lines.get(rows));
		bot.shot("sql-line");
	}

	private void export(Path file) throws Exception {
		Job job = bot.ui(() -> view.export(file));
		job.join();
		bot.waitFor("written", () -> view.status().contains("written to " + file));
	}

	@Test
	void aLongStatementIsStopped() throws Exception {
		engine();
		bot.run(() -> {
			view.editor().text("select count(*) from range(100000000) a, range(1000000) b where a.range * b.range % 7 = 3");
			view.run();
		});
		assertFalse(bot.ui(view::isSettled));
		bot.run(view::stop);
		bot.waitFor("stopped", view::isSettled);
		assertEquals("Stopped.", bot.ui(view::status));
		ask("select 1 as one");
		assertEquals("1", bot.ui(() -> view.text(0, 0)));
		assertNull(bot.ui(view::chart), "one number is no chart");
	}

	@Test
	void proposalsAndQueries() {
		bot.run(() -> {
			view.editor().text("select s. from structure s");
			view.editor().control().setSelection(9);
			view.editor().control().setFocus();
		});
		bot.key("ctrl+space");
		bot.waitFor("proposals", view.editor()::isProposing);
		bot.shot("sql-proposals");
		bot.type("siz");
		bot.find(Table.class, p -> p.getItemCount() > 0 && p.getItem(0).getText().startsWith("size_bytes"));
		bot.key("Return");
		bot.waitFor("the column", () -> view.editor().text().equals("select s.size_bytes from structure s"));
		bot.waitFor("no proposals", () -> !view.editor().isProposing());
		assertTrue(bot.ui(view::examples).size() >= 30, "the queries of the help");
		assertNotNull(bot.ui(view::examples).get(0).sql());
	}

	/** What a person has to do, in one sentence. */
	@Test
	void withoutTheEngine() throws Exception {
		assumeTrue(DuckDbLibrary.find(Stores.defaultCatalogueDirectory()).isEmpty(), "DuckDB is installed here");
		ask("select 1");
		assertEquals(DuckDbLibrary.advice(), bot.ui(view::status));
	}
}
