// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.ThreadInfo;
import org.memtrace.views.extensions.ExtensionBundles;
import org.memtrace.views.help.AboutTexts;
import org.memtrace.views.view.TraceView;
import org.osgi.framework.Bundle;

/** The example bundles are installed into the running workbench, used, and taken away; that of the view is there at its start. */
class ExtensionsTest extends UiTest {
	private static final Path EXAMPLES = Path.of(System.getProperty("memtrace.root")).resolve("examples/extensions");
	private final List<Bundle> installed = new ArrayList<>();

	@AfterEach
	void uninstall() throws Exception {
		for (Bundle b : installed) {
			if (b.getState() != Bundle.UNINSTALLED) {
				b.uninstall();
			}
		}
	}

	private Bundle install(String kind) throws Exception {
		String name = "org.memtrace.example." + kind;
		Bundle bundle = ExtensionBundles.install(EXAMPLES.resolve(name).resolve("target").resolve(name + "-0.1.0-SNAPSHOT.jar"));
		installed.add(bundle);
		return bundle;
	}

	private static List<String> rules() {
		return Rules.all().stream().map(Rule::id).toList();
	}

	private static List<String> readers() {
		return InputReaders.all().stream().map(InputReader::id).toList();
	}

	@Test
	void rulesAndReadersComeAndGoWithTheirBundles() throws Exception {
		assertFalse(rules().contains("huge-pages"));
		Bundle rule = install("rule");
		bot.waitFor("the rule", () -> rules().contains("huge-pages"));
		Bundle reader = install("reader");
		bot.waitFor("the reader", () -> readers().contains("lines"));
		Path log = Files.writeString(directory.resolve("some.log"), "LINES\n10 a start\n20 b stop\n");
		assertEquals("lines", InputReaders.detect(List.of(log)).reader());
		rule.uninstall();
		bot.waitFor("no rule", () -> !rules().contains("huge-pages"));
		reader.uninstall();
		bot.waitFor("no reader", () -> !readers().contains("lines"));
	}

	@Test
	void metricsAndDimensionsComeAndGoWithTheirBundles() throws Exception {
		Bundle metric = install("metric");
		bot.waitFor("the metric", () -> Metric.byId("read-and-write") != null);
		Bundle dimension = install("dimension");
		bot.waitFor("the dimension", () -> Dimensions.find("thread_role", Use.COLOUR) != null);
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForViews();
		List<String> offered = bot.ui(() -> bot.all(Combo.class).stream().flatMap(c -> Arrays.stream(c.getItems())).toList());
		assertTrue(offered.contains("Accesses to what is read and written"), offered.toString());
		assertTrue(offered.contains("Roles of threads"), offered.toString());
		metric.uninstall();
		bot.waitFor("no metric", () -> Metric.byId("read-and-write") == null);
		dimension.uninstall();
		bot.waitFor("no dimension", () -> Dimensions.find("thread_role", Use.COLOUR) == null);
	}

	@Test
	void viewOfAnArchiveThatWasThereAtTheStartShowsTheTrace() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		TraceView view = bot.ui(() -> show("org.memtrace.example.view.threads"));
		bot.waitFor("rows", () -> !rows().isEmpty());
		waitForViews();
		List<String> names = bot.ui(ExtensionsTest::rows);
		List<String> threads = bot.ui(() -> session.trace().threads().stream().map(ThreadInfo::name).toList());
		assertTrue(names.size() <= threads.size(), names + " of " + threads);
		assertTrue(bot.ui(() -> List.of(page().getShowViewShortcuts())).contains("org.memtrace.example.view.threads"));
		bot.shot("extension-view");
		bot.run(() -> page().hideView(view));
	}

	/** About says which bundles add something, and what: also what cannot be used, as long as its bundle is there. */
	@Test
	void aboutTellsWhatIsInstalled() throws Exception {
		String before = bot.ui(AboutTexts::extensions);
		assertTrue(before.contains("  org.memtrace.example.view") && before.contains("    view Threads"), before);
		assertFalse(before.contains("reader lines"), before);
		List<Bundle> bundles = List.of(install("reader"), install("rule"), install("metric"), install("dimension"));
		List<String> added = List.of("    reader lines", "    rule huge-pages", "    metric read-and-write", "    dimension thread_role");
		bot.waitFor("all of them", () -> added.stream().allMatch(l -> AboutTexts.extensions().lines().anyMatch(l::equals)));
		String text = bot.ui(AboutTexts::extensions);
		assertTrue(text.lines().anyMatch(l -> l.matches("  org\\.memtrace\\.example\\.rule +0\\.1\\.0\\S* +EPL-2\\.0")), text);
		bot.run(() -> AboutTexts.open(page().getWorkbenchWindow().getShell()));
		bot.shot("about-extensions");
		bot.run(AboutTexts::close);
		for (Bundle b : bundles) {
			b.uninstall();
		}
		bot.waitFor("none of them", () -> AboutTexts.extensions().equals(before));
	}

	/** Of the table of the example. */
	private static List<String> rows() {
		Table table = find(page().getWorkbenchWindow().getShell());
		return table == null ? List.of() : Arrays.stream(table.getItems()).map(TableItem::getText).toList();
	}

	private static Table find(Composite in) {
		for (Control c : in.getChildren()) {
			if (c instanceof Table t && t.getColumnCount() == 2 && t.getColumn(1).getText().equals("Accesses")) {
				return t;
			}
			Table below = c instanceof Composite part ? find(part) : null;
			if (below != null) {
				return below;
			}
		}
		return null;
	}

	@Test
	void whatCannotBeUsedIsToldInOneSentence() throws Exception {
		Path archive = directory.resolve("nothing.jar");
		Manifest manifest = new Manifest();
		Attributes a = manifest.getMainAttributes();
		a.put(Attributes.Name.MANIFEST_VERSION, "1.0");
		a.putValue("Bundle-ManifestVersion", "2");
		a.putValue("Bundle-SymbolicName", "org.nowhere;singleton:=true");
		a.putValue("Bundle-Version", "1.0.0");
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(archive), manifest)) {
			jar.putNextEntry(new JarEntry("plugin.xml"));
			jar.write("<plugin><extension point=\"org.memtrace.views.rules\"><rule class=\"org.nowhere.Nothing\"/></extension></plugin>"
					.getBytes(StandardCharsets.UTF_8));
		}
		int before = rules().size();
		installed.add(ExtensionBundles.install(archive));
		forgive("org.nowhere.Nothing of org.nowhere cannot be used at org.memtrace.views.rules: ");
		assertEquals(before, rules().size());
		Path text = Files.writeString(directory.resolve("text.jar"), "no archive");
		ExtensionBundles.install(directory, text.toString());
		forgive(text + ": the extension cannot be used: ");
		ExtensionBundles.install(directory, "/nowhere");
		forgive("MEMTRACE_EXTENSIONS names /nowhere");
	}
}
