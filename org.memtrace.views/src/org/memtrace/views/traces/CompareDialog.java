// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.viewers.LabelProvider;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.dialogs.ElementListSelectionDialog;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;

/** Shows another trace beside the one that is shown, for example the run before and the run after a change. */
public final class CompareDialog {
	private CompareDialog() {
	}

	/** Asks for the other trace; the list is read in the background. */
	public static void ask(IWorkbenchWindow window) {
		Session session = window.getService(Session.class);
		Shell shell = window.getShell();
		new LatestResult<OpenTrace, List<TraceInfo>>("List traces", shell, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected List<TraceInfo> compute(OpenTrace shown, Progress progress) throws MemtraceException {
				return session.catalogue().list();
			}

			@Override
			protected void show(OpenTrace shown, List<TraceInfo> listed) {
				choose(window, session, shown, listed);
			}

			@Override
			protected void failed(OpenTrace shown, String message) {
				choose(window, session, shown, List.of());
			}
		}.submit(session.trace());
	}

	private static void choose(IWorkbenchWindow window, Session session, OpenTrace shown, List<TraceInfo> listed) {
		if (shown == null || shown != session.trace()) {
			return;
		}
		List<Object> others = new ArrayList<>(session.files());
		others.removeIf(f -> shown.isFile((OpenFile) f));
		listed.stream().filter(t -> !shown.isListed(t)).forEach(others::add);
		if (others.isEmpty()) {
			MessageDialog.openInformation(window.getShell(), "Compare",
					"There is no other trace to compare with. Record or import one first.");
			return;
		}
		Choice dialog = new Choice(window.getShell(), shown);
		dialog.setElements(others.toArray());
		if (dialog.open() == Window.OK && dialog.getFirstResult() != null && session.trace() == shown) {
			Comparison.show(window.getActivePage(), dialog.getFirstResult(), dialog.time);
		}
	}

	/** A list of traces and how the times of both belong together. */
	private static final class Choice extends ElementListSelectionDialog {
		private SelectionLink.Time time = SelectionLink.Time.SCALED;

		Choice(Shell shell, OpenTrace shown) {
			super(shell, new LabelProvider() {
				@Override
				public String getText(Object element) {
					TraceInfo t = element instanceof OpenFile f ? f.info() : (TraceInfo) element;
					String name = element instanceof OpenFile f ? f.path().getFileName().toString() : t.alias();
					return name + "   " + TracesView.when(t.recordedAt()) + ", " + Units.duration(t, t.durationNs());
				}
			});
			setTitle("Compare");
			setMessage("Compare '" + shown.name() + "' with:");
			setIgnoreCase(true);
			setMultipleSelection(false);
			setHelpAvailable(false);
		}

		@Override
		protected Control createDialogArea(Composite parent) {
			Composite area = (Composite) super.createDialogArea(parent);
			Button scaled = new Button(area, SWT.RADIO);
			scaled.setText("Zoom both to the same &share of the run");
			scaled.setToolTipText("The first tenth of one beside the first tenth of the other: for runs of different length");
			scaled.setSelection(true);
			Button since = new Button(area, SWT.RADIO);
			since.setText("Zoom both to the same &time since start");
			scaled.addListener(SWT.Selection, e -> time = scaled.getSelection() ? SelectionLink.Time.SCALED
					: SelectionLink.Time.SINCE_START);
			return area;
		}
	}
}
