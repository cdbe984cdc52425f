// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.cards;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.Map;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.findings.price.Price;
import org.memtrace.analysis.findings.rules.Severity;
import org.memtrace.analysis.findings.rules.Fix;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.Confidence;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.PlantedTrace;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerTree;

/** The list of findings without a display: a screen that writes down what it is told. */
class FindingsPresenterTest {
	private static final int INTERVALS = 20;
	private static final int THREADS = 4;

	private static final class Trace implements FindingsPresenter.Trace {
		private final Advisor advisor;
		private final ProducerTree tree;
		private final TraceSelection selection;
		private final TraceInfo info;
		private boolean accesses = true;
		private int asked;

		Trace(PlantedTrace planted, String name, String recorded) throws MemtraceException {
			advisor = planted.advise();
			tree = planted.tree();
			TraceInfo i = advisor.facts().info();
			info = new TraceInfo(i.id(), name, i.databaseName(), i.type(), i.application(), i.host(), i.operatingSystem(), i.cpus(), i.events(),
					i.producers(), i.startNs(), i.endNs(), Instant.parse(recorded), i.pageSizeBytes(), i.description(), i.properties());
			selection = new TraceSelection(tree, 0, INTERVALS * PlantedTrace.INTERVAL);
		}

		@Override
		public TraceInfo info() {
			return info;
		}

		@Override
		public ProducerTree producers() {
			return tree;
		}

		@Override
		public TraceSelection selection() {
			return selection;
		}

		@Override
		public boolean hasAccesses() {
			return accesses;
		}

		@Override
		public Advisor advisor(Progress progress) throws MemtraceException {
			progress.check();
			asked++;
			return advisor;
		}

		int producer(String name) {
			for (int id = 0; id < tree.size(); id++) {
				if (tree.name(id).equals(name)) {
					return id;
				}
			}
			throw new AssertionError(name);
		}
	}

	private static final class Screen implements FindingsPresenter.Screen {
		private FindingsPresenter.Question question;
		private FindingCards shown;
		private String said = "";
		private String copied = "";
		private int detail = -2;
		private int stops;

		@Override
		public void ask(FindingsPresenter.Question q) {
			question = q;
		}

		@Override
		public void stop() {
			stops++;
		}

		@Override
		public void show(FindingCards cards) {
			shown = cards;
		}

		@Override
		public void say(String text) {
			shown = null;
			said = text;
		}

		@Override
		public void detail(int card) {
			detail = card;
		}

		@Override
		public void copy(String text) {
			copied = text;
		}
	}

	private final Screen screen = new Screen();
	private final FindingsPresenter presenter = new FindingsPresenter(screen);

