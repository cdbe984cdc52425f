// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/** The processes of this machine that have a program, to choose one. */
final class ProcessTable extends Composite {
	private static final String[] TITLES = { "Process", "User", "Threads", "Command" };
	private static final int[] WIDTHS = { 80, 90, 70, 380 };
	private static final int COMMAND = 300;

	/** A process as it is shown. */
	private record Item(long pid, String user, int threads, String command) {
	}

	private final Text filter;
	private final Table table;
	private final Runnable changed;
	private final LatestResult<String, List<Item>> listing;
	private List<Item> items = List.of();
	private long selected;

	ProcessTable(Composite parent, Runnable changed) {
		super(parent, SWT.NONE);
		this.changed = changed;
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(6, 6).applyTo(this);
		filter = new Text(this, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter by name, user or number");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(filter);
		filter.addModifyListener(e -> show());
		Buttons.push(this, "Re&fresh", null, () -> refresh());
		table = new Table(this, SWT.BORDER | SWT.SINGLE | SWT.FULL_SELECTION | SWT.V_SCROLL);
		Accessibility.name(table, "Processes");
		table.setHeaderVisible(true);
		GridDataFactory.fillDefaults().grab(true, true).span(2, 1).hint(500, 190).applyTo(table);
		for (int i = 0; i < TITLES.length; i++) {
			TableColumn column = new TableColumn(table, i == 0 || i == 2 ? SWT.RIGHT : SWT.LEFT);
			column.setText(TITLES[i]);
			column.setWidth(WIDTHS[i]);
		}
		table.addListener(SWT.Selection, e -> {
			selected = table.getSelectionIndex() < 0 ? 0 : ((Item) table.getSelection()[0].getData()).pid();
			changed.run();
		});
		listing = new LatestResult<>("List processes", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected List<Item> compute(String input, Progress progress) {
				return ProcessTable.list();
			}

			@Override
			protected void show(String input, List<Item> result) {
				items = result;
				ProcessTable.this.show();
			}
		};
	}

	private static List<Item> list() {
		List<Item> found = new ArrayList<>();
		ProcessHandle.allProcesses().filter(p -> p.pid() != ProcessHandle.current().pid()).forEach(p -> {
			ProcessHandle.Info info = p.info();
			String command = info.command().orElse("");
			if (!command.isEmpty()) { // kernel threads, and processes of others, have none
				String line = command(p.pid(), command);
				found.add(new Item(p.pid(), info.user().orElse(""), threads(p.pid()),
						line.length() > COMMAND ? line.substring(0, COMMAND) + "…" : line));
			}
		});
		found.sort(Comparator.comparingLong(Item::pid).reversed());
		return found;
	}

	private static String command(long pid, String otherwise) {
		try {
			String text = new String(Files.readAllBytes(Path.of("/proc/" + pid + "/cmdline")), StandardCharsets.UTF_8);
			return text.isEmpty() ? otherwise : text.replace('\0', ' ').strip();
		} catch (IOException e) {
			return otherwise;
		}
	}

	private static int threads(long pid) {
		String[] tasks = Path.of("/proc/" + pid + "/task").toFile().list();
		return tasks == null ? 1 : tasks.length;
	}

	void refresh() {
		listing.submit("");
	}

	private void show() {
		String text = filter.getText().strip().toLowerCase(Locale.ROOT);
		table.setRedraw(false);
		table.removeAll();
		for (Item i : items) {
			String[] cells = { Long.toString(i.pid()), i.user(), Integer.toString(i.threads()), i.command() };
			if (String.join(" ", cells).toLowerCase(Locale.ROOT).contains(text)) {
				TableItem row = new TableItem(table, SWT.NONE);
				row.setText(cells);
				row.setData(i);
				if (i.pid() == selected) {
					table.setSelection(row);
				}
			}
		}
		table.setRedraw(true);
		if (table.getSelectionIndex() < 0) {
			selected = 0;
		}
		changed.run();
	}

	void select(long pid) {
		selected = pid;
		refresh();
	}

	/** Process number, 0: none is chosen. */
	long selected() {
		return selected;
	}
}
