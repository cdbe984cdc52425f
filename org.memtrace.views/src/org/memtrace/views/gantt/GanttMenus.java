// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import static org.memtrace.views.util.MenuActions.action;

import java.util.Set;
import java.util.function.Supplier;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.ColorDialog;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.gantt.GanttPicture.Hit;
import org.memtrace.analysis.gantt.GanttPresenter;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttStyle;
import org.memtrace.analysis.gantt.GanttType;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;

/** The context menu of a Gantt chart, and the menu of how it looks. Display thread. */
final class GanttMenus {
	/** What the view does. */
	interface Actions {
		/** @param ofRow whether it is for the selected row alone */
		void addMarker(boolean ofRow);

		void addBookmark();

		/** The window becomes the time of the selected record, and the table of events selects it. */
		void showInEvents();
	}

	private final GanttCanvas canvas;
	private final GanttPresenter presenter;
	private final Supplier<OpenTrace> trace;
	private final Colours colours;
	private final Actions actions;

	/** @param trace what the view shows */
	GanttMenus(GanttCanvas canvas, GanttPresenter presenter, Supplier<OpenTrace> trace, Colours colours, Actions actions) {
		this.canvas = canvas;
		this.presenter = presenter;
		this.trace = trace;
		this.colours = colours;
		this.actions = actions;
	}

	void fillLook(IMenuManager menu) {
		GanttStyle style = presenter.style();
		menu.add(check("Rows in order of name", presenter.order() == Order.NAME,
				() -> presenter.setOrder(presenter.order() == Order.NAME ? Order.ADDRESS : Order.NAME)));
		menu.add(check("Rows without records", !presenter.hidesEmptyRows(), () -> presenter.setHideEmpty(!presenter.hidesEmptyRows())));
		menu.add(check("Links\tL", style.links(), () -> presenter.setStyle(style.withLinks(!style.links()))));
		menu.add(check("Values in bars", style.values(), () -> presenter.setStyle(style.withValues(!style.values()))));
		menu.add(check("Same scale for all rows", style.sameScale(), () -> presenter.setStyle(style.withSameScale(!style.sameScale()))));
		menu.add(new Separator());
		menu.add(action("Higher rows\tCtrl+Shift+Wheel", () -> presenter.setStyle(style.higher(1))));
		menu.add(action("Lower rows", () -> presenter.setStyle(style.higher(-1))));
	}

	void open() {
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(this::fillMenu);
		canvas.setMenu(menu.createContextMenu(canvas));
	}

	private void fillMenu(IMenuManager menu) {
		if (!presenter.isDrawable()) {
			return;
		}
		Point at = canvas.toControl(canvas.getDisplay().getCursorLocation());
		Hit hit = canvas.picture() == null ? null : canvas.picture().hit(at.x, at.y);
		Set<String> hidden = presenter.style().hiddenTypes();
		if (hit != null && hit.type() >= 0) {
			GanttType type = presenter.model().source().types().get(hit.type());
			String name = type.displayName().replace("&", "&&");
			menu.add(action((hidden.contains(type.name()) ? "Show " : "Hide ") + name, () -> presenter.toggleType(hit.type())));
			menu.add(action("Only " + name, () -> presenter.onlyType(hit.type())));
			menu.add(action("Colour of " + name + "…", () -> changeColour(type)));
		}
		if (!hidden.isEmpty()) {
			menu.add(action("Show all types", () -> presenter.setStyle(presenter.style().withHiddenTypes(Set.of()))));
		}
		if (presenter.hasSelectedRow()) {
			fillRowMenu(menu, presenter.rows(), presenter.selectedRow());
		}
		if (presenter.hidesRows()) {
			menu.add(action("Show hidden rows", presenter::showHiddenRows));
		}
		menu.add(new Separator());
		menu.add(action("Add marker…\tM", () -> actions.addMarker(false)));
		if (presenter.hasSelectedRow()) {
			menu.add(action("Add marker of the row…\tShift+M", () -> actions.addMarker(true)));
		}
		menu.add(action("Add bookmark…\tB", actions::addBookmark));
		if (canvas.marked() != null) {
			menu.add(action("Zoom to chosen interval",
					() -> trace.get().selection().window(canvas.marked().fromNs(), canvas.marked().toNs())));
		}
		menu.add(new Separator());
		MenuManager look = new MenuManager("Look");
		fillLook(look);
		menu.add(look);
	}

	private void fillRowMenu(IMenuManager menu, GanttRows rows, int row) {
		Grouping grouping = presenter.grouping();
		menu.add(new Separator());
		FilterActions.addProducer(menu, trace.get(), rows.producer(row));
		if (grouping == Grouping.THREAD && rows.group(row) < trace.get().threads().size()) {
			FilterActions.addThread(menu, trace.get(), rows.group(row));
		} else if (grouping == Grouping.CPU
				&& rows.group(row) < presenter.model().source().groups(Grouping.CPU).size() - (trace.get().hasAccesses() ? 1 : 0)) {
			FilterActions.addCpu(menu, trace.get(), rows.group(row));
		}
		menu.add(action("Zoom to " + rows.name(row).replace("&", "&&"), presenter::zoomToProducer));
		menu.add(action("Show in event table", actions::showInEvents));
		menu.add(new Separator());
		menu.add(action("Hide row\tH", () -> presenter.hideRow(false)));
		menu.add(action("Hide row with all below\tShift+H", () -> presenter.hideRow(true)));
		if (rows.isFoldable(row)) {
			menu.add(action("Unfold all below\t*", () -> presenter.unfoldBelow(true)));
			menu.add(action("Fold all below\t/", () -> presenter.unfoldBelow(false)));
		}
	}

	private static Action check(String text, boolean checked, Runnable what) {
		Action action = new Action(text, IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				what.run();
			}
		};
		action.setChecked(checked);
		return action;
	}

	private void changeColour(GanttType type) {
		ColorDialog dialog = new ColorDialog(canvas.getShell());
		int argb = ScenePainter.palette(canvas).color(type.model());
		dialog.setRGB(new RGB(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff));
		dialog.setText("Colour of " + type.displayName());
		RGB rgb = dialog.open();
		if (rgb != null) {
			colours.choose(Palette.Kind.of(type.model()), type.name(), rgb.red << 16 | rgb.green << 8 | rgb.blue);
		}
	}
}
