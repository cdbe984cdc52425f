// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.EventTable;
import org.memtrace.analysis.Condition;
import org.memtrace.analysis.FilterSet;
import org.memtrace.analysis.TraceFilter;
import org.memtrace.analysis.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;

/** Edits one filter, and says all the time how much the filters would leave. */
final class FilterDialog extends Dialog {
	private final OpenTrace trace;
	private final TraceFilter before;
	private TraceFilter result;
	private Combo kind;
	private final List<ConditionEditor.Kind> kinds = new ArrayList<>();
	private Button only;
	private Button hide;
	private Composite holder;
	private ConditionEditor editor;
	private Label message;
	private LatestResult<FilterSet, String> counting;

	private FilterDialog(Shell shell, OpenTrace trace, TraceFilter before) {
		super(shell);
		this.trace = trace;
		this.before = before;
		setShellStyle(getShellStyle() | SWT.RESIZE);
	}

	/** Asks for a filter; {@code before} is changed, null for a new one. Null when the user cancels. */
	static TraceFilter ask(Shell shell, OpenTrace trace, TraceFilter before) {
		FilterDialog dialog = new FilterDialog(shell, trace, before);
		return dialog.open() == Window.OK ? dialog.result : null;
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText(before == null ? "Add filter" : "Change filter");
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, "org.memtrace.views.filters");
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite top = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).spacing(8, 6).applyTo(top);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(top);
		only = new Button(top, SWT.RADIO);
		only.setText("&Only");
		only.setToolTipText("What has the property stays");
		hide = new Button(top, SWT.RADIO);
		hide.setText("&Hide");
		hide.setToolTipText("What has the property goes");
		boolean excludes = before != null && before.excludes();
		only.setSelection(!excludes);
		hide.setSelection(excludes);
		only.addListener(SWT.Selection, e -> check());
		new Label(top, SWT.NONE).setText("&by");
		kind = new Combo(top, SWT.READ_ONLY);
		kinds.addAll(ConditionEditor.Kind.of(trace));
		if (before != null && !kinds.contains(ConditionEditor.Kind.of(before.condition()))) {
			kinds.add(ConditionEditor.Kind.of(before.condition())); // of a memory trace beside this one
		}
		kind.setItems(kinds.stream().map(k -> k.title(trace)).toArray(String[]::new));
		kind.setVisibleItemCount(kinds.size());
		kind.select(before == null ? 0 : kinds.indexOf(ConditionEditor.Kind.of(before.condition())));
		kind.addListener(SWT.Selection, e -> showEditor(null));
		holder = new Composite(area, SWT.NONE);
		holder.setLayout(new FillLayout());
		GridDataFactory.fillDefaults().grab(true, true).hint(420, 235).indent(0, 6).applyTo(holder);
		message = new Label(area, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(420, 2 * convertHeightInCharsToPixels(1) + 4).applyTo(message);
		counting = new LatestResult<>("Count what is left", area, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected String compute(FilterSet input, Progress progress) throws MemtraceException {
				return left(input, progress);
			}

			@Override
			protected void show(FilterSet input, String text) {
				say(text, false);
			}

			@Override
			protected void failed(FilterSet input, String text) {
				say(text, true);
			}
		};
		return area;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, IDialogConstants.OK_ID, before == null ? "Add" : IDialogConstants.OK_LABEL, true);
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CANCEL_LABEL, false);
		showEditor(before == null ? null : before.condition());
		editor.setFocus();
	}

	private void showEditor(Condition condition) {
		if (editor != null) {
			editor.dispose();
		}
		editor = ConditionEditor.create(holder, kinds.get(kind.getSelectionIndex()), trace, condition,
				this::check);
		holder.layout(true, true);
		check();
		if (result == null) {
			say(message.getText(), false); // nobody has typed anything wrong yet
		}
	}

	/** Takes what the fields say, or says what is wrong with it. */
	private void check() {
		if (editor == null) {
			return; // its fields are being made
		}
		try {
			result = new TraceFilter(editor.condition(), hide.getSelection(), before == null || before.enabled());
			FilterSet now = trace.selection().state().filters();
			counting.submit(before == null ? now.with(result) : now.replaced(before, result));
		} catch (IllegalArgumentException e) {
			result = null;
			counting.cancel();
			say(e.getMessage(), true);
		}
		getButton(IDialogConstants.OK_ID).setEnabled(result != null);
	}

	private void say(String text, boolean wrong) {
		message.setText(text);
		message.setForeground(wrong ? ScenePainter.warning(message) : null);
	}

	private String left(FilterSet filters, Progress progress) throws MemtraceException {
		if (!trace.hasAccesses()) {
			return leftOfEvents(filters, progress);
		}
		AccessTable all = trace.accesses();
		AccessTable rest = filters.apply(all, trace.structures(), progress);
		AccessDetails d = rest.details(0, trace.producers().size(), Long.MIN_VALUE, Long.MAX_VALUE);
		progress.check();
		int members = 0;
		int last = -1;
		for (int id = 0; id < trace.producers().size(); id++) {
			if (rest.hasRecords(id)) {
				int member = trace.memberOf(id);
				members += member != last ? 1 : 0;
				last = member;
			}
		}
		return rest.size() == 0 ? "Nothing is left."
				: String.format(Locale.ROOT, "%,d of %,d records are left (%s):\n%s in %s of %s.", rest.size(), all.size(),
						Units.percent(100.0 * rest.size() / Math.max(1, all.size())),
						Units.plural(Math.round(d.reads() + d.writes()), "access"), Units.plural(d.pages(), "page"),
						Units.plural(members, "structure"));
	}

	private String leftOfEvents(FilterSet filters, Progress progress) throws MemtraceException {
		EventTable all = trace.events(progress);
		EventTable rest = filters.apply(all, progress); // not kept: most of them are never taken
		int producers = 0;
		for (int id = 0; id < trace.producers().size(); id++) {
			producers += rest.rowTo(id) > rest.rowFrom(id) ? 1 : 0;
		}
		return rest.size() == 0 ? "Nothing is left."
				: String.format(Locale.ROOT, "%,d of %s are left (%s),\nof %s.", rest.size(), Units.plural(all.size(), "event"),
						Units.percent(100.0 * rest.size() / Math.max(1, all.size())), Units.plural(producers, "producer"));
	}

	@Override
	protected boolean isResizable() {
		return true;
	}
}
