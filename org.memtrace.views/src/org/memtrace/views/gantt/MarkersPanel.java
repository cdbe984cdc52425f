// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import static org.memtrace.views.util.MenuActions.action;

import java.util.List;
import java.util.function.Consumer;

import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.ColorDialog;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;

/** The markers and bookmarks of the trace at the side of the chart: jump, rename, colour, delete. */
final class MarkersPanel extends Composite {
	private static final int SWATCH = 12;

	private final Table table;
	private final Label hint;
	private final Consumer<Marker> jump;
	private final Runnable follow = this::refresh;
	private OpenTrace trace;
	private List<Marker> shown = List.of();

	MarkersPanel(Composite parent, Consumer<Marker> jump) {
		super(parent, SWT.NONE);
		this.jump = jump;
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(this);
		table = new Table(this, SWT.FULL_SELECTION | SWT.SINGLE | SWT.V_SCROLL);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(table);
		table.setHeaderVisible(true);
		column("Marker", 110);
		column("Time", 125);
		column("Row", 100);
		Accessibility.name(table, "Markers and bookmarks");
		hint = new Label(this, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).indent(6, 4).hint(120, SWT.DEFAULT).applyTo(hint);
		table.addListener(SWT.DefaultSelection, e -> jumpToSelected());
		table.addListener(SWT.KeyDown, e -> {
			if (e.keyCode == SWT.DEL) {
				delete();
			} else if (e.keyCode == SWT.F2) {
				rename();
			}
		});
		makeMenu();
		addListener(SWT.Dispose, e -> {
			setTrace(null);
			disposeImages();
		});
		refresh();
	}

	private void column(String text, int width) {
		TableColumn column = new TableColumn(table, SWT.NONE);
		column.setText(text);
		column.setWidth(width);
	}

	private void makeMenu() {
		MenuManager menu = new MenuManager();
		menu.add(action("Go to", this::jumpToSelected));
		menu.add(action("Rename…\tF2", this::rename));
		menu.add(action("Colour…", this::recolour));
		menu.add(action("Delete\tDel", this::delete));
		menu.addMenuListener(m -> {
			for (var item : menu.getItems()) {
				((org.eclipse.jface.action.ActionContributionItem) item).getAction().setEnabled(selected() != null);
			}
		});
		table.setMenu(menu.createContextMenu(table));
	}

	/** The trace whose markers are shown; null none. */
	void setTrace(OpenTrace now) {
		if (trace != null) {
			trace.markers().removeListener(follow);
		}
		trace = now;
		if (now != null) {
			now.markers().addListener(follow);
		}
		if (!isDisposed() && !table.isDisposed()) {
			refresh();
		}
	}

	private void refresh() {
		int index = table.getSelectionIndex();
		disposeImages();
		table.removeAll();
		shown = trace == null ? List.of() : trace.markers().all();
		for (Marker m : shown) {
			TableItem item = new TableItem(table, SWT.NONE);
			item.setText(new String[] { m.name(), time(m), m.producer() == Marker.NO_PRODUCER
					|| m.producer() >= trace.producers().size() ? "" : trace.producers().name(m.producer()) });
			item.setImage(0, swatch(m));
		}
		if (index >= 0 && index < shown.size()) {
			table.select(index);
		}
		String problem = trace == null ? null : trace.markers().problem();
		hint.setText(problem != null ? "Not stored: " + problem
				: shown.isEmpty() ? "M in the chart sets a marker, B a bookmark" : "");
		hint.setForeground(problem != null ? ScenePainter.warning(this) : null);
		((GridData) hint.getLayoutData()).exclude = hint.getText().isEmpty();
		hint.setVisible(!hint.getText().isEmpty());
		layout();
	}

	private String time(Marker m) {
		if (!m.hasTime()) {
			return "";
		}
		String from = Units.duration(trace.info(), m.fromNs() - trace.info().startNs());
		return m.isInstant() ? from : from + " + " + Units.duration(trace.info(), m.toNs() - m.fromNs());
	}

	/** A flag for markers, a hollow one for bookmarks. */
	private Image swatch(Marker m) {
		return new Image(getDisplay(), (GC gc, int width, int height) -> {
			gc.setAntialias(SWT.ON);
			int[] flag = { 3, 1, 11, 4, 3, 7 };
			gc.setForeground(ScenePainter.color(m.argb()));
			gc.setBackground(ScenePainter.color(m.argb()));
			if (!m.bookmark()) {
				gc.fillPolygon(flag);
			}
			gc.drawPolygon(flag);
			gc.drawLine(3, 1, 3, 11);
		}, SWATCH, SWATCH);
	}

	private void disposeImages() {
		if (!table.isDisposed()) {
			for (TableItem item : table.getItems()) {
				if (item.getImage() != null) {
					item.getImage().dispose();
				}
			}
		}
	}

	private Marker selected() {
		int index = table.getSelectionIndex();
		return index < 0 || index >= shown.size() ? null : shown.get(index);
	}

	private void jumpToSelected() {
		Marker m = selected();
		if (m != null) {
			jump.accept(m);
		}
	}

	private void rename() {
		Marker m = selected();
		if (m == null) {
			return;
		}
		InputDialog dialog = new InputDialog(getShell(), "Rename marker", "Name", m.name(),
				text -> text.isBlank() ? "A marker needs a name" : null);
		if (dialog.open() == Window.OK && trace != null) {
			trace.markers().replace(trace, m, m.withName(dialog.getValue()));
		}
	}

	private void recolour() {
		Marker m = selected();
		if (m == null) {
			return;
		}
		ColorDialog dialog = new ColorDialog(getShell());
		dialog.setRGB(new RGB(m.argb() >> 16 & 0xff, m.argb() >> 8 & 0xff, m.argb() & 0xff));
		RGB rgb = dialog.open();
		if (rgb != null && trace != null) {
			trace.markers().replace(trace, m, m.withColor(rgb.red << 16 | rgb.green << 8 | rgb.blue));
		}
	}

	private void delete() {
		Marker m = selected();
		if (m != null) {
			trace.markers().remove(trace, m);
		}
	}

	Table table() {
		return table;
	}
}