	/** Fields that thread 0 touches first, if {@code serial}, and a table in between that nothing is said about. */
	private static Trace fields(String name, String recorded, boolean serial, int fields) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(THREADS, INTERVALS);
		int[] ids = new int[2 * fields];
		for (int f = 0; f < fields; f++) {
			ids[2 * f] = t.structure("field" + f, StructureKind.HEAP, 64);
			ids[2 * f + 1] = t.structure("own" + f, StructureKind.HEAP, 16);
		}
		for (int i = 0; i < INTERVALS; i++) {
			for (int f = 0; f < fields; f++) {
				for (int p = 0; p < 64; p++) {
					t.write(ids[2 * f], p, i, i == 0 && serial ? 0 : t.owner(p, 64));
				}
				for (int p = 0; p < 16; p++) {
					t.write(ids[2 * f + 1], p, i, t.owner(p, 16));
				}
			}
		}
		return new Trace(t, name, recorded);
	}

	/** Pages 3 and 90 of a counter table are written by all threads, the others by one. */
	private static Trace hotPages() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(THREADS, INTERVALS);
		t.structure("quiet", StructureKind.HEAP, 40);
		int s = t.structure("histogram", StructureKind.HEAP, 100);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 100; p++) {
				t.write(s, p, i, t.owner(p, 100));
			}
			for (int p : new int[] {3, 90}) {
				for (int k = 0; k < THREADS; k++) {
					if (k != t.owner(p, 100)) {
						t.access(s, p, i, k, 1, 1, 8, 8);
					}
				}
			}
			for (int p = 0; p < 40; p++) {
				t.write(0, p, i, t.owner(p, 40));
			}
		}
		return new Trace(t, "hot", "2026-11-22T10:00:00Z");
	}

	private void load(Trace own, Trace linked) throws MemtraceException {
		presenter.traces(own, linked);
		presenter.load();
		presenter.answered(screen.question, screen.question.answer(Progress.NONE));
	}

	@Test
	void theFirstCardIsExplainedAndTheViewsStayWhereTheyAre() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", true, 1);
		ViewState before = t.selection().state();
		load(t, null);
		assertEquals("1 finding", screen.shown.heading());
		assertEquals("field0", screen.shown.cards().get(0).name());
		assertEquals("high", screen.shown.cards().get(0).label());
		assertSame(t.advisor.findings().get(0), screen.shown.cards().get(0).finding());
		assertEquals(0, screen.detail);
		assertEquals(before, t.selection().state());
		assertEquals(0, t.selection().marks().length);
	}

	@Test
	void aClickGoesToTheStructure() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", true, 1);
		load(t, null);
		t.selection().p(0.3);
		presenter.open(0);
		ViewState s = t.selection().state();
		assertEquals(t.producer("field0.0"), s.producer());
		assertSame(BasicDimensions.THREAD, s.viewpoint());
		assertTrue(s.isAutomaticP());
		assertTrue(s.filters().isEmpty(), "the structure alone is shown, there is nothing to hide");
		assertArrayEquals(new int[] {t.producer("field0.0")}, t.selection().marks());
		t.selection().back();
		assertEquals(0, t.selection().state().producer(), "one step");
		assertEquals(0.3, t.selection().state().p());
	}

	/** What a click changes in all views is said, and one step back brings all of it back: window, colours, level of detail and marks. */
	@Test
	void whatAClickChangesIsSaidAndTakenBack() throws MemtraceException {
		Trace t = hotPages();
		load(t, null);
		TraceSelection s = t.selection();
		s.p(0.3);
		s.mark(t.producer("quiet.0"));
		ViewState before = s.state();
		assertEquals("", s.reason());
		presenter.open(0);
		ViewState shown = s.state();
		int[] pages = s.marks();
		assertEquals("Shown for finding histogram: window 19 µs from 1 µs, memory of histogram.1, level of detail automatic", s.reason());
		s.back();
		assertEquals(before, s.state());
		assertArrayEquals(new int[] {t.producer("quiet.0")}, s.marks());
		assertEquals("", s.reason());
		s.forward();
		assertEquals(shown, s.state());
		assertArrayEquals(pages, s.marks());
		assertEquals("Shown for finding histogram: window 19 µs from 1 µs, memory of histogram.1, level of detail automatic", s.reason());
		s.window(0, PlantedTrace.INTERVAL);
		assertEquals("", s.reason(), "the user has gone on");
		s.mark(t.producer("quiet.0"));
		s.back();
		assertEquals(shown, s.state());
		assertArrayEquals(new int[] {t.producer("quiet.0")}, s.marks(), "a single step leaves the marks");
		assertTrue(s.reason().startsWith("Shown for finding histogram"));
		s.window(PlantedTrace.INTERVAL, 3 * PlantedTrace.INTERVAL);
		presenter.open(0);
		assertEquals("Shown for finding histogram: window 19 µs from 1 µs", s.reason());
		presenter.open(0);
		assertEquals("Shown for finding histogram", s.reason());
		s.back();
		assertEquals(PlantedTrace.INTERVAL, s.state().fromNs(), "the same again is no step");
	}

	/** The linked trace is shown for the same, and says so, too. */
	@Test
	void theLinkedTraceSaysForWhatItIsShown() throws MemtraceException {
		Trace a = fields("a", "2026-11-22T10:00:00Z", true, 1);
		Trace b = fields("b", "2026-11-22T11:00:00Z", true, 1);
		try (SelectionLink link = new SelectionLink(a.selection(), b.selection(), SelectionLink.Time.SINCE_START)) {
			load(a, null);
			presenter.open(0);
			assertEquals("Shown for finding field0: memory of field0.0, coloured by threads", a.selection().reason());
			assertEquals(a.selection().reason(), b.selection().reason());
			a.selection().back();
			assertEquals("", b.selection().reason());
			assertEquals(b.selection().initial(), b.selection().state());
			assertEquals(0, b.selection().marks().length);
		}
	}

	@Test
	void hotPagesAreMarkedOneByOne() throws MemtraceException {
		Trace t = hotPages();
		load(t, null);
		assertEquals("hot-page", screen.shown.cards().get(0).finding().rule());
		presenter.open(0);
		assertEquals(t.producer("histogram.1"), t.selection().state().producer());
		assertArrayEquals(new int[] {t.producer("histogram.1[page 3]"), t.producer("histogram.1[page 90]")}, t.selection().marks());
	}

	@Test
	void severalStructuresAreFilteredAndTheFilterGoesWithTheNextCard() throws MemtraceException {
		PlantedTrace p = new PlantedTrace(THREADS, INTERVALS);
		int[] fields = new int[4];
		for (int f = 0; f < fields.length; f++) {
			fields[f] = p.structure("field" + f, StructureKind.HEAP, 64);
		}
		int table = p.structure("table", StructureKind.STATIC, 32);
		for (int i = 0; i < INTERVALS; i++) {
			for (int f : fields) {
				for (int page = 0; page < 64; page++) {
					p.write(f, page, i, i == 0 ? 0 : p.owner(page, 64));
				}
			}
			for (int page = 0; page < 32; page++) {
				for (int k = 0; k < THREADS; k++) {
					p.access(table, page, i, k, 1, 1, 8 * ((i + k) % 5), 8 * ((i + k) % 5));
				}
			}
		}
		Trace t = new Trace(p, "several", "2026-11-22T10:00:00Z");
		load(t, null);
		List<FindingCard> cards = screen.shown.cards();
		int folded = cards.get(0).finding().structures().size() == 4 ? 0 : 1;
		assertEquals(2, cards.size(), cards.toString());
		assertEquals(4, cards.get(folded).finding().structures().size());
		presenter.open(folded);
		ViewState s = t.selection().state();
		assertEquals(0, s.producer());
		assertEquals(1, s.filters().filters().size());
		assertTrue(s.filters().filters().get(0).condition() instanceof Condition.Subtree c && c.parts().size() == 4, s.filters()::toJson);
		assertEquals(4, t.selection().marks().length);
		presenter.open(1 - folded);
		assertTrue(t.selection().state().filters().isEmpty());
		assertEquals(t.producer("table.4"), t.selection().state().producer());
		presenter.open(folded);
		presenter.open(folded);
		assertEquals(1, t.selection().state().filters().filters().size(), "not twice");
	}

	@Test
	void whatDidNotHoldIsExplainedWithValuesAndTheNearestFirst() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", false, 1);
		load(t, null);
		assertEquals("No finding: no rule holds", screen.shown.heading());
		assertEquals(-1, screen.detail);
		List<FindingCards.WhyNot> why = screen.shown.whyNot();
		assertEquals(t.advisor.rules().stream().map(Rule::id).sorted().toList(), why.stream().map(FindingCards.WhyNot::rule).sorted().toList());
		FindingCards.WhyNot first = why.stream().filter(w -> w.rule().equals("first-touch")).findFirst().orElseThrow();
		assertTrue(first.reason().startsWith("nearest: field0: "), first.reason());
		assertTrue(first.reason().contains("share of its pages that one thread touches first is 25.0 %, needs at least 90.0 %"), first.reason());
		List<Integer> unmet = why.stream().filter(w -> !w.cases().isEmpty()).map(w -> w.cases().get(0).unmet()).toList();
		assertEquals(unmet.stream().sorted().toList(), unmet);
		assertTrue(why.get(why.size() - 1).cases().isEmpty());
		assertEquals("there is no structure that it is about", why.get(why.size() - 1).reason());
	}

	@Test
	void aRuleThatHoldsButComesLaterSaysSo() throws MemtraceException {
		Trace t = hotPages();
		load(t, null);
		List<String> reasons = screen.shown.whyNot().stream().flatMap(w -> w.cases().stream()).map(FindingCards.Case::reason).toList();
		for (Rule r : t.advisor.rules()) {
			for (Advisor.Verdict v : t.advisor.explain(r)) {
				if (v.holds() && !r.id().equals("hot-page")) {
					assertTrue(reasons.contains("all conditions hold, but 'hot page' comes first"), reasons.toString());
				}
			}
		}
		assertFalse(screen.shown.whyNot().stream().anyMatch(w -> w.rule().equals("hot-page")));
	}

	@Test
	void twoTracesAreComparedTheOlderOneIsBefore() throws MemtraceException {
		Trace serial = fields("serial", "2026-11-22T10:00:00Z", true, 1);
		Trace parallel = fields("parallel", "2026-11-22T11:00:00Z", false, 1);
		load(parallel, serial);
		assertTrue(screen.shown.isComparison());
		assertEquals("serial", screen.shown.before());
		assertEquals("parallel", screen.shown.after());
		assertEquals("Time +0.0 % (one run each): 1 gone", screen.shown.heading());
		FindingCard c = screen.shown.cards().get(0);
		assertEquals(FindingDiff.State.GONE, c.state());
		assertEquals("gone", c.label());
		assertTrue(c.worked());
		assertNull(c.after());
		assertTrue(c.change().contains("100 % to 25.0 %"), c.change());
		// a finding that is gone is shown where it was; the linked trace follows
		try (SelectionLink link = new SelectionLink(parallel.selection(), serial.selection(), SelectionLink.Time.SCALED)) {
			presenter.open(0);
			assertEquals(serial.producer("field0.0"), serial.selection().state().producer());
			assertEquals(parallel.producer("field0.0"), parallel.selection().state().producer());
			assertArrayEquals(serial.selection().marks(), parallel.selection().marks());
		}
		// the other way round it is new
		load(serial, parallel);
		assertEquals("Time +0.0 % (one run each): 1 gone", screen.shown.heading(), "which one is before does not depend on the group");
		Trace worse = fields("worse", "2026-11-22T12:00:00Z", true, 1);
		load(worse, parallel);
		assertEquals("Time +0.0 % (one run each): 1 new", screen.shown.heading());
		assertTrue(screen.shown.cards().get(0).text().startsWith("new: field0: "), screen.shown.cards().get(0).text());
	}

	@Test
	void theSameTracesAreAskedOnce() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", true, 1);
		presenter.traces(t, null);
		assertTrue(presenter.isOpen());
		presenter.load();
		FindingsPresenter.Question q = screen.question;
		presenter.traces(t, null);
		presenter.load();
		assertSame(q, screen.question);
		presenter.answered(q, q.answer(Progress.NONE));
		presenter.traces(t, null);
		presenter.load();
		assertSame(q, screen.question);
		assertEquals(1, t.asked);
	}

	@Test
	void anAnswerForAnotherTraceIsNotShown() throws MemtraceException {
		Trace a = fields("a", "2026-11-22T10:00:00Z", true, 1);
		Trace b = fields("b", "2026-11-22T11:00:00Z", false, 1);
		presenter.traces(a, null);
		presenter.load();
		FindingsPresenter.Question late = screen.question;
		presenter.traces(b, null);
		presenter.load();
		presenter.answered(late, late.answer(Progress.NONE));
		assertNull(screen.shown);
		presenter.failed(late, "old");
		assertEquals("", screen.said);
		presenter.answered(screen.question, screen.question.answer(Progress.NONE));
		assertEquals("b", screen.shown.after());
	}

	@Test
	void aSearchCanBeStoppedAndBegunAgain() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", true, 1);
		presenter.traces(t, null);
		presenter.load();
		int stops = screen.stops;
		FindingsPresenter.Question q = screen.question;
		assertThrows(CancelledException.class, () -> q.answer(Progress.cancelledWhen(() -> true)));
		presenter.cancel();
		assertEquals(stops + 1, screen.stops);
		assertEquals("The search for findings was stopped.", screen.said);
		assertFalse(presenter.isOpen(), "a stopped search is not begun again by itself");
		presenter.again();
		presenter.answered(screen.question, screen.question.answer(Progress.NONE));
		assertEquals(1, screen.shown.cards().size());
	}

	@Test
	void eventsOfOtherToolsHaveNoFindings() throws MemtraceException {
		Trace t = fields("a", "2026-11-22T10:00:00Z", true, 1);
		t.accesses = false;
		presenter.traces(t, null);
		presenter.load();
		assertNull(screen.question);
		assertTrue(screen.said.startsWith("This trace has no memory accesses"), screen.said);
		Trace other = fields("b", "2026-11-22T11:00:00Z", true, 1);
		load(other, t);
		assertFalse(screen.shown.isComparison());
	}

	@Test
	void theCodeIsCopiedAsItIs() {
		presenter.copyCode(new Finding("rule", "title", List.of("a"), List.of(), List.of(), 0, 1, 0, 1, List.of(), Map.of(), "evidence", "advice",
				new Fix("Words.", "./command", "// code:\n\tx();\n", "case"), "check", List.of(), Severity.LOW, Confidence.LOW, 0,
						"thread", null, null, Price.notKnown("")));
		assertEquals("// code:\n\tx();\n", screen.copied);
	}

	@Test
	void placesInAnotherTreeAreOfTimeOnly() throws MemtraceException {
		Trace t = hotPages();
		PlantedTrace empty = new PlantedTrace(1, 1);
		ProducerTree other = empty.tree();
		FindingPlace place = new FindingPlace(t.advisor.findings().get(0), other);
		assertEquals(0, place.marks().length);
		TraceSelection selection = new TraceSelection(other, 0, INTERVALS * PlantedTrace.INTERVAL);
		assertNull(place.show("a", t.info(), selection, null));
		assertEquals(0, selection.state().producer());
		assertEquals(0, selection.marks().length);
	}

	@Test
	void marksAreInOrderAndOnce() throws MemtraceException {
		Trace t = hotPages();
		List<Integer> told = new ArrayList<>();
		t.selection().addListener(new TraceSelection.Listener() {
			@Override
			public void markChanged(int producer) {
				told.add(producer);
			}
		});
		t.selection().markAll(9, 4, 9);
		assertArrayEquals(new int[] {4, 9}, t.selection().marks());
		assertEquals(4, t.selection().mark());
		t.selection().markAll(4, 9);
		t.selection().mark(TraceSelection.NO_MARK);
		t.selection().mark(TraceSelection.NO_MARK);
		assertEquals(Arrays.asList(4, TraceSelection.NO_MARK), told);
	}
}
