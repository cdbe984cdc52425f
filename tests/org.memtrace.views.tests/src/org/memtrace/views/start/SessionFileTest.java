// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Label;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.ViewIds;

/** A workbench that starts shows what was shown when it was left. */
class SessionFileTest extends UiTest {
	private Path file() {
		return directory.resolve(SessionFile.NAME);
	}

	/** All that was open is closed, as at the end of a workbench; views and their groups stay. */
	private void leave() throws Exception {
		bot.run(() -> SessionFile.save(session, file()));
		bot.run(() -> {
			session.groups().forEach(g -> session.show(g, null));
			session.files().forEach(session::close);
		});
		Job.getJobManager().join(LatestResult.class, null);
		bot.run(() -> SessionFile.restore(session, file()));
	}

	@Test
	void twoLinkedTracesAreShownAgainWhereTheyWere() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("second trace", () -> session.groups().size() == 2 && session.group(2).trace() != null);
		waitForViews();
		ViewState before = bot.ui(() -> {
			var selection = session.group(1).trace().selection();
			selection.viewpoint(BasicDimensions.THREAD);
			selection.addFilter(TraceFilter.only(Condition.thread(0)));
			selection.zoom(SampleTrace.STEP_NS, SampleTrace.STEP_NS * 10, SampleTrace.B);
			selection.p(0.25);
			selection.markAll(SampleTrace.A, SampleTrace.C);
			return selection.state();
		});
		waitForViews();
		leave();
		bot.waitFor("both again, linked", () -> session.group(1).trace() != null && session.group(2).trace() != null
				&& session.linked(session.group(1), session.group(2)) == SelectionLink.Time.SCALED);
		waitForViews();
		bot.shot("session-restored");
		assertTrue(bot.ui(() -> session.group(1).trace().isListed(sample)));
		assertTrue(bot.ui(() -> session.group(2).trace().isListed(fixed)));
		assertEquals(before, bot.ui(() -> session.group(1).trace().selection().state()));
		assertEquals(before, bot.ui(() -> session.group(2).trace().selection().state()));
		assertArrayEquals(new int[] {SampleTrace.A, SampleTrace.C}, bot.ui(() -> session.group(1).trace().selection().marks()));
		bot.run(() -> session.group(1).trace().selection().back());
		assertEquals(bot.ui(() -> session.group(1).trace().selection().initial()), bot.ui(() -> session.group(1).trace().selection().state()),
				"back leads to the whole trace");
		bot.run(() -> page().hideView(views().stream().filter(v -> v.group().number() == 2).findFirst().orElseThrow()));
	}

	/** A view that is open when the trace comes does not say for ever that the trace is being opened. */
	@Test
	void sourceSaysWhatToChooseAfterTheTraceIsOpened() throws Exception {
		bot.run(() -> show(ViewIds.SOURCE));
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForViews();
		bot.find(Label.class, l -> l.getText().startsWith("Choose a structure"));
		leave();
		waitForPicture("small matmul");
		waitForViews();
		bot.find(Label.class, l -> l.getText().startsWith("Choose a structure"));
		bot.run(() -> page().hideView(page().findView(ViewIds.SOURCE)));
	}

	@Test
	void whatIsNotThereAnyMoreIsPassedOver() throws Exception {
		TraceInfo other = SampleTrace.write(session.catalogue(), "deleted");
		Path open = Files.copy(session.catalogue().directory().resolve(sample.databaseName()), directory.resolve("a copy.db"));
		Path gone = Files.copy(open, directory.resolve("gone.db"));
		bot.run(() -> session.opener().open(open.toString(), gone.toString(), Integer.toString(other.id())));
		waitForPicture("deleted");
		assertEquals(2, bot.ui(() -> session.files().size()));
		bot.run(() -> SessionFile.save(session, file()));
		bot.run(() -> {
			session.show(null);
			session.files().forEach(session::close);
		});
		Job.getJobManager().join(LatestResult.class, null);
		session.catalogue().delete(other.id());
		Files.delete(gone);
		bot.run(() -> SessionFile.restore(session, file()));
		bot.waitFor("the file that is there", () -> session.files().size() == 1);
		assertEquals(open, bot.ui(() -> session.files().get(0).path()));
		assertNull(bot.ui(session::trace));

		bot.run(() -> session.opener().openDatabase(open));
		bot.waitFor("file", () -> session.trace() != null && session.opening() == null);
		leave();
		bot.waitFor("file again", () -> session.trace() != null && session.trace().file() != null);
		assertEquals(open, bot.ui(() -> session.trace().file().path()));
		waitForViews();
	}
}
