// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.example.view;

import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.view.TraceView;

/**
 * The accesses of each thread in the window that is shown. The base class gives the view its trace, its group, the lock and the
 * filters; this class says what is computed and what is shown.
 */
public final class ThreadsView extends TraceView {
	private Table table;
	private LatestResult<Input, List<Item>> loading;

	/** What a result depends on. */
	private record Input(OpenTrace trace, ViewState state) {
	}

	@Override
	protected void createContents(Composite parent) {
		table = new Table(parent, SWT.FULL_SELECTION);
		table.setHeaderVisible(true);
		column("Thread", SWT.LEFT, 300);
		column("Accesses", SWT.RIGHT, 120);
		loading = new LatestResult<>("Threads", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected List<Item> compute(Input in, Progress progress) throws MemtraceException {
				ViewState s = in.state();
				AccessTable accesses = in.trace().accesses(s.filters(), progress);
				return Statistics.of(accesses, Sum.ACCESSES, BasicDimensions.THREAD, s.fromNs(), s.toNs(), s.producer(), progress);
			}

			@Override
			protected void show(Input in, List<Item> result) {
				table.removeAll();
				for (Item i : result) {
					new TableItem(table, SWT.NONE).setText(new String[] { i.name(), Sum.ACCESSES.text(i.value(), false) });
				}
			}
		};
	}

	private void column(String title, int align, int width) {
		TableColumn column = new TableColumn(table, align);
		column.setText(title);
		column.setWidth(width);
	}

	@Override
	protected void traceShown(OpenTrace now) {
		loading.cancel();
		table.removeAll();
		if (now != null && now.hasAccesses()) {
			loading.submit(new Input(now, now.selection().state()));
		}
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (trace().hasAccesses() && !now.sameAccesses(old)) {
			loading.submit(new Input(trace(), now));
		}
	}

	@Override
	protected boolean isSettled() {
		return !loading.isBusy();
	}

	@Override
	public void setFocus() {
		table.setFocus();
	}
}
