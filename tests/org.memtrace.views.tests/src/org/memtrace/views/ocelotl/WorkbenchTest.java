// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.ImageLoader;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.StructureSheet;
import org.memtrace.model.Progress;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.structures.StructuresView;
import org.memtrace.views.view.SaveSnapshot;
import org.memtrace.views.view.Snapshot;

/** The whole workbench with real mouse and keys, on a trace with a known picture. */
class WorkbenchTest extends UiTest {
	private static final long WHOLE_NS = SampleTrace.STEPS * SampleTrace.STEP_NS;

	private OcelotlView view;

	@BeforeEach
	void showView() {
		view = bot.ui(() -> show(ViewIds.OCELOTL));
	}

	private void openSample() {
		bot.run(() -> session.opener().open(sample));
		settle();
		bot.run(() -> view.setFocus());
	}

	private void settle() {
		bot.waitFor("picture of the current state", () -> session.trace() != null && session.opening() == null && view.isSettled());
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	private int blocks() {
		return bot.ui(() -> session.status().blocks());
	}

	private Rectangle plot() {
		return bot.ui(() -> view.canvas().picture().plot());
	}

	/** Point of the picture by fractions of the plot. */
	private Point at(double x, double y) {
		Rectangle r = plot();
		return new Point(r.x + (int) (x * r.width), r.y + (int) (y * r.height));
	}

	@Test
	void emptyCatalogueTellsWhatToDo() throws Exception {
		session.catalogue().delete(sample.id());
		bot.run(session::catalogueChanged);
		bot.find(Label.class, l -> l.getText().equals("No traces yet"));
		bot.find(Text.class, t -> t.getText().equals("memtrace record -- ./app"));
		bot.find(Button.class, b -> b.getText().equals("Import…"));
		bot.shot("empty");
	}

	@Test
	void doubleClickInTheTreeOpensAndPaints() {
		Tree tree = bot.find(Tree.class, t -> t.getItemCount() == 1 && t.getItem(0).getItemCount() == 1);
		Rectangle item = bot.ui(() -> tree.getItem(0).getItem(0).getBounds());
		bot.doubleClick(tree, item.x + 10, item.y + item.height / 2);
		bot.waitFor("trace", () -> session.trace() != null);
		settle();
		bot.run(() -> view.canvas().update());
		bot.shot("opened");
		Map<RGB, Integer> colours = bot.colours(view.canvas());
		Palette palette = bot.ui(() -> ScenePainter.palette(view.canvas()));
		for (ModelType.Role role : List.of(ModelType.Role.PRIVATE_READ, ModelType.Role.PRIVATE_WRITE,
				ModelType.Role.SHARED_READ)) {
			RGB full = rgb(palette.color(new ModelType("", role, 0)));
			int near = colours.entrySet().stream().filter(e -> distance(e.getKey(), full) < 90)
					.mapToInt(Map.Entry::getValue).sum();
			assertTrue(near > 2000, role + ": only " + near + " pixels near " + full);
		}
		RGB never = rgb(palette.color(new ModelType("", ModelType.Role.SHARED_WRITE, 0)));
		int none = colours.entrySet().stream().filter(e -> distance(e.getKey(), never) < 20)
				.mapToInt(Map.Entry::getValue).sum();
		assertTrue(none < 1000, "nothing writes shared pages, but " + none + " pixels say so");
	}

	private static RGB rgb(int argb) {
		return new RGB(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff);
	}

	private static int distance(RGB a, RGB b) {
		return Math.abs(a.red - b.red) + Math.abs(a.green - b.green) + Math.abs(a.blue - b.blue);
	}


	@Test
	void openingADirectoryTwiceImportsItOnce() throws Exception {
		String example = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example").normalize().toString();
		bot.run(() -> session.opener().open(example));
		settle();
		bot.run(() -> session.show(null));
		bot.run(() -> session.opener().open(example));
		settle();
		assertEquals(2, session.catalogue().list().size());
	}

	@Test
	void sliderChangesTheNumberOfBlocks() {
		openSample();
		Scale slider = bot.ui(() -> view.level().slider());
		Point size = bot.ui(slider::getSize);
		bot.drag(slider, 1, knob(slider), new Point(size.x - 4, size.y / 2));
		bot.waitFor("simple", () -> session.trace().selection().state().p() > 0.95);
		settle();
		int simple = blocks();
		bot.drag(slider, 1, knob(slider), new Point(4, size.y / 2));
		bot.waitFor("detailed", () -> session.trace().selection().state().p() < 0.05);
		settle();
		int detailed = blocks();
		assertTrue(simple < detailed, simple + " blocks at p = 1, " + detailed + " at p = 0");
		double loss = bot.ui(() -> session.status().lossPercent());
		assertTrue(loss < 1e-6, "loss at p = 0 is " + loss);
	}

	private Point knob(Scale slider) {
		return bot.ui(() -> {
			Point size = slider.getSize();
			int margin = 14;
			return new Point(margin + (size.x - 2 * margin) * slider.getSelection() / slider.getMaximum(), size.y / 2);
		});
	}

	@Test
	void arrowKeysStepThroughLevelsAndHomeReturns() {
		openSample();
		int automatic = blocks();
		bot.run(() -> view.canvas().setFocus());
		bot.key("Left");
		bot.waitFor("finer", () -> session.status().blocks() > automatic && view.isSettled());
		assertFalse(state().isAutomaticP());
		bot.key("Home");
		bot.waitFor("automatic", () -> session.status().blocks() == automatic && view.isSettled());
		assertTrue(state().isAutomaticP());
	}

	@Test
	void curvesAreDrawnWhenTheyAreComputed() throws Exception {
		openSample();
		bot.waitFor("all levels", view::hasAllLevels);
		CurvesCanvas curves = bot.ui(() -> view.level().curves());
		assertFalse(hasText(curves, "computing"), "all is known");
		Description some = Description.compute(new Description.Input(session.trace(), state(), view.choice(), new Models()), Progress.NONE);
		bot.run(() -> {
			curves.show(some, 0.2);
			curves.found(0.4);
			curves.update();
		});
		bot.waitFor("what is computed", () -> hasText(curves, "computing… 40 %"));
		some.refine(view.choice(), Progress.NONE);
		bot.run(() -> {
			curves.show(some, 0.2);
			curves.update();
		});
		bot.waitFor("the curves", () -> curves.picture() != null && !hasText(curves, "computing"));
	}

	private boolean hasText(CurvesCanvas curves, String part) {
		return bot.ui(() -> curves.picture() != null && curves.picture().scene().shapes().stream()
				.anyMatch(s -> s instanceof Shape.Text t && t.text().contains(part)));
	}

	@Test
	void clickOnTheCurvesChoosesP() {
		openSample();
		CurvesCanvas curves = bot.ui(() -> view.level().curves());
		Point size = bot.ui(curves::getSize);
		bot.click(curves, size.x / 2, size.y / 2);
		bot.waitFor("p in the middle", () -> {
			double p = session.trace().selection().state().p();
			return p > 0.05 && p < 0.5;
		});
	}

	@Test
	void dragZoomsInTimeAndSpaceAndEscapeGoesBack() {
		openSample();
		ViewState before = state();
		// right half of the rows of A (the first third)
		bot.drag(view.canvas(), 1, at(0.5, 0.03), at(0.9, 0.28));
		bot.waitFor("zoom", () -> session.trace().selection().state().producer() == SampleTrace.A);
		settle();
		ViewState zoomed = state();
		assertTrue(Math.abs(zoomed.fromNs() - WHOLE_NS / 2) <= WHOLE_NS / 25, zoomed.toString());
		assertTrue(Math.abs(zoomed.toNs() - WHOLE_NS * 9 / 10) <= WHOLE_NS / 25, zoomed.toString());
		bot.shot("zoomed");
		bot.key("Escape");
		bot.waitFor("back", () -> session.trace().selection().state().equals(before));
		settle();
	}

	@Test
	void wheelZoomsAboutThePointerInOneStep() {
		openSample();
		ViewState before = state();
		Point p = at(0.25, 0.5);
		bot.wheel(view.canvas(), p.x, p.y, 3);
		bot.waitFor("zoom", () -> session.trace().selection().state().durationNs() < WHOLE_NS * 0.6);
		settle();
		ViewState zoomed = state();
		double at = zoomed.fromNs() + 0.25 * zoomed.durationNs();
		assertEquals(0.25 * WHOLE_NS, at, WHOLE_NS * 0.02);
		bot.key("BackSpace");
		bot.waitFor("back", () -> session.trace().selection().state().equals(before));
		settle();
	}

	@Test
	void doubleClickZoomsToABlock() {
		openSample();
		Point p = at(0.6, 0.5);
		ShownPicture.Hit hit = bot.ui(() -> view.canvas().picture().hit(p.x, p.y));
		bot.doubleClick(view.canvas(), p.x, p.y);
		bot.waitFor("zoom", () -> session.trace().selection().state().producer() == hit.producer());
		assertEquals(hit.fromNs(), state().fromNs());
		assertEquals(hit.toNs(), state().toNs());
		settle();
	}

	@Test
	void viewpointKeepsZoomAndLevel() {
		openSample();
		bot.drag(view.canvas(), 1, at(0.3, 0.5), at(0.8, 0.5));
		bot.waitFor("zoom", () -> session.trace().selection().state().durationNs() < WHOLE_NS);
		bot.run(() -> session.trace().selection().p(0.4));
		settle();
		ViewState before = state();
		bot.run(() -> view.bar().viewpoint().setFocus());
		bot.key("Down");
		bot.waitFor("threads", () -> session.trace().selection().state().viewpoint() == BasicDimensions.THREAD);
		assertEquals(before.withViewpoint(BasicDimensions.THREAD), state());
		settle();
		assertEquals(BasicDimensions.THREAD, bot.ui(() -> view.canvas().picture().model().viewpoint()));
		bot.shot("threads");
	}

	@Test
	void structuresAreMarkedBothWaysAndZoomed() {
		openSample();
		StructuresView structures = bot.ui(() -> show(ViewIds.STRUCTURES));
		bot.waitFor("rows", () -> structures.rowCount() == 3);
		bot.click(structures.grid().control(), bot.ui(() -> structures.grid().cellBounds(0, 1)));
		bot.waitFor("marked", () -> session.trace().selection().mark() > 0);
		Point p = at(0.5, 0.85);
		bot.click(view.canvas(), p.x, p.y);
		bot.waitFor("C marked", () -> session.trace().selection().mark() == SampleTrace.C);
		bot.waitFor("C selected", () -> structures.grid().selectedRow() >= 0
				&& structures.text(StructureSheet.Column.NAME, structures.grid().selectedRow()).startsWith("C"));
		Rectangle row = bot.ui(() -> structures.grid().cellBounds(0, structures.grid().selectedRow()));
		bot.doubleClick(structures.grid().control(), row.x + 10, row.y + row.height / 2);
		bot.waitFor("zoomed to C", () -> session.trace().selection().state().producer() == SampleTrace.C);
		settle();
	}

	@Test
	void pictureIsSavedAsSvgAndPng() throws Exception {
		openSample();
		Snapshot picture = bot.ui(() -> view.snapshot());
		Path svg = directory.resolve("picture.svg");
		SaveSnapshot.write(picture, SaveSnapshot.Format.SVG, svg, 900, 600, 1);
		String text = Files.readString(svg);
		assertTrue(text.contains("<title>small matmul</title>"), text.substring(0, 300));
		assertTrue(text.contains("information loss"), "the figures are in the file");
		Path png = directory.resolve("picture.png");
		for (int scale = 1; scale <= 2; scale++) {
			SaveSnapshot.write(picture, SaveSnapshot.Format.PNG, png, 900, 600, scale);
			ImageData data = new ImageLoader().load(png.toString())[0];
			assertEquals(scale * 900, data.width);
			assertEquals(scale * 600, data.height);
		}
	}

	@Test
	void detailsShowTheImportReport() {
		String example = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example").normalize().toString();
		bot.run(() -> session.opener().open(example));
		settle();
		Table details = bot.find(Table.class, t -> t.getColumnCount() == 2);
		String text = bot.ui(() -> {
			StringBuilder b = new StringBuilder();
			for (TableItem item : details.getItems()) {
				b.append(item.getText(0).strip()).append('=').append(item.getText(1)).append('\n');
			}
			return b.toString();
		});
		assertTrue(text.contains("Lost page faults=3\n"), text);
		assertTrue(text.contains("incomplete last lines=1\n"), text);
		assertTrue(text.contains("Command=./app --size 8192"), text);
		// where there is room no name is cut
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.DETAILS)));
		bot.waitFor("wide", () -> details.getClientArea().width > 900);
		bot.waitFor("whole names", () -> cutNames(details).isEmpty());
		bot.shot("details-wide");
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.DETAILS)));
		bot.waitFor("narrow, and values have more than half", () -> details.getClientArea().width < 500
				&& (details.getColumn(0).getWidth() <= details.getClientArea().width / 2 || details.getColumn(0).getWidth() < 160));
	}

	private static List<String> cutNames(Table details) {
		GC gc = new GC(details);
		List<String> cut = Stream.of(details.getItems()).filter(i -> {
			gc.setFont(i.getFont());
			return gc.textExtent(i.getText(0)).x > details.getColumn(0).getWidth();
		}).map(i -> i.getText(0)).toList();
		gc.dispose();
		return cut;
	}

	@Test
	void closingDuringAJobIsQuiet() {
		openSample();
		OpenTrace trace = bot.ui(session::trace);
		bot.run(() -> {
			for (int i = 0; i < 20; i++) {
				trace.selection().window(i * SampleTrace.STEP_NS, WHOLE_NS - i * SampleTrace.STEP_NS);
			}
			page().hideView(view);
			session.show(null);
		});
		bot.run(() -> view = show(ViewIds.OCELOTL));
		openSample();
		assertNotEquals(0, blocks());
	}
}
