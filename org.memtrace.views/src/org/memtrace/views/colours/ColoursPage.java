// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.colours;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.preference.IPersistentPreferenceStore;
import org.eclipse.jface.preference.PreferencePage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.ColorDialog;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbench;
import org.eclipse.ui.IWorkbenchPreferencePage;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.colour.Palette.Key;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/**
 * Colours of types, threads, CPUs and structures. A choice is seen in all views at once; <em>Cancel</em> takes back what was chosen
 * since the page was opened.
 */
public final class ColoursPage extends PreferencePage implements IWorkbenchPreferencePage {
	private static final int SWATCH_WIDTH = 36;

	private Session session;
	private Map<Key, Integer> before;
	private List<ColouredThings.Thing> all = List.of();
	private List<ColouredThings.Thing> shown = List.of();
	private Text filter;
	private Table table;
	private Button change;
	private Button reset;

	public ColoursPage() {
		super("Colours");
		setDescription("The same in all views and traces. The colours of the access types can be told apart with any kind of colour vision.");
	}

	@Override
	public void init(IWorkbench workbench) {
		session = workbench.getService(Session.class);
		before = session.colours().chosen();
		setPreferenceStore(Settings.store());
	}

	@Override
	protected Control createContents(Composite parent) {
		PlatformUI.getWorkbench().getHelpSystem().setHelp(parent, "org.memtrace.views.preferences");
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).applyTo(c);
		filter = new Text(c, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter by name or kind");
		Accessibility.name(filter, "Filter of the colours");
		filter.addModifyListener(e -> fill());
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).applyTo(filter);
		table = new Table(c, SWT.BORDER | SWT.VIRTUAL | SWT.FULL_SELECTION | SWT.MULTI | SWT.V_SCROLL);
		Accessibility.name(table, "Colours");
		table.setHeaderVisible(true);
		String[] titles = { "Colour", "Name", "Kind", "" };
		int[] widths = { 70, 220, 90, 80 };
		for (int i = 0; i < titles.length; i++) {
			TableColumn column = new TableColumn(table, SWT.LEFT);
			column.setText(titles[i]);
			column.setWidth(widths[i]);
		}
		GridDataFactory.fillDefaults().grab(true, true).hint(460, 15 * table.getItemHeight()).applyTo(table);
		table.addListener(SWT.SetData, this::item);
		table.addListener(SWT.PaintItem, this::paint);
		table.addListener(SWT.Selection, e -> enable());
		table.addListener(SWT.DefaultSelection, e -> change());
		Composite buttons = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().applyTo(buttons);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.BEGINNING).applyTo(buttons);
		change = button(buttons, "&Change…", this::change);
		reset = button(buttons, "&Reset", this::reset);
		button(buttons, "Reset a&ll", () -> session.colours().chooseAll(Map.of()));
		all = ColouredThings.of(session.trace(), session.colours());
		Runnable follow = () -> {
			table.clearAll();
			table.redraw();
			enable();
		};
		session.colours().addListener(follow);
		table.addListener(SWT.Dispose, e -> session.colours().removeListener(follow));
		fill();
		return c;
	}

	private static Button button(Composite parent, String text, Runnable action) {
		Button b = Buttons.push(parent, text, null, () -> action.run());
		GridDataFactory.fillDefaults().grab(true, false).applyTo(b);
		return b;
	}

	private void fill() {
		String wanted = filter.getText().strip().toLowerCase(Locale.ROOT);
		shown = all.stream().filter(t -> (t.title() + " " + t.key().kind().word()).toLowerCase(Locale.ROOT).contains(wanted)).toList();
		table.setItemCount(shown.size());
		table.clearAll();
		table.deselectAll();
		enable();
	}

	private void item(Event e) {
		ColouredThings.Thing t = shown.get(e.index);
		boolean own = session.colours().chosen().containsKey(t.key());
		((TableItem) e.item).setText(new String[] {"", t.title(), t.key().kind().word(), own ? "chosen" : ""});
		e.item.setData(t);
		((TableItem) e.item).setText(0, "        ");
	}

	private int colour(ColouredThings.Thing t) {
		Integer own = session.colours().chosen().get(t.key());
		return own != null ? own : t.defaultColor(ScenePainter.palette(table));
	}

	private void paint(Event e) {
		if (e.index != 0) {
			return;
		}
		if (e.item.getData() instanceof ColouredThings.Thing t) {
			GC gc = e.gc;
			gc.setBackground(ScenePainter.color(colour(t)));
			gc.fillRectangle(e.x + 4, e.y + 2, SWATCH_WIDTH, e.height - 4);
			gc.setForeground(ScenePainter.color(ScenePainter.palette(table).axis()));
			gc.drawRectangle(e.x + 4, e.y + 2, SWATCH_WIDTH, e.height - 5);
		}
	}

	private void enable() {
		change.setEnabled(table.getSelectionCount() > 0);
		boolean any = false;
		for (int i : table.getSelectionIndices()) {
			any |= i < shown.size() && session.colours().chosen().containsKey(shown.get(i).key());
		}
		reset.setEnabled(any);
	}

	private void change() {
		int[] selected = table.getSelectionIndices();
		if (selected.length == 0) {
			return;
		}
		int now = colour(shown.get(selected[0]));
		ColorDialog dialog = new ColorDialog(getShell());
		dialog.setText(selected.length == 1 ? shown.get(selected[0]).title() : selected.length + " things");
		dialog.setRGB(new RGB(now >> 16 & 0xff, now >> 8 & 0xff, now & 0xff));
		RGB chosen = dialog.open();
		if (chosen != null) {
			choose(selected, chosen.red << 16 | chosen.green << 8 | chosen.blue);
		}
	}

	private void choose(int[] selected, int rgb) {
		Map<Key, Integer> chosen = new HashMap<>(session.colours().chosen());
		for (int i : selected) {
			chosen.put(shown.get(i).key(), 0xff000000 | rgb);
		}
		session.colours().chooseAll(chosen);
	}

	private void reset() {
		Map<Key, Integer> chosen = new HashMap<>(session.colours().chosen());
		for (int i : table.getSelectionIndices()) {
			chosen.remove(shown.get(i).key());
		}
		session.colours().chooseAll(chosen);
	}

	@Override
	protected void performDefaults() {
		session.colours().chooseAll(Map.of());
		super.performDefaults();
	}

	@Override
	public boolean performOk() {
		before = session.colours().chosen();
		if (getPreferenceStore() instanceof IPersistentPreferenceStore store) {
			try {
				store.save();
			} catch (IOException e) {
				ILog.of(ColoursPage.class).warn("The colours cannot be kept: " + e.getMessage(), e);
			}
		}
		return true;
	}

	@Override
	public boolean performCancel() {
		session.colours().chooseAll(before);
		return true;
	}
}
