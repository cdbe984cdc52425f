// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import org.eclipse.core.runtime.ILogListener;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Platform;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.eclipse.jface.preference.PreferenceDialog;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.dialogs.PreferencesUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.TraceView;

/**
 * A test in the whole workbench, with a catalogue of its own that has one trace, and default settings. No dialog and no error may be
 * left.
 */
public abstract class UiTest {
	@TempDir
	protected static Path directory;
	private static int catalogues;

	protected final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
	/** Errors that anybody logged, and our warnings. */
	protected final List<String> problems = Collections.synchronizedList(new ArrayList<>());
	private final ILogListener log = (status, plugin) -> {
		// of the platform, warnings are about keys and handlers of its own; the log of a class in no bundle is that of the runtime
		boolean ours = status.getPlugin().startsWith("org.memtrace") || status.getPlugin().equals("org.eclipse.core.runtime");
		if (status.getSeverity() == IStatus.ERROR || status.getSeverity() == IStatus.WARNING && ours) {
			problems.add(plugin + ": " + status.getMessage() + " " + status.getException());
		}
	};
	protected Session session;
	protected TraceInfo sample;

	@BeforeEach
	void begin() throws Exception {
		Platform.addLogListener(log);
		session = bot.ui(() -> PlatformUI.getWorkbench().getService(Session.class));
		Path catalogue = directory.resolve("catalogue" + catalogues++);
		String[] settings = InstanceScope.INSTANCE.getNode(Settings.NODE).keys();
		bot.run(() -> {
			for (String key : settings) {
				if (!key.equals(Settings.CATALOGUE)) {
					Settings.store().setToDefault(key);
				}
			}
			session.colours().chooseAll(Map.of());
			IWorkbenchPage page = page();
			assertEquals(ViewIds.PERSPECTIVE, page.getPerspective().getId());
			page.resetPerspective();
			page.getWorkbenchWindow().getShell().setBounds(0, 0, 1270, 1000);
			page.getWorkbenchWindow().getShell().forceActive(); // a dialog that a failed test has left took the focus with it
			session.useCatalogue(catalogue);
			for (TraceView v : views()) {
				if (v.isLocked()) {
					v.toggleLock();
				}
				v.join(session.group(1));
			}
		});
		sample = SampleTrace.write(session.catalogue(), "small matmul");
		bot.run(session::catalogueChanged);
	}

	@AfterEach
	void end() throws Exception {
		List<String> dialogs = bot.closeDialogs();
		bot.run(() -> {
			session.forget(t -> true);
			session.files().forEach(session::close);
		});
		Job.getJobManager().join(LatestResult.class, null);
		bot.run(() -> {
		});
		Platform.removeLogListener(log);
		assertEquals(List.of(), dialogs, "open dialogs");
		assertEquals(List.of(), problems, "error log");
	}

	protected static IWorkbenchPage page() {
		return PlatformUI.getWorkbench().getActiveWorkbenchWindow().getActivePage();
	}

	/** Opens a view, or brings it to the front. Display thread. */
	@SuppressWarnings("unchecked")
	protected static <V> V show(String id) {
		try {
			return (V) page().showView(id);
		} catch (PartInitException e) {
			throw new AssertionError(e);
		}
	}

	/** The same, in the whole window. */
	protected static <V> V showAlone(String id) {
		V view = show(id);
		page().toggleZoom(page().findViewReference(id));
		return view;
	}

	/** @param page end of its id, such as {@code .colours} */
	protected PreferenceDialog openPreferences(String page) {
		return bot.ui(() -> {
			PreferenceDialog dialog = PreferencesUtil.createPreferenceDialogOn(
					PlatformUI.getWorkbench().getActiveWorkbenchWindow().getShell(), "org.memtrace.views.preferences" + page, null, null);
			dialog.setBlockOnOpen(false);
			dialog.open();
			return dialog;
		});
	}

	/** A problem that the test made on purpose: it must be in the log, once. */
	protected void forgive(String part) {
		bot.waitFor("'" + part + "' in the log", () -> problems.stream().anyMatch(p -> p.contains(part)));
		problems.remove(problems.stream().filter(p -> p.contains(part)).findFirst().orElseThrow());
	}

	/** Waits until all views that can be seen show the current state; others may wait until they are seen. */
	protected void waitForViews() {
		waitForViews("");
	}

	/** @param after what was done, for the message of a failure */
	protected void waitForViews(String after) {
		try {
			bot.waitFor("views", () -> session.opening() == null && unsettled().isEmpty());
		} catch (AssertionError e) {
			throw new AssertionError("not settled: " + bot.ui(UiTest::unsettled) + ", opening " + bot.ui(session::opening) + " "
					+ after, e);
		}
	}

	private static List<String> unsettled() {
		return views().stream().filter(v -> page().isPartVisible(v) && !v.isQuiet()).map(TraceView::getPartName).toList();
	}

	/** The views of traces that are open. */
	protected static List<TraceView> views() {
		List<TraceView> views = new ArrayList<>();
		for (IViewReference r : page().getViewReferences()) {
			if (r.getView(false) instanceof TraceView v) {
				views.add(v);
			}
		}
		return views;
	}

	/** Waits until a trace of that name is shown, and its picture. */
	protected void waitForPicture(String name) {
		bot.waitFor("picture of " + name, () -> session.trace() != null && session.trace().name().equals(name)
				&& session.opening() == null && session.status().shown());
	}
}
