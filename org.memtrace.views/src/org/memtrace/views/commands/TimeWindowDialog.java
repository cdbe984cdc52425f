// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.commands;

import java.math.BigDecimal;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;

/** Asks for the part of the time that is to be shown, from the start of the trace; as exact as the trace is. */
final class TimeWindowDialog extends Dialog {
	private final TraceInfo info;
	private final ViewState before;
	private Text start;
	private Text end;
	private Label message;
	private long fromNs;
	private long toNs;

	private TimeWindowDialog(Shell shell, OpenTrace trace) {
		super(shell);
		info = trace.info();
		before = trace.selection().state();
	}

	/** Shows what the user types. */
	static void ask(Shell shell, OpenTrace trace) {
		TimeWindowDialog dialog = new TimeWindowDialog(shell, trace);
		if (dialog.open() == Window.OK) {
			trace.selection().window(dialog.fromNs, dialog.toNs);
		}
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText("Time window");
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, "org.memtrace.views.ocelotl");
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite fields = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 6).applyTo(fields);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(fields);
		start = field(fields, "&From", before.fromNs());
		end = field(fields, "&To", before.toNs());
		message = new Label(area, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(360, 2 * convertHeightInCharsToPixels(1) + 4).applyTo(message);
		return area;
	}

	private Text field(Composite parent, String label, long ns) {
		new Label(parent, SWT.NONE).setText(label);
		Text text = new Text(parent, SWT.BORDER);
		long since = ns - info.startNs();
		// exact, and in the unit of the table of events
		String ms = BigDecimal.valueOf(since, 6).stripTrailingZeros().toPlainString();
		text.setText(info.isInTicks() || since == 0 ? Long.toString(since) : ms + " ms");
		text.setMessage(info.isInTicks() ? "500" : "1.5 ms");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(text);
		text.addModifyListener(e -> check());
		return text;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, IDialogConstants.OK_ID, "Show", true);
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CANCEL_LABEL, false);
		check();
		start.selectAll();
	}

	private void check() {
		String wrong = problem();
		message.setText(wrong != null ? wrong : String.format("%s of the %s of the trace.", Units.duration(info, toNs - fromNs),
				Units.duration(info, info.durationNs())));
		message.setForeground(wrong == null ? null : ScenePainter.warning(message));
		getButton(IDialogConstants.OK_ID).setEnabled(wrong == null);
	}

	/** Takes what the fields say; tells what is wrong with it, or null. */
	private String problem() {
		try {
			long from = Quantities.duration(start.getText(), info.isInTicks());
			long to = Quantities.duration(end.getText(), info.isInTicks());
			if (from >= info.durationNs()) {
				return "The trace ends at " + Units.duration(info, info.durationNs()) + ".";
			}
			if (to <= from) {
				return "The end is not after the start.";
			}
			fromNs = info.startNs() + from;
			toNs = info.startNs() + Math.min(to, info.durationNs());
			return null;
		} catch (IllegalArgumentException e) {
			return e.getMessage() + ".";
		}
	}
}
