// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import static org.memtrace.views.util.MenuActions.action;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.viewers.IStructuredSelection;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.graphics.TextLayout;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.ui.ISelectionListener;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.analysis.catalogue.TraceSearch;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.Later;

/** Everything that is known about the selected trace: command, machine, guarantee of the backend, losses, import report. */
public final class DetailsView extends ViewPart {
	private static final int NAME_PIXELS = 122;
	private static final int NAME_MARGIN = 14;
	/** Of the table, at most. */
	private static final double NAME_SHARE = 0.45;
	private static final int CELL_MARGIN = 4;
	/** What is longer, as a PATH is, is in the tip. */
	private static final int MOST_LINES = 4;

	private Session session;
	private Table table;
	private Action add;
	private TraceChanges changes;
	/** Traces of the catalogue whose details are shown; empty for a file. */
	private List<TraceInfo> subjects = List.of();
	private TraceInfo shown;
	private OpenFile shownFile;
	private String shownReport = "";
	private Later showRows;
	private List<TraceDetails.Row> rows = List.of();
	/** Breaks values into lines. */
	private TextLayout layout;
	/** Width of the table for which its lines are. */
	private int wrappedFor = -1;
	/** Makes the column of names as wide as they need, and gives the values the rest. */
	private Runnable fitNames;

	private final ISelectionListener selected = (part, selection) -> {
		Object element = selection instanceof IStructuredSelection s ? s.getFirstElement() : null;
		if (selection instanceof IStructuredSelection s && s.size() > 1) {
			List<TraceInfo> several = new ArrayList<>();
			for (Object o : s) {
				if (o instanceof TraceInfo t) {
					several.add(t);
				}
			}
			if (several.size() > 1) {
				showCommon(several);
				return;
			}
		}
		OpenTrace open = session.trace();
		if (element instanceof TraceInfo t && choose(t, null, open != null && open.isListed(t) ? open.importReport() : "")
				|| element instanceof OpenFile f && choose(f.info(), f, open != null && open.isFile(f) ? open.importReport() : "")) {
			fill();
		}
	};
	private final Session.Listener follow = new Session.Listener() {
		@Override
		public void traceChanged(OpenTrace trace) {
			follow(trace);
		}

		@Override
		public void traceRenamed(OpenTrace trace) {
			if (trace == session.trace() && subjects.size() < 2) {
				follow(trace);
			}
		}
	};

