// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import static org.memtrace.views.util.MenuActions.action;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.layout.RowLayout;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.eclipse.swt.widgets.Menu;
import org.memtrace.analysis.filter.FilterNames;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenTrace;

/**
 * The filters of a view as chips above its contents, and before them for what it is shown, when something such as a finding has changed
 * much at once; takes no room while there is neither. A change is one step of the history and reaches all views of the group. Display
 * thread.
 */
public final class FilterBar extends Composite implements Chip.Listener {
	private record Input(OpenTrace trace, FilterSet filters) {
	}

	/** @param missing what the filters name and the trace does not have, a sentence each */
	private record Left(long passed, long all, String what, List<String> missing) {
	}

	private static final String PASSED = "What the filters let pass, in the whole trace";

	private final Link reason;
	private final Composite chips;
	private final Label count;
	private final Link more;
	private final LatestResult<Input, Left> counting;
	private final MenuManager menu;
	private OpenTrace trace;
	private FilterSet shown = FilterSet.NONE;
	/** For what the trace is shown; empty for nothing in particular. */
	private String said = "";

	public FilterBar(Composite parent) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).margins(4, 1).spacing(8, 0).applyTo(this);
		reason = new Link(this, SWT.WRAP);
		reason.addListener(SWT.Selection, e -> trace.selection().back());
		GridDataFactory.fillDefaults().grab(true, false).span(3, 1).exclude(true).applyTo(reason);
		reason.setVisible(false);
		chips = new Composite(this, SWT.NONE);
		RowLayout row = new RowLayout();
		row.center = true;
		row.spacing = 4;
		row.marginTop = 1;
		row.marginBottom = 1;
		row.marginLeft = 0;
		chips.setLayout(row);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(chips);
		count = new Label(this, SWT.RIGHT);
		count.setToolTipText(PASSED);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(count);
		more = new Link(this, SWT.NONE);
		more.setText("<a>Filters…</a>");
		more.setToolTipText("Add, save or clear filters");
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(more);
		menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> FilterActions.fill(m, getShell(), trace));
		Menu popup = menu.createContextMenu(more);
		more.addListener(SWT.Selection, e -> {
			popup.setLocation(more.toDisplay(0, more.getSize().y));
			popup.setVisible(true);
		});
		counting = counting();
		GridDataFactory.fillDefaults().grab(true, false).exclude(true).applyTo(this);
		setVisible(false);
		addDisposeListener(e -> menu.dispose());
	}

	private LatestResult<Input, Left> counting() {
		return new LatestResult<>("Filter records", this, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Left compute(Input in, Progress progress) throws MemtraceException {
				OpenTrace t = in.trace();
				return t.hasAccesses()
						? new Left(t.accesses(in.filters(), progress).records(), t.accesses().records(), "record",
								FilterNames.missing(in.filters(), t.accesses(), progress))
						: new Left(t.events(in.filters(), progress).size(), t.events(progress).size(), "event",
								FilterNames.missing(in.filters(), t.events(progress), progress));
			}

			@Override
			protected void show(Input in, Left left) {
				List<String> missing = left.missing();
				count.setText((missing.isEmpty() ? "" : missing.size() == 1 ? missing.getFirst() + "   "
						: missing.size() + " names that the trace does not have   ")
						+ (left.all() == 0 ? "" : String.format(Locale.ROOT, "%,d of %s (%s)", left.passed(),
								Units.plural(left.all(), left.what()), Units.percent(100.0 * left.passed() / left.all()))));
				count.setToolTipText((missing.isEmpty() ? "" : String.join("\n", missing) + "\n") + PASSED);
				layout();
			}

			@Override
			protected void failed(Input in, String message) {
				count.setText(message);
				layout();
			}
		};
	}

	/** Shows the filters of a trace, and for what it is shown; null: none. */
	public void show(OpenTrace now) {
		FilterSet filters = now == null ? FilterSet.NONE : now.selection().state().filters();
		String why = now == null ? "" : now.selection().reason();
		boolean same = now == trace && filters.equals(shown) && why.equals(said);
		boolean was = !shown.isEmpty();
		trace = now;
		shown = filters;
		was |= !said.isEmpty();
		said = why;
		if (!same && (was || !filters.isEmpty() || !why.isEmpty())) {
			rebuild();
		}
	}

	/** Whether nothing is being counted. */
	public boolean isSettled() {
		return !counting.isBusy();
	}

	private void rebuild() {
		int focus = -1;
		Control[] before = chips.getChildren();
		for (int i = 0; i < before.length; i++) {
			focus = before[i].isFocusControl() ? i : focus;
		}
		chips.setRedraw(false);
		for (Control c : before) {
			c.dispose();
		}
		for (TraceFilter f : shown.filters()) {
			Chip chip = new Chip(chips, f, text(f), this);
			MenuManager own = new MenuManager();
			own.setRemoveAllWhenShown(true);
			own.addMenuListener(m -> fill(m, f));
			chip.setMenu(own.createContextMenu(chip));
			chip.addDisposeListener(e -> own.dispose());
		}
		chips.setRedraw(true);
		reason.setText(said.isEmpty() ? "" : said.replace("&", "&&") + ". <a>Back</a>");
		reason.setToolTipText(said.isEmpty() ? null : "Back brings back what was shown before, in all views");
		see(reason, !said.isEmpty());
		boolean filtered = !shown.isEmpty();
		for (Control c : new Control[] {chips, count, more}) {
			see(c, filtered);
		}
		see(this, filtered || !said.isEmpty());
		if (filtered) {
			count.setText("");
			counting.submit(new Input(trace, shown));
		} else {
			counting.cancel();
		}
		layout(true, true);
		getParent().layout();
		Control[] now = chips.getChildren();
		if (focus >= 0) {
			if (now.length > 0) {
				now[Math.min(focus, now.length - 1)].setFocus();
			} else {
				getParent().setFocus();
			}
		}
	}

	private static void see(Control c, boolean visible) {
		c.setVisible(visible);
		((GridData) c.getLayoutData()).exclude = !visible;
	}

	private void fill(IMenuManager m, TraceFilter f) {
		m.add(action("Change…", () -> edit(f)));
		m.add(action(f.enabled() ? "Switch off" : "Switch on", () -> toggle(f)));
		m.add(action(f.excludes() ? "Show only this" : "Hide this", () -> change(f,
				new TraceFilter(f.condition(), !f.excludes(), f.enabled()))));
		m.add(action("Remove", () -> remove(f)));
		m.add(new Separator());
		m.add(action("Or…", () -> or(f)));
		for (TraceFilter other : shown.filters()) {
			if (!other.equals(f)) {
				m.add(action(FilterActions.label("Or ", text(other)), () -> trace.selection().filters(shown.joined(f, other))));
			}
		}
		if (f.alternatives().size() > 1) {
			m.add(action("Separate: all of these", () -> trace.selection().filters(shown.separated(f))));
		}
		m.add(new Separator());
		FilterActions.fill(m, getShell(), trace);
	}

	private void change(TraceFilter old, TraceFilter now) {
		trace.selection().filters(trace.selection().state().filters().replaced(old, now));
	}

	@Override
	public void remove(TraceFilter f) {
		trace.selection().removeFilter(f);
	}

	@Override
	public void edit(TraceFilter f) {
		OpenTrace about = trace;
		TraceFilter changed = FilterDialog.ask(getShell(), about, f);
		if (changed != null && Objects.equals(about, trace)) {
			change(f, changed);
		}
	}

	@Override
	public void or(TraceFilter f) {
		OpenTrace about = trace;
		TraceFilter more = FilterDialog.ask(getShell(), about, null);
		if (more != null && Objects.equals(about, trace)) {
			change(f, TraceFilter.any(f, more));
		}
	}

	private String text(TraceFilter f) {
		return f.text(trace.threads(), trace.info().isInTicks(), trace.info().counts());
	}

	@Override
	public void toggle(TraceFilter f) {
		change(f, f.withEnabled(!f.enabled()));
	}

	@Override
	public void move(Chip from, int step) {
		Control[] all = chips.getChildren();
		for (int i = 0; i < all.length; i++) {
			if (all[i] == from && i + step >= 0 && i + step < all.length) {
				all[i + step].setFocus();
				return;
			}
		}
	}
}
