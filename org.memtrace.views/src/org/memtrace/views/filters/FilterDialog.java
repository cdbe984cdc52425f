// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/** Edits one filter, or several of which one is enough, and says all the time how much the filters would leave. */
final class FilterDialog extends Dialog {
	private final OpenTrace trace;
	private final TraceFilter before;
	/** The filters of which one is enough, mostly one; null where the fields say nothing that can be used. */
	private final List<TraceFilter> parts = new ArrayList<>();
	/** The one in the fields. */
	private int part;
	private TraceFilter result;
	private Combo kind;
	private final List<ConditionEditor.Kind> kinds = new ArrayList<>();
	private Button only;
	private Button hide;
	private Composite either;
	private org.eclipse.swt.widgets.List names;
	private Composite holder;
	private ConditionEditor editor;
	private Button more;
	private Label message;
	private LatestResult<FilterSet, String> counting;

	private FilterDialog(Shell shell, OpenTrace trace, TraceFilter before) {
		super(shell);
		this.trace = trace;
		this.before = before;
		parts.addAll(before == null ? Collections.singletonList(null) : before.condition() instanceof Condition.Any a ? a.of() : List.of(before));
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
		GridLayoutFactory.fillDefaults().numColumns(5).spacing(8, 6).applyTo(top);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(top);
		only = new Button(top, SWT.RADIO);
		only.setText("&Only");
		only.setToolTipText("What has the property stays");
		hide = new Button(top, SWT.RADIO);
		hide.setText("&Hide");
		hide.setToolTipText("What has the property goes");
		only.addListener(SWT.Selection, e -> check());
		new Label(top, SWT.NONE).setText("&by");
		kind = new Combo(top, SWT.READ_ONLY);
		kinds.addAll(ConditionEditor.Kind.of(trace));
		for (TraceFilter f : parts) {
			if (f != null && !kinds.contains(ConditionEditor.Kind.of(f.condition()))) {
				kinds.add(ConditionEditor.Kind.of(f.condition())); // of a memory trace beside this one
			}
		}
		kind.setItems(kinds.stream().map(k -> k.title(trace)).toArray(String[]::new));
		kind.setVisibleItemCount(kinds.size());
		kind.addListener(SWT.Selection, e -> showEditor(null));
		more = button(top, "O&r…", "One more filter: what it or this one lets pass stays", () -> {
			parts.add(null);
			showPart(parts.size() - 1);
			editor.setFocus();
		});
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).grab(true, false).applyTo(more);
		createEither(area);
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
		showPart(0);
		editor.setFocus();
	}

	/** The list of alternatives, when there are several. */
	private void createEither(Composite area) {
		either = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 4).applyTo(either);
		GridDataFactory.fillDefaults().grab(true, false).indent(0, 4).exclude(true).applyTo(either);
		either.setVisible(false);
		names = new org.eclipse.swt.widgets.List(either, SWT.BORDER | SWT.SINGLE | SWT.V_SCROLL);
		Accessibility.name(names, "One of these is enough");
		names.setToolTipText("One of these is enough. The selected one is in the fields.");
		GridDataFactory.fillDefaults().grab(true, false).hint(300, 3 * names.getItemHeight()).applyTo(names);
		names.addListener(SWT.Selection, e -> showPart(names.getSelectionIndex() < 0 ? part : names.getSelectionIndex()));
		button(either, "&Remove", "Take the selected one away", () -> {
			parts.remove(part);
			showPart(Math.min(part, parts.size() - 1));
		});
	}

	private static Button button(Composite parent, String text, String tip, Runnable what) {
		Button button = Buttons.push(parent, text, tip, () -> what.run());
		GridDataFactory.fillDefaults().align(SWT.END, SWT.BEGINNING).applyTo(button);
		return button;
	}

	/** Puts one of the alternatives into the fields. */
	private void showPart(int index) {
		part = index;
		TraceFilter f = parts.get(index);
		only.setSelection(f == null || !f.excludes());
		hide.setSelection(f != null && f.excludes());
		kind.select(f == null ? 0 : kinds.indexOf(ConditionEditor.Kind.of(f.condition())));
		boolean several = parts.size() > 1;
		if (either.getVisible() != several) {
			either.setVisible(several);
			((GridData) either.getLayoutData()).exclude = !several;
			Point size = getShell().getSize();
			getShell().setSize(size.x, size.y + (several ? 1 : -1) * (either.computeSize(SWT.DEFAULT, SWT.DEFAULT).y + 9));
			either.getParent().layout(true, true);
		}
		showEditor(f == null ? null : f.condition());
	}

	/** What the list of alternatives says. */
	private void showNames() {
		String[] now = parts.stream().map(f -> f == null ? "…" : f.text(trace.threads(), trace.info().isInTicks(),
				trace.info().counts())).toArray(String[]::new);
		if (!Arrays.equals(now, names.getItems())) {
			names.setItems(now);
		}
		names.select(part);
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
		result = null;
		parts.set(part, null);
		try {
			Condition condition = editor.condition();
			boolean enabled = parts.size() == 1 ? before == null || before.enabled() : true;
			parts.set(part, new TraceFilter(condition, hide.getSelection(), enabled));
			if (parts.contains(null)) {
				throw new IllegalArgumentException("One of the filters above says nothing yet.");
			}
			result = result();
			FilterSet now = trace.selection().state().filters();
			counting.submit(before == null ? now.with(result) : now.replaced(before, result));
		} catch (IllegalArgumentException e) {
			counting.cancel();
			say(e.getMessage(), true);
		}
		showNames();
		more.setEnabled(!parts.contains(null));
		getButton(IDialogConstants.OK_ID).setEnabled(result != null);
	}

	private TraceFilter result() {
		if (parts.size() == 1) {
			return parts.get(0);
		}
		boolean neither = before != null && before.condition() instanceof Condition.Any && before.excludes();
		return new TraceFilter(new Condition.Any(parts.stream().map(f -> f.withEnabled(true)).distinct().toList()), neither,
				before == null || before.enabled());
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
			if (rest.hasRecords(id, progress)) {
				int member = trace.memberOf(id);
				members += member != last ? 1 : 0;
				last = member;
			}
		}
		return rest.records() == 0 ? "Nothing is left."
				: String.format(Locale.ROOT, "%,d of %,d %ss are left (%s):\n%s in %s of %s.", rest.records(), all.records(),
				trace.info().counts().row(),
						Units.percent(100.0 * rest.records() / Math.max(1, all.records())),
						Units.plural(Math.round(d.reads() + d.writes()), trace.info().counts().noun()), Units.plural(d.pages(), "page"),
						Units.plural(members, "structure"));
	}

	private String leftOfEvents(FilterSet filters, Progress progress) throws MemtraceException {
		EventTable all = trace.events(progress);
		EventTable rest = filters.apply(all, progress); // not kept: most of them are never taken
		int producers = 0;
		for (int id = 0; id < trace.producers().size(); id++) {
			producers += rest.rowTo(id) > rest.rowFrom(id) ? 1 : 0;
		}
		return rest.records() == 0 ? "Nothing is left."
				: String.format(Locale.ROOT, "%,d of %s are left (%s),\nof %s.", rest.records(), Units.plural(all.records(), "event"),
						Units.percent(100.0 * rest.records() / Math.max(1, all.records())), Units.plural(producers, "producer"));
	}

	@Override
	protected boolean isResizable() {
		return true;
	}
}
