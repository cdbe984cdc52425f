// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.ToolItem;
import org.eclipse.ui.IWorkbenchPage;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleEvents;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.traces.CompareDialog;

/** Several groups of views: two traces side by side, locked views, and what is left when they are closed. */
class GroupsTest extends UiTest {
	private void open() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
	}

	private TraceView view(String id) {
		return bot.ui(() -> {
			try {
				return (TraceView) page().showView(id);
			} catch (org.eclipse.ui.PartInitException e) {
				throw new AssertionError(e);
			}
		});
	}

	private static List<String> titles(String prefix) {
		return views().stream().map(TraceView::getPartName).filter(n -> n.startsWith(prefix)).sorted().toList();
	}

	@Test
	void compareShowsTwoTracesSideBySideAndLinked() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		open();
		bot.run(() -> session.trace().selection().viewpoint(BasicDimensions.THREAD));
		bot.run(() -> CompareDialog.ask(page().getWorkbenchWindow()));
		Shell dialog = bot.find(Shell.class, s -> s.getText().equals("Compare"));
		bot.shot("compare-dialog");
		bot.close(bot.find(Button.class, b -> b.getShell() == dialog && b.getText().equals("OK")));
		bot.waitFor("second trace", () -> session.groups().size() == 2 && session.group(2).trace() != null);
		bot.waitFor("difference", () -> page().findView(ViewIds.DIFFERENCE) != null);
		TraceView difference = bot.ui(() -> (TraceView) page().findView(ViewIds.DIFFERENCE));
		assertTrue(bot.ui(() -> page().isPartVisible(difference)), "what differs is in front");
		assertEquals(2, bot.ui(() -> ((TraceView) page().getActivePart()).group().number()), "the second picture stays active");
		bot.run(() -> page().bringToTop(page().findView(ViewIds.OCELOTL)));
		waitForViews();
		bot.shot("compare");
		assertEquals(List.of("Ocelotl 1: small matmul", "Ocelotl 2: fixed matmul"), bot.ui(() -> titles("Ocelotl")));
		assertEquals(List.of(), bot.ui(() -> cutOff()), "side by side everything can be read");
		OpenTrace one = bot.ui(() -> session.group(1).trace());
		OpenTrace two = bot.ui(() -> session.group(2).trace());
		assertTrue(bot.ui(() -> two.isListed(fixed)));
		assertEquals(BasicDimensions.THREAD, bot.ui(() -> two.selection().state().viewpoint()));
		bot.run(() -> one.selection().zoom(0, SampleTrace.STEP_NS * 10, SampleTrace.B));
		bot.run(() -> two.selection().addFilter(TraceFilter.only(Condition.thread(0))));
		bot.run(() -> two.selection().p(0.5));
		ViewState state = bot.ui(() -> two.selection().state());
		assertEquals(state, bot.ui(() -> one.selection().state()));
		assertEquals(SampleTrace.B, state.producer());
		bot.run(() -> session.unlink(session.group(1)));
		bot.run(() -> one.selection().reset());
		assertEquals(state, bot.ui(() -> two.selection().state()), "no longer linked");
		waitForViews();

		TraceView second = bot.ui(() -> views().stream().filter(v -> v.group().number() == 2).findFirst().orElseThrow());
		bot.run(() -> page().hideView(second));
		assertEquals(1, bot.ui(() -> session.groups().size()), "the group goes with its last view");
		assertEquals(List.of("Ocelotl"), bot.ui(() -> titles("Ocelotl")));
		assertEquals(one, bot.ui(session::trace));
	}

	/** A view of the difference that is open in another group comes to the two that are compared. */
	@Test
	void theDifferenceComesToTheGroupsThatAreCompared() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		open();
		TraceView difference = view(ViewIds.DIFFERENCE);
		bot.run(() -> difference.join(session.newGroup()));
		bot.run(() -> page().activate(page().findView(ViewIds.OCELOTL)));
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("the difference of both", () -> difference.linkedTrace() != null);
		assertTrue(bot.ui(() -> page().isPartVisible(difference)));
		bot.run(() -> page().hideView(views().stream().filter(v -> v != difference && v.group() != session.group(1)).findFirst().orElseThrow()));
		bot.run(() -> page().hideView(difference));
	}

	/** A view that is closed, and its group with it, shows the current trace when it is opened again. */
	@Test
	void aViewThatComesBackIsNotInAGroupThatIsGone() {
		open();
		TraceView difference = view(ViewIds.DIFFERENCE);
		bot.run(() -> difference.join(session.newGroup()));
		bot.run(() -> page().hideView(difference));
		assertEquals(1, bot.ui(() -> session.groups().size()), "the group goes with its last view");
		TraceView again = view(ViewIds.DIFFERENCE);
		assertEquals(1, bot.ui(() -> again.group().number()));
		assertNotNull(bot.ui(again::trace));
		assertEquals(1, bot.ui(() -> session.groups().size()));
		bot.run(() -> page().hideView(again));
	}

	/** A trace without memory is compared, too, but not by what is about memory. */
	@Test
	void withoutAccessesThereIsNoDifference() {
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
		});
		bot.run(() -> Comparison.show(page(), sample, SelectionLink.Time.SCALED));
		bot.waitFor("linked", () -> session.groups().size() == 2 && session.linkedWith(session.group(1)) != null);
		assertNull(bot.ui(() -> page().findView(ViewIds.DIFFERENCE)));
		bot.run(() -> page().hideView(views().stream().filter(v -> v.group() != session.group(1)).findFirst().orElseThrow()));
	}

	/** The badges of views that say that they are linked; display thread. */
	private List<ToolItem> badges() {
		return bot.all(ToolBar.class).stream().filter(ToolBar::isVisible).flatMap(t -> Stream.of(t.getItems()))
				.filter(i -> i.getToolTipText() != null && i.getToolTipText().startsWith("Linked")).toList();
	}

	/** The groups that the badges tell. */
	private List<String> linkedWith() {
		return bot.ui(() -> badges().stream().map(i -> i.getToolTipText().replaceAll(".* follow (group \\d+) .*", "$1")).sorted().toList());
	}

	/** A link is seen, can be ended where it is seen, and is between two traces: a third one begins with its own whole time. */
	@Test
	void aLinkIsSeenAndEnds() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		TraceInfo third = SampleTrace.write(session.catalogue(), "third matmul");
		open();
		assertEquals(List.of(), linkedWith());
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("second trace", () -> session.groups().size() == 2 && session.group(2).trace() != null);
		waitForViews();
		TraceGroup one = bot.ui(() -> session.group(1));
		TraceGroup two = bot.ui(() -> session.group(2));
		assertTrue(linkedWith().containsAll(List.of("group 1", "group 2")), linkedWith().toString());
		bot.shot("linked");
		bot.run(() -> one.trace().selection().zoom(0, SampleTrace.STEP_NS * 10, SampleTrace.B));
		assertEquals(SampleTrace.B, bot.ui(() -> two.trace().selection().state().producer()));
		bot.run(() -> session.show(two, two.trace().fresh()));
		assertEquals(SelectionLink.Time.SCALED, bot.ui(() -> session.linked(one, two)), "the same trace, opened again");
		assertEquals(SampleTrace.B, bot.ui(() -> two.trace().selection().state().producer()));
		bot.run(() -> session.opener().open(two, third));
		bot.waitFor("third trace", () -> two.trace().isListed(third));
		assertEquals(bot.ui(() -> two.trace().selection().initial()), bot.ui(() -> two.trace().selection().state()), "of its own");
		assertNull(bot.ui(() -> session.linkedWith(one)));
		assertEquals(List.of(), linkedWith());
		bot.run(() -> session.link(one, two, SelectionLink.Time.SINCE_START));
		assertEquals(SampleTrace.B, bot.ui(() -> two.trace().selection().state().producer()));
		bot.run(() -> {
			ToolItem badge = badges().stream().filter(i -> i.getToolTipText().contains("group 2")).findFirst().orElseThrow();
			assertTrue(badge.getToolTipText().contains("follow group 2 (third matmul, by time since start)"), badge.getToolTipText());
			badge.notifyListeners(SWT.Selection, new Event());
		});
		assertNull(bot.ui(() -> session.linkedWith(one)));
		assertEquals(List.of(), linkedWith());
		bot.run(() -> page().hideView(views().stream().filter(v -> v.group() == two).findFirst().orElseThrow()));
	}

	@Test
	void whatIsComparedIsInTheOrderOfTime() {
		TraceInfo after = recorded(1, "after", "2026-11-20T12:46:23Z");
		TraceInfo before = recorded(2, "before", "2026-11-20T12:45:18Z");
		assertEquals(List.of(before, after), Comparison.byAge(List.of(after, before)));
		assertEquals(List.of(before, after), Comparison.byAge(List.of(before, after)));
	}

	/** What is older comes to the left of what is shown, which keeps its window and filters. */
	@Test
	void anOlderTraceIsComparedAtTheLeft() throws Exception {
		TraceInfo before = SampleTrace.write(session.catalogue().create("before"), "before", Instant.parse("2026-11-19T05:30:00Z"));
		open();
		bot.run(() -> session.trace().selection().zoom(0, SampleTrace.STEP_NS * 10, SampleTrace.B));
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(0))));
		ViewState state = bot.ui(() -> session.trace().selection().state());
		bot.run(() -> Comparison.show(page(), before, SelectionLink.Time.SCALED));
		bot.waitFor("both", () -> session.groups().size() == 2 && session.opening() == null && session.group(1).trace().isListed(before)
				&& session.group(2).trace().isListed(sample));
		waitForViews();
		assertEquals(state, bot.ui(() -> session.group(2).trace().selection().state()));
		assertEquals(state, bot.ui(() -> session.group(1).trace().selection().state()), "linked");
		bot.run(() -> page().hideView(views().stream().filter(v -> v.group().number() == 2).findFirst().orElseThrow()));
	}

	private TraceInfo recorded(int id, String name, String when) {
		return new TraceInfo(id, name, name, sample.type(), sample.application(), sample.host(), sample.operatingSystem(), sample.cpus(),
				sample.events(), sample.producers(), sample.startNs(), sample.endNs(), Instant.parse(when), sample.pageSizeBytes(),
				"", Map.of());
	}

	/** In the smallest window that one may have, everything that is beside the picture can be read, too. */
	@Test
	void sideBySideInASmallWindowCanBeRead() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		open();
		bot.run(() -> page().getWorkbenchWindow().getShell().setBounds(0, 0, 1280, 800));
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("second trace", () -> session.groups().size() == 2 && session.group(2).trace() != null
				&& page().findView(ViewIds.DIFFERENCE) != null);
		bot.run(() -> page().bringToTop(page().findView(ViewIds.OCELOTL)));
		waitForViews();
		bot.shot("compare-1280x800");
		assertEquals(List.of(), bot.ui(() -> cutOff()));

		TraceGroup two = bot.ui(() -> session.group(2));
		bot.run(() -> session.show(two, null));
		bot.run(() -> page().activate(views().stream().filter(v -> v.group().number() == 1).findFirst().orElseThrow()));
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("the trace in the view that was empty", () -> two.trace() != null);
		waitForViews();
		assertEquals(2, bot.ui(() -> session.groups().size()), "no third group beside an empty one");
		bot.run(() -> page().hideView(views().stream().filter(v -> v.group() == two).findFirst().orElseThrow()));
	}

	/** What ends beyond the right side of a composite that it is in, or has less width than its text, in all Ocelotl views. */
	private List<String> cutOff() {
		List<String> found = new ArrayList<>();
		for (Control c : bot.all(Control.class)) {
			boolean text = c instanceof Label || c instanceof Button || c instanceof Text || c instanceof Combo;
			Composite top = c.getParent();
			while (top != null && !top.getClass().getSimpleName().matches("PictureBar|LevelPanel")) {
				top = top.getParent();
			}
			if (!text || top == null || !c.isVisible()) {
				continue;
			}
			Rectangle r = c.getBounds();
			Rectangle inTop = c.getDisplay().map(c.getParent(), top, r);
			boolean narrow = (c instanceof Label || c instanceof Button) && r.width < c.computeSize(SWT.DEFAULT, SWT.DEFAULT).x
					|| c instanceof Text t && t.getClientArea().width < new GcWidth(t).of("0.0596");
			if (narrow || r.x + r.width > c.getParent().getClientArea().width || inTop.x + inTop.width > top.getClientArea().width
					|| inTop.y + inTop.height > top.getClientArea().height) {
				found.add(c + " " + inTop + " in " + top.getClientArea());
			}
		}
		return found;
	}

	private record GcWidth(Control control) {
		int of(String text) {
			GC gc = new GC(control);
			try {
				return gc.textExtent(text).x;
			} finally {
				gc.dispose();
			}
		}
	}

	@Test
	void lockedViewStaysWhereItIs() throws Exception {
		open();
		TraceView structures = view(ViewIds.STRUCTURES);
		bot.run(structures::toggleLock);
		OpenTrace own = bot.ui(structures::trace);
		assertEquals("Structures: small matmul (locked)", bot.ui(structures::getPartName));
		ViewState before = bot.ui(() -> own.selection().state());
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(0))));
		assertNotEquals(before, bot.ui(() -> session.trace().selection().state()));
		assertEquals(before, bot.ui(() -> structures.trace().selection().state()));
		TraceInfo other = SampleTrace.write(session.catalogue(), "other");
		bot.run(() -> session.opener().open(other));
		waitForPicture("other");
		assertEquals(own, bot.ui(structures::trace), "another trace is shown, but not here");
		bot.run(structures::toggleLock);
		assertEquals("other", bot.ui(() -> structures.trace().name()));
		bot.run(structures::toggleLock);
		bot.run(() -> session.forget(t -> t.isListed(other)));
		assertNull(bot.ui(structures::trace), "a trace that is deleted leaves locked views too");
		assertFalse(bot.ui(structures::isLocked));
	}

	@Test
	void viewsOfOneTraceInTwoGroupsLoadItOnce() throws Exception {
		open();
		TraceView structures = view(ViewIds.STRUCTURES);
		TraceView another = bot.ui(() -> structures.openAnother(session.newGroup()));
		assertNull(bot.ui(another::trace));
		bot.run(() -> page().activate(another));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("trace in the second group", () -> another.trace() != null);
		assertTrue(bot.ui(() -> another.trace().isSameTrace(structures.trace())));
		assertEquals(List.of("Structures 1: small matmul", "Structures 2: small matmul"), bot.ui(() -> titles("Structures")));
		bot.run(() -> another.trace().selection().viewpoint(BasicDimensions.CPU));
		assertEquals(BasicDimensions.TYPE, bot.ui(() -> structures.trace().selection().state().viewpoint()));
		bot.run(() -> session.link(session.group(1), session.group(2), SelectionLink.Time.SINCE_START));
		assertEquals(BasicDimensions.TYPE, bot.ui(() -> another.trace().selection().state().viewpoint()));
		bot.run(() -> page().activate(structures));
		assertEquals(1, bot.ui(() -> session.group().number()), "the active view decides");
		bot.run(() -> session.closeShown());
		waitForViews();
		assertEquals("small matmul", bot.ui(() -> another.trace().name()), "closed in its own group only");
		bot.run(() -> another.join(session.group(1)));
		assertEquals(1, bot.ui(() -> session.groups().size()));
		assertNull(bot.ui(another::trace));
		assertEquals(2, bot.ui(() -> titles("Structures").size()));
		IWorkbenchPage page = bot.ui(UiTest::page);
		bot.run(() -> page.hideView(another));
	}
}
