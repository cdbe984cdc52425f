// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.program.Program;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeItem;
import org.memtrace.views.help.HelpPages.Place;
import org.memtrace.views.help.HelpPages.Section;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;

/** Contents and search at the left, a page at the right. */
final class HelpBrowser extends Composite {
	private static final int NARROW = 560;

	private final Text search;
	private final Tree contents;
	private final Label nothing;
	private final StyledText page;
	private final Deque<Place> back = new ArrayDeque<>();
	private final Deque<Place> forward = new ArrayDeque<>();
	private Place shown;
	private PageText.Shown text = PageText.Shown.NOTHING;

	HelpBrowser(Composite parent) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().applyTo(this);
		SashForm sash = new SashForm(this, SWT.HORIZONTAL);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		Composite left = new Composite(sash, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(left);
		search = new Text(left, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		search.setMessage("Search the help");
		Accessibility.name(search, "Search the help");
		GridDataFactory.fillDefaults().grab(true, false).indent(2, 2).applyTo(search);
		contents = new Tree(left, SWT.SINGLE | SWT.V_SCROLL);
		Accessibility.name(contents, "Contents of the help");
		GridDataFactory.fillDefaults().grab(true, true).applyTo(contents);
		nothing = new Label(left, SWT.WRAP);
		nothing.setText("Nothing is found.");
		GridDataFactory.fillDefaults().grab(true, false).exclude(true).indent(6, 6).applyTo(nothing);
		page = new StyledText(sash, SWT.READ_ONLY | SWT.WRAP | SWT.V_SCROLL);
		page.setMargins(16, 0, 16, 12); // none above: places of texts would be off by it
		page.setLineSpacing(2);
		Accessibility.name(page, "Page of the help");
		sash.setWeights(28, 72);
		addListener(SWT.Resize, e -> {
			// in a narrow view the contents stand above the page
			boolean narrow = getClientArea().width < NARROW;
			if (narrow != (sash.getOrientation() == SWT.VERTICAL)) {
				sash.setOrientation(narrow ? SWT.VERTICAL : SWT.HORIZONTAL);
			}
		});

		search.addModifyListener(e -> fill());
		search.addListener(SWT.DefaultSelection, e -> first());
		contents.addListener(SWT.Selection, e -> {
			if (e.item != null) { // keys that select nothing, such as Ctrl+A, come without one
				go(((Section) e.item.getData()).place());
			}
		});
		page.addListener(SWT.MouseDown, this::mouseDown);
		page.addListener(SWT.MouseMove, e -> page.setCursor(link(e) == null ? null : getDisplay().getSystemCursor(SWT.CURSOR_HAND)));
		page.addListener(SWT.KeyDown, this::key);
		for (Control c : new Control[] { search, contents, page }) {
			c.addListener(SWT.KeyDown, this::navigate);
		}
		fill();
		colours();
	}

	/** Takes the colours of the theme. */
	void colours() {
		page.setBackground(ScenePainter.color(ScenePainter.palette(page).background()));
		page.setForeground(ScenePainter.color(ScenePainter.palette(page).text()));
		if (shown != null) {
			Place now = shown;
			shown = null;
			show(now);
		}
	}

	private void fill() {
		String[] words = search.getText().strip().toLowerCase(Locale.ROOT).split("\\s+");
		contents.setRedraw(false);
		contents.removeAll();
		TreeItem top = null;
		Section topSection = null;
		for (Section s : HelpPages.sections()) {
			boolean hit = List.of(words).stream().allMatch(s.text()::contains);
			if (s.level() == 1) {
				top = null;
				topSection = s;
			}
			if (hit) {
				if (top == null) {
					top = item(new TreeItem(contents, SWT.NONE), topSection);
				}
				if (s.level() > 1) {
					item(new TreeItem(top, SWT.NONE), s);
				}
				top.setExpanded(!words[0].isEmpty() || topSection.place().file().startsWith("howto/workbench/"));
			}
		}
		contents.setRedraw(true);
		boolean none = contents.getItemCount() == 0;
		((GridData) nothing.getLayoutData()).exclude = !none;
		nothing.setVisible(none);
		nothing.getParent().layout();
	}

	private static TreeItem item(TreeItem item, Section s) {
		item.setText(s.title());
		item.setData(s);
		return item;
	}

	private void first() {
		if (contents.getItemCount() > 0) {
			TreeItem item = contents.getItem(0);
			contents.setSelection(item.getItemCount() > 0 ? item.getItem(0) : item);
			go(((Section) contents.getSelection()[0].getData()).place());
			page.setFocus();
		}
	}

	/** Shows a place and remembers where one was. */
	void go(Place place) {
		if (place == null || place.equals(shown)) {
			return;
		}
		if (shown != null) {
			back.push(shown);
			forward.clear();
		}
		show(place);
	}

	private void show(Place place) {
		boolean same = shown != null && shown.file().equals(place.file());
		shown = place;
		if (!same) {
			text = PageText.show(HelpPages.page(place.file()), page);
		}
		int at = text.anchors().getOrDefault(place.anchor(), 0);
		page.setTopIndex(page.getLineAtOffset(at));
		page.setCaretOffset(at);
	}

	void back() {
		if (!back.isEmpty()) {
			forward.push(shown);
			show(back.pop());
		}
	}

	void forward() {
		if (!forward.isEmpty()) {
			back.push(shown);
			show(forward.pop());
		}
	}

	private void navigate(Event e) {
		if (e.widget != search && e.keyCode == SWT.BS || (e.stateMask & SWT.ALT) != 0 && e.keyCode == SWT.ARROW_LEFT) {
			back();
			e.doit = false;
		} else if ((e.stateMask & SWT.ALT) != 0 && e.keyCode == SWT.ARROW_RIGHT) {
			forward();
			e.doit = false;
		} else if ((e.stateMask & SWT.MOD1) != 0 && e.keyCode == 'f') {
			search.setFocus();
			search.selectAll();
			e.doit = false;
		}
	}

	private String link(Event e) {
		int offset = page.getOffsetAtPoint(new Point(e.x, e.y));
		return offset < 0 ? null : text.linkAt(offset);
	}

	private void mouseDown(Event e) {
		String target = e.button == 1 ? link(e) : null;
		if (target != null) {
			follow(target);
		}
	}

	/** Enter follows the link at the caret. */
	private void key(Event e) {
		if (e.keyCode == SWT.CR || e.keyCode == SWT.KEYPAD_CR) {
			String target = text.linkAt(page.getCaretOffset());
			if (target != null) {
				follow(target);
			}
		}
	}

	private void follow(String target) {
		Place place = HelpPages.link(shown.file(), target);
		if (place != null) {
			go(place);
		} else if (target.startsWith("https://") || target.startsWith("http://")) {
			Program.launch(target);
		}
	}

	@Override
	public boolean setFocus() {
		return !page.isDisposed() && page.setFocus(); // a window that closes gives the focus to what is left of it
	}

	Place shown() {
		return shown;
	}

	StyledText page() {
		return page;
	}

	Text search() {
		return search;
	}

	Tree contents() {
		return contents;
	}
}
