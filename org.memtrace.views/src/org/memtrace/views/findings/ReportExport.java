// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.action.Action;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.program.Program;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.analysis.machine.MachineSvg;
import org.memtrace.analysis.report.Report;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.topology.Hwloc;
import org.memtrace.views.jobs.FileJob;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Icons;

/** Writes the page of {@code memtrace report} for a trace that is open. The page is about the whole trace, whatever is shown of it. */
public final class ReportExport {
	private static final String OPEN = "Open it";
	private static final String CLOSE = "Close";

	private ReportExport() {
	}

	/** The action of a tool bar. */
	static Action action(IWorkbenchWindow window, Supplier<OpenTrace> trace) {
		Action action = new Action("Export report…", Icons.get("report")) {
			@Override
			public void run() {
				if (trace.get() != null) {
					ask(window, trace.get());
				}
			}
		};
		action.setToolTipText("Write findings, structures and pictures to one HTML file that can be mailed");
		return action;
	}

	/** Asks for a file and writes it in the background. Display thread. */
	public static void ask(IWorkbenchWindow window, OpenTrace trace) {
		if (!trace.hasAccesses()) {
			MessageDialog.openInformation(window.getShell(), "Export report", trace.name()
					+ " has no memory accesses: a report is about the memory of a program.");
			return;
		}
		FileDialog dialog = new FileDialog(window.getShell(), SWT.SAVE);
		dialog.setText("Export report");
		dialog.setFileName(trace.name().replaceAll("[^\\w.-]+", "_") + ".html");
		dialog.setFilterNames(new String[] {"HTML pages"});
		dialog.setFilterExtensions(new String[] {"*.html"});
		dialog.setOverwrite(true);
		String chosen = dialog.open();
		if (chosen == null) {
			return;
		}
		Path file = Path.of(chosen);
		write(trace, file, error -> {
			if (window.getShell() == null || window.getShell().isDisposed()) {
				return;
			}
			if (error != null) {
				MessageDialog.openError(window.getShell(), "Export report", error);
			} else if (new MessageDialog(window.getShell(), "Export report", null, file + " was written: " + size(file)
					+ ". It needs no other file.", MessageDialog.INFORMATION, 0, OPEN, CLOSE).open() == 0) {
				Program.launch(file.toString());
			}
		});
	}

	private static String size(Path file) {
		try {
			return Units.bytes(Files.size(file));
		} catch (IOException e) {
			return "size unknown";
		}
	}

	/**
	 * Writes the page in the background; the file is complete or not there. Display thread.
	 *
	 * @param done gets on the display thread null, or a sentence that says why there is no page; not called when it was cancelled
	 */
	static Job write(OpenTrace trace, Path file, Consumer<String> done) {
		return FileJob.start("Report of " + trace.name(), file, (temporary, progress) -> write(trace, temporary, progress), done);
	}

	private static void write(OpenTrace trace, Path file, Progress progress) throws MemtraceException, IOException {
		String html;
		try (OpenTrace.Lease lease = trace.lease()) {
			html = Report.html(lease.virtual(), trace.advisor(progress), machine(trace, lease, progress), Report.MOST_ROWS, progress);
		}
		Files.writeString(file, html);
	}

	/** The picture of the machine; null when it was not recorded or cannot be read here, which the page says. */
	private static String machine(OpenTrace trace, OpenTrace.Lease lease, Progress progress) throws CancelledException {
		try {
			return MachineSvg.of(Hwloc.load().of(lease.virtual()), trace.accesses(), progress);
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			ILog.of(ReportExport.class).info("The report of " + trace.name() + " has no picture of the machine: " + e.getMessage());
			return null;
		}
	}
}
