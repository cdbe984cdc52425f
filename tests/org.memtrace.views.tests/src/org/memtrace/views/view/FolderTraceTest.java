// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.export.ParquetExport;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** A Parquet folder is opened where it is, and all views show of it what they show of the database that it was exported from. */
class FolderTraceTest extends UiTest {
	private static final String CACHE = "memtrace.cache";
	private Path folder;

	@BeforeEach
	void export() throws Exception {
		Path jar = Path.of(System.getProperty("memtrace.root"), "build", "test-lib", DuckDbLibrary.fileName());
		assumeTrue(Files.isRegularFile(jar), "no DuckDB in build/test-lib");
		System.setProperty(DuckDbLibrary.PROPERTY, jar.toString());
		System.setProperty(CACHE, directory.resolve("cache").toString());
		folder = Files.createTempDirectory(directory, "sample");
		try (TraceStore store = session.catalogue().open(sample.id())) {
			assertTrue(ParquetExport.byMemory(store, AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL), folder, true,
					Progress.NONE));
		}
	}

	@AfterEach
	void forget() {
		System.clearProperty(CACHE);
		System.clearProperty(DuckDbLibrary.PROPERTY);
	}

	private void showAll() {
		for (String id : SynchronisationTest.ids()) {
			bot.run(() -> {
				try {
					if (id.equals(ViewIds.EVENTS) && page().findView(id) != null) {
						page().hideView(page().findView(id));
					}
					page().showView(id, null, IWorkbenchPage.VIEW_CREATE);
				} catch (PartInitException e) {
					throw new AssertionError(id, e);
				}
			});
		}
	}

	/** The numbers that each view would save when it is seen. */
	private Map<String, String> numbers() {
		Map<String, String> numbers = new TreeMap<>();
		for (TraceView v : bot.ui(UiTest::views)) {
			bot.run(() -> page().bringToTop(v));
			waitForViews(v.getClass().getSimpleName());
			Snapshot s = bot.ui(v::snapshot);
			if (s != null && s.csv() != null) {
				numbers.put(bot.ui(() -> v.getViewSite().getId()), s.csv().get());
			}
		}
		return numbers;
	}

	@Test
	void allViewsShowOfAFolderWhatTheyShowOfItsDatabase() {
		showAll();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		Map<String, String> wanted = numbers();
		assertTrue(wanted.keySet().containsAll(List.of(ViewIds.STRUCTURES, ViewIds.EVENTS, ViewIds.FINDINGS)), wanted.keySet().toString());
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		Map<String, String> filtered = numbers();
		bot.run(() -> session.forget(t -> true));

		bot.run(() -> session.opener().open(folder.toString()));
		bot.waitFor("the folder", () -> session.trace() != null && session.trace().file() != null);
		waitForPicture("small matmul");
		assertEquals(folder.toAbsolutePath().normalize(), bot.ui(() -> session.trace().file().path()));
		Map<String, String> found = numbers();
		wanted.forEach((id, csv) -> assertEquals(csv, found.get(id), id));
		bot.run(() -> page().activate(page().findView(ViewIds.STRUCTURES)));
		bot.shot("folder");
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		Map<String, String> foundFiltered = numbers();
		filtered.forEach((id, csv) -> assertEquals(csv, foundFiltered.get(id), id));
	}

	@Test
	void whatCannotBeOpenedIsTold() throws Exception {
		Files.delete(folder.resolve(ParquetFolder.REST));
		bot.run(() -> session.opener().open(folder.toString()));
		bot.waitFor("a sentence", () -> bot.all(Label.class).stream().anyMatch(l -> l.getText().contains("export the whole trace again")));
		bot.closeDialogs();
		forgive("export the whole trace again");
	}
}
