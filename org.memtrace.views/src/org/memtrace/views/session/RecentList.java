// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ICoreRunnable;
import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.selection.RecentTraces;
import org.memtrace.analysis.selection.RecentTraces.Recent;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.preferences.Settings;
import org.osgi.service.prefs.BackingStoreException;

/** The traces that this workbench showed last, kept with its settings. Display thread. */
public final class RecentList {
	private RecentList() {
	}

	/** From now on, what is shown is remembered. */
	public static void follow(Session session) {
		session.addListener(new Session.Listener() {
			@Override
			public void groupChanged(TraceGroup group) {
				OpenTrace t = group.trace();
				if (t != null) {
					remember(session, t);
				}
			}
		});
	}

	private static void remember(Session session, OpenTrace t) {
		RecentTraces before = traces();
		RecentTraces now = before.with(t.file() != null ? new Recent("", -1, t.file().path().toString(), t.name())
				: new Recent(catalogue(session), t.info().id(), t.info().databaseName(), t.name()));
		if (!now.equals(before)) {
			keep(now);
		}
	}

	private static void keep(RecentTraces now) {
		IPreferenceStore store = Settings.store();
		store.setValue(Settings.RECENT, now.toJson());
		Job job = Job.createSystem("Keep recent traces", (ICoreRunnable) monitor -> {
			try {
				InstanceScope.INSTANCE.getNode(Settings.NODE).flush(); // also when the workbench is killed
			} catch (BackingStoreException e) {
				ILog.of(RecentList.class).info("The list of recent traces is not kept: " + e);
			}
		});
		job.schedule();
	}

	private static RecentTraces traces() {
		return RecentTraces.parse(Settings.store().getString(Settings.RECENT));
	}

	/** The catalogue is open: a trace of it is shown. */
	private static String catalogue(Session session) {
		try {
			CataloguePlace place = session.catalogue().place();
			return place == null ? "" : place.isServer() ? place.toString() : place.directory().toAbsolutePath().normalize().toString();
		} catch (MemtraceException e) {
			return "";
		}
	}

	/** Those that can be opened now: traces of this catalogue, and files; the newest first. */
	public static List<Recent> list(Session session) {
		String now = catalogue(session);
		return traces().traces().stream().filter(t -> t.isFile() || t.catalogue().equals(now)).toList();
	}

	/** Opens one in the current group; one that is not there any more leaves the list, which is said. */
	public static void open(Session session, Recent recent) {
		Display display = Display.getCurrent();
		Job job = Job.createSystem("Find " + recent.name(), (ICoreRunnable) monitor -> {
			TraceInfo listed = null;
			boolean there;
			try {
				listed = recent.isFile() ? null : session.catalogue().list().stream().filter(recent::is).findFirst().orElse(null);
				there = recent.isFile() ? TraceFiles.isThere(Path.of(recent.database())) : listed != null;
			} catch (MemtraceException e) {
				there = false;
			}
			TraceInfo found = listed;
			boolean isThere = there;
			OnDisplay.later(display, () -> open(session, recent, found, isThere));
		});
		job.schedule();
	}

	private static void open(Session session, Recent recent, TraceInfo listed, boolean isThere) {
		if (session.isDisposed()) {
			return;
		}
		if (!isThere) {
			keep(traces().without(recent));
			MessageDialog.openInformation(PlatformUI.getWorkbench().getModalDialogShellProvider().getShell(), "Recent traces",
					(recent.isFile() ? recent.database() : "The trace " + recent.name()) + " is not there any more. It is taken from the list.");
		} else if (listed != null) {
			session.opener().open(listed);
		} else {
			session.opener().openDatabase(Path.of(recent.database()));
		}
	}
}