	@Override
	public void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
		table = new Table(parent, SWT.FULL_SELECTION | SWT.MULTI | SWT.V_SCROLL | SWT.H_SCROLL);
		showRows = new Later(table, this::fill);
		Accessibility.name(table, "Details of the selected trace");
		TableColumn name = new TableColumn(table, SWT.LEFT);
		TableColumn value = new TableColumn(table, SWT.LEFT);
		layout = new TextLayout(table.getDisplay());
		table.addListener(SWT.Dispose, e -> layout.dispose());
		fitNames = () -> {
			int width = nameWidth();
			name.setWidth(width);
			value.setWidth(Math.max(NAME_PIXELS, table.getClientArea().width - width));
		};
		drawValues();
		makeActions();
		table.addListener(SWT.KeyDown, e -> {
			if ((e.stateMask & SWT.MOD1) != 0 && e.keyCode == 'c') {
				copy();
			} else if (e.keyCode == SWT.F2) {
				edit();
			} else if (e.keyCode == SWT.DEL) {
				deleteProperty();
			}
		});
		getSite().getPage().addSelectionListener(ViewIds.TRACES, selected);
		session.addListener(follow);
		follow(session.trace());
	}

	/** Values are wrapped to the width of their column. */
	private void drawValues() {
		table.addListener(SWT.Resize, e -> {
			if (table.getClientArea().width != wrappedFor) {
				fitNames.run();
				showRows.request();
			}
		});
		// the toolkit would cut what is too long without a sign
		table.addListener(SWT.EraseItem, e -> {
			if (e.index == 1) {
				e.detail &= ~SWT.FOREGROUND;
			}
		});
		table.addListener(SWT.PaintItem, this::paintValue);
		table.addListener(SWT.MouseHover, e -> {
			TableItem item = table.getItem(new org.eclipse.swt.graphics.Point(e.x, e.y));
			table.setToolTipText(item == null ? null : wrapped(row(item).name().strip() + ": " + row(item).value()));
		});
	}

	private void makeActions() {
		Action copy = new Action("Copy") {
			@Override
			public void run() {
				copy();
			}
		};
		changes = new TraceChanges(session, getSite().getShell());
		Action edit = action("Change…", this::edit);
		Action delete = action("Delete property", this::deleteProperty);
		Action describe = action("Describe…", () -> changes.describe(subjects));
		add = action("Add property…", () -> changes.addProperty(subjects, subjects));
		add.setToolTipText("Give the selected traces a property of your own, such as the version of the program");
		add.setImageDescriptor(Icons.get("add"));
		getViewSite().getActionBars().getToolBarManager().add(add);
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> {
			String what = edits();
			if (what != null && !(what.equals(TraceDetails.NAME) && subjects.size() > 1)) {
				m.add(edit);
			}
			if (what != null && what.startsWith(TraceSearch.OWN_PROPERTY)) {
				m.add(delete);
			}
			if (!subjects.isEmpty()) {
				m.add(describe);
				m.add(add);
				m.add(new Separator());
			}
			m.add(copy);
		});
		table.addListener(SWT.DefaultSelection, e -> edit());
		table.setMenu(menu.createContextMenu(table));
	}

	/** As wide as the longest name, but the values keep more than half of the table. */
	private int nameWidth() {
		GC gc = new GC(table);
		int least = Math.max(NAME_PIXELS, gc.textExtent("Event producers").x + NAME_MARGIN);
		int longest = 0;
		for (TraceDetails.Row row : rows) {
			gc.setFont(row.heading() ? JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT) : table.getFont());
			longest = Math.max(longest, gc.textExtent(row.name()).x + NAME_MARGIN);
		}
		gc.dispose();
		return Math.max(least, Math.min(longest, (int) (NAME_SHARE * table.getClientArea().width)));
	}

	private void paintValue(Event e) {
		TableItem item = (TableItem) e.item;
		if (e.index != 1 || item.getText(1).isEmpty()) {
			return;
		}
		Rectangle cell = item.getTextBounds(1);
		String text = item.getText(1).replaceAll("\\s+", " ");
		int width = table.getColumn(1).getWidth() - (cell.x - item.getBounds(1).x) - CELL_MARGIN;
		if (e.gc.textExtent(text).x > width) {
			int fits = 0;
			for (int end = text.length() - 1; fits < end;) {
				int middle = (fits + end + 1) / 2;
				if (e.gc.textExtent(text.substring(0, middle) + "…").x <= width) {
					fits = middle;
				} else {
					end = middle - 1;
				}
			}
			text = text.substring(0, fits) + "…";
		}
		e.gc.drawText(text, cell.x, cell.y + (cell.height - e.gc.textExtent(text).y) / 2, true);
	}

	private static String wrapped(String text) {
		StringBuilder b = new StringBuilder();
		int column = 0;
		for (String word : text.split(" ")) {
			if (column > 80) {
				b.append('\n');
				column = 0;
			}
			b.append(word).append(' ');
			column += word.length() + 1;
		}
		return b.toString().strip().replace("&", "&&");
	}

	private void follow(OpenTrace open) {
		if (open == null ? choose(null, null, "") : choose(open.info(), open.file(), open.importReport())) {
			table.deselectAll(); // its rows are those of another trace until then
			showRows.request();
		}
	}

	/**
	 * Of which trace the details are.
	 *
	 * @param file null for a trace of the catalogue
	 * @return whether it is another one
	 */
	private boolean choose(TraceInfo trace, OpenFile file, String report) {
		if (table.isDisposed() || trace != null && trace.equals(shown) && Objects.equals(file, shownFile)
				&& report.equals(shownReport)) {
			return false;
		}
		shown = trace;
		shownFile = file;
		shownReport = report;
		subjects = trace == null || file != null ? List.of() : List.of(trace);
		add.setEnabled(!subjects.isEmpty());
		return true;
	}

	/** What several traces have in common. */
	private void showCommon(List<TraceInfo> traces) {
		if (table.isDisposed()) {
			return;
		}
		shown = null;
		shownFile = null;
		shownReport = "";
		subjects = List.copyOf(traces);
		add.setEnabled(true);
		fill();
	}

	/** The lines of a value, the last one with all that is left. */
	private List<String> lines(String value) {
		String text = value.replaceAll("\\s+", " ");
		if (text.isEmpty()) {
			return List.of("");
		}
		layout.setFont(table.getFont());
		layout.setText(text);
		layout.setWidth(Math.max(NAME_PIXELS / 2, table.getColumn(1).getWidth() - 3 * CELL_MARGIN));
		int[] offsets = layout.getLineOffsets();
		List<String> lines = new ArrayList<>();
		for (int i = 0; i + 1 < offsets.length && i < MOST_LINES; i++) {
			lines.add(text.substring(offsets[i], i == MOST_LINES - 1 ? text.length() : offsets[i + 1]).strip());
		}
		return lines;
	}

	private void fill() {
		rows = shown != null
				? TraceDetails.of(shown, shownFile == null ? null : shownFile.path(), shownReport)
				: subjects.isEmpty() ? List.of() : TraceDetails.common(subjects);
		// items are used again: nothing flickers, and where one has scrolled to stays; so does what is selected, by its name
		List<String> chosen = rows(table.getSelection()).stream().map(TraceDetails.Row::name).toList();
		table.deselectAll();
		fitNames.run();
		wrappedFor = table.getClientArea().width;
		int i = 0;
		for (TraceDetails.Row row : rows) {
			boolean first = true;
			for (String line : lines(row.value())) {
				TableItem item = i < table.getItemCount() ? table.getItem(i) : new TableItem(table, SWT.NONE);
				item.setText(0, first ? row.name() : "");
				item.setText(1, line);
				item.setData(row);
				item.setFont(row.heading() ? JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT) : null);
				item.setForeground(1, row.warning() ? ScenePainter.warning(table) : null);
				if (chosen.contains(row.name())) {
					table.select(i);
				}
				first = false;
				i++;
			}
		}
		if (table.getItemCount() > i) {
			table.remove(i, table.getItemCount() - 1);
		}
	}

	private static TraceDetails.Row row(TableItem item) {
		return (TraceDetails.Row) item.getData();
	}

	/** The rows of some of the lines. */
	private static List<TraceDetails.Row> rows(TableItem[] items) {
		return Arrays.stream(items).map(DetailsView::row).distinct().toList();
	}

	/** What the selected row lets a person change, or null. */
	private String edits() {
		List<TraceDetails.Row> chosen = rows(table.getSelection());
		return chosen.size() == 1 && !subjects.isEmpty() ? chosen.get(0).edits() : null;
	}

	private void edit() {
		String what = edits();
		if (what == null) {
			return;
		}
		switch (what) {
		case TraceDetails.NAME -> {
			if (subjects.size() == 1) {
				changes.rename(subjects.get(0));
			}
		}
		case TraceDetails.DESCRIPTION -> changes.describe(subjects);
		default -> changes.changeProperty(subjects, what);
		}
	}

	private void deleteProperty() {
		String what = edits();
		if (what != null && what.startsWith(TraceSearch.OWN_PROPERTY)) {
			changes.setProperty(subjects, what, null);
		}
	}

	private void copy() {
		StringBuilder text = new StringBuilder();
		TableItem[] items = table.getSelectionCount() > 0 ? table.getSelection() : table.getItems();
		for (TraceDetails.Row row : rows(items)) {
			text.append(row.name()).append('\t').append(row.value()).append('\n');
		}
		if (!text.isEmpty()) {
			Clipboard clipboard = new Clipboard(table.getDisplay());
			clipboard.setContents(new Object[] { text.toString() }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		}
	}

	@Override
	public void setFocus() {
		table.setFocus();
	}

	@Override
	public void dispose() {
		if (session != null) {
			session.removeListener(follow);
			getSite().getPage().removeSelectionListener(ViewIds.TRACES, selected);
		}
		super.dispose();
	}
}
