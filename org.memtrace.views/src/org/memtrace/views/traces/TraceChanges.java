// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.TreeSet;

import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.dialogs.IInputValidator;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.dialogs.ProgressMonitorDialog;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.statushandlers.StatusManager;
import org.memtrace.analysis.catalogue.TraceSearch;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.KeptWork;
import org.memtrace.views.jobs.MonitorProgress;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.Session;

/** What a person changes in the catalogue: names, texts and properties of one or several traces. Display thread. */
final class TraceChanges {
	private final Session session;
	private final Shell shell;

	TraceChanges(Session session, Shell shell) {
		this.session = session;
		this.shell = shell;
	}

	private interface Change {
		void run() throws MemtraceException;
	}

	private void run(String name, Change change) {
		Job job = Job.create(name, m -> {
			try {
				KeptWork.run(name, () -> {
					change.run();
					return null;
				});
			} catch (MemtraceException e) {
				StatusManager.getManager().handle(new Status(IStatus.ERROR, "org.memtrace.views", e.getMessage(), e),
						StatusManager.SHOW | StatusManager.LOG);
			}
			OnDisplay.later(shell, session::catalogueChanged);
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	void rename(TraceInfo t) {
		ask("Rename trace", "Name of the trace:", t.alias(), text -> text.isBlank() ? "A trace needs a name." : null,
				text -> run("Rename trace", () -> session.catalogue().rename(t.id(), text)));
	}

	/** The free text, of all traces. */
	void describe(List<TraceInfo> traces) {
		String before = traces.stream().map(TraceInfo::description).distinct().count() == 1 ? traces.get(0).description() : "";
		ask("Describe " + count(traces), "What is to be known about it:", before, text -> null, text -> run("Describe trace", () -> {
			for (TraceInfo t : traces) {
				session.catalogue().describe(t.id(), text);
			}
		}));
	}

	private void ask(String title, String question, String before, IInputValidator validator,
			java.util.function.Consumer<String> then) {
		InputDialog dialog = new InputDialog(shell, title, question, before, validator);
		if (dialog.open() == Window.OK && !dialog.getValue().strip().equals(before)) {
			then.accept(dialog.getValue().strip());
		}
	}

	private static String count(List<TraceInfo> traces) {
		return traces.size() == 1 ? "trace" : Units.plural(traces.size(), "trace");
	}

	/** Asks for a property of the user's own; all traces get it. */
	void addProperty(List<TraceInfo> traces, List<TraceInfo> all) {
		TreeSet<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
		all.forEach(t -> t.properties().keySet().stream().filter(k -> k.startsWith(TraceSearch.OWN_PROPERTY))
				.forEach(k -> known.add(k.substring(TraceSearch.OWN_PROPERTY.length()))));
		PropertyDialog dialog = new PropertyDialog(shell, "Property of " + count(traces), known);
		if (dialog.open() == Window.OK) {
			setProperty(traces, TraceSearch.OWN_PROPERTY + dialog.name(), dialog.value());
		}
	}

	/** Asks for another value of a property. */
	void changeProperty(List<TraceInfo> traces, String key) {
		String before = traces.stream().map(t -> t.properties().getOrDefault(key, "")).distinct().count() == 1
				? traces.get(0).properties().getOrDefault(key, "") : "";
		ask("Property of " + count(traces), key.substring(TraceSearch.OWN_PROPERTY.length()) + ":", before, text -> null,
				text -> setProperty(traces, key, text));
	}

	/** @param value null takes the property away */
	void setProperty(List<TraceInfo> traces, String key, String value) {
		run("Change property", () -> {
			for (TraceInfo t : traces) {
				session.catalogue().setProperty(t.id(), key, value);
			}
		});
	}

	/** Asks, and deletes traces with their databases. */
	void delete(List<TraceInfo> traces) {
		String what = traces.size() == 1 ? "'" + traces.get(0).alias() + "'" : Units.plural(traces.size(), "trace");
		MessageDialog dialog = new MessageDialog(shell, traces.size() == 1 ? "Delete trace" : "Delete traces", null,
				"Delete " + what + " from the catalogue?\n\n" + (traces.size() == 1
						? "Its database is removed. The trace directory that it was imported from is not touched."
						: "Their databases are removed. The trace directories that they were imported from are not touched."),
				MessageDialog.QUESTION, 1, "Delete", "Cancel");
		if (dialog.open() != 0) {
			return;
		}
		session.forget(open -> traces.stream().anyMatch(open::isListed));
		run("Delete trace", () -> {
			for (TraceInfo t : traces) {
				session.catalogue().delete(t.id());
			}
		});
	}

	/** Takes a database file into the catalogue; if it was shown, the trace of the catalogue is shown then. */
	void addToCatalogue(OpenFile file) {
		boolean shown = session.shows(t -> t.isFile(file));
		session.close(file);
		TraceInfo[] added = new TraceInfo[1];
		try {
			new ProgressMonitorDialog(shell).run(true, true, monitor -> {
				try {
					added[0] = session.catalogue().add(file.path(), new MonitorProgress(monitor));
				} catch (CancelledException e) {
					throw new InterruptedException();
				} catch (MemtraceException e) {
					throw new InvocationTargetException(e);
				}
			});
		} catch (InvocationTargetException e) {
			MessageDialog.openError(shell, "Add to catalogue", String.valueOf(e.getCause().getMessage()));
		} catch (InterruptedException e) {
			// cancelled: the file is what it was
		}
		if (added[0] == null) {
			session.opener().openDatabase(file.path());
			return;
		}
		session.catalogueChanged();
		if (shown) {
			session.opener().open(added[0]);
		}
	}}
