// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeColumn;
import org.eclipse.swt.widgets.TreeItem;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Focus;

/**
 * The hierarchy of event producers as a tree, with how much of what is counted each has in the shown time: Enter or a double
 * click zooms to one. Items are made when they are seen, so a million producers are no matter.
 */
final class ProducerPopup {
	private record Search(String text, int after) {
	}

	private final ShownPicture picture;
	private final ProducerTree tree;
	private final MicroscopicModel model;
	private final TraceSelection selection;
	private final Shell shell;
	private final Text search;
	private final Label hint;
	private final Tree items;
	private final LatestResult<Search, Integer> searching;
	private final double total;

	private ProducerPopup(Control parent, ShownPicture picture, TraceSelection selection) {
		this.picture = picture;
		this.selection = selection;
		this.tree = picture.trace().producers();
		this.model = picture.model();
		this.total = sum(model.totals());
		shell = new Shell(parent.getShell(), SWT.SHELL_TRIM & ~(SWT.MIN | SWT.MAX) | SWT.RESIZE);
		shell.setText("Hierarchy");
		GridLayoutFactory.fillDefaults().margins(8, 8).spacing(4, 4).applyTo(shell);
		search = new Text(shell, SWT.SEARCH | SWT.ICON_CANCEL);
		search.setMessage("Part of a name; Enter finds the next");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(search);
		items = new Tree(shell, SWT.VIRTUAL | SWT.BORDER | SWT.FULL_SELECTION | SWT.SINGLE);
		items.setHeaderVisible(true);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(items);
		column("Producer", 300, SWT.LEFT);
		column(ModelText.rows(model), 80, SWT.RIGHT);
		column("Share in the picture", 130, SWT.RIGHT);
		hint = new Label(shell, SWT.NONE);
		hint.setText("Enter or double click: zoom to it · M: mark it");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(hint);
		items.addListener(SWT.SetData, this::fill);
		items.addListener(SWT.DefaultSelection, e -> zoom());
		items.addListener(SWT.KeyDown, e -> {
			if (e.keyCode == 'm' && items.getSelectionCount() == 1) {
				selection.mark(picture.trace().memberOf(id(items.getSelection()[0])));
			}
		});
		int roots = 0;
		for (int id = 0; id >= 0 && id < tree.size(); id = tree.nextSibling(id)) {
			roots++;
		}
		items.setItemCount(roots);
		searching = searching();
		search.addListener(SWT.DefaultSelection, e -> {
			if (!search.getText().isBlank()) {
				int at = items.getSelectionCount() == 1 ? id(items.getSelection()[0]) : -1;
				searching.submit(new Search(search.getText().strip(), at));
			}
		});
		shell.addListener(SWT.Traverse, e -> {
			if (e.detail == SWT.TRAVERSE_ESCAPE) {
				shell.close();
			}
		});
		shell.addListener(SWT.Dispose, e -> searching.cancel());
	}

	private LatestResult<Search, Integer> searching() {
		return new LatestResult<>("Search producers", items, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Integer compute(Search input, Progress progress) throws CancelledException {
				return find(input, progress);
			}

			@Override
			protected void show(Search input, Integer id) {
				hint.setText(id < 0 ? "No producer has '" + input.text().replace("&", "&&") + "' in its name"
						: "Enter or double click: zoom to it · M: mark it");
				hint.setForeground(id < 0 ? ScenePainter.warning(hint) : null);
				if (id >= 0) {
					reveal(id);
				}
			}
		};
	}

	/** Opens the window, the shown producer selected. */
	static Shell open(Control parent, ShownPicture picture, TraceSelection selection, int producer) {
		ProducerPopup p = new ProducerPopup(parent, picture, selection);
		p.shell.setSize(560, 480);
		Rectangle screen = parent.getMonitor().getClientArea();
		Point at = parent.toDisplay(20, 40);
		p.shell.setLocation(Math.max(screen.x, Math.min(at.x, screen.x + screen.width - 580)),
				Math.max(screen.y, Math.min(at.y, screen.y + screen.height - 500)));
		p.shell.addListener(SWT.Dispose, e -> Focus.again(parent));
		p.shell.open();
		p.reveal(Math.max(0, producer));
		p.items.setFocus();
		return p.shell;
	}

	private void column(String title, int width, int style) {
		TreeColumn c = new TreeColumn(items, style);
		c.setText(title);
		c.setWidth(width);
	}

	private static double sum(double[] values) {
		double sum = 0;
		for (double v : values) {
			sum += v;
		}
		return sum;
	}

	private int id(TreeItem item) {
		return item.getData() instanceof Integer id ? id : -1;
	}

	private void fill(Event e) {
		TreeItem item = (TreeItem) e.item;
		TreeItem parent = item.getParentItem();
		int index = parent == null ? items.indexOf(item) : parent.indexOf(item);
		int id = parent == null ? 0 : tree.firstChild(id(parent));
		for (int i = 0; i < index; i++) {
			id = tree.nextSibling(id);
		}
		set(item, id);
	}

	private void set(TreeItem item, int id) {
		item.setData(id);
		Hierarchy h = model.hierarchy();
		int node = h.nodeOf(id);
		double share = node < 0 || total <= 0 ? -1 : 100 * sum(model.sums(node, 0, model.sliceCount())) / total;
		item.setText(new String[] {tree.name(id), node < 0 ? "" : Units.count(h.weight(node)),
			share < 0 ? "not in the picture" : Units.percent(share)});
		int children = 0;
		for (int c = tree.firstChild(id); c >= 0; c = tree.nextSibling(c)) {
			children++;
		}
		item.setItemCount(children);
	}

	/** Selects a producer, its ancestors open. */
	private void reveal(int producer) {
		int[] path = new int[tree.level(producer) + 1];
		for (int i = path.length - 1, id = producer; i >= 0; i--, id = tree.parent(id)) {
			path[i] = id;
		}
		TreeItem item = null;
		for (int id : path) {
			int index = 0;
			for (int c = item == null ? 0 : tree.firstChild(tree.parent(id)); c != id; c = tree.nextSibling(c)) {
				index++;
			}
			item = item == null ? items.getItem(index) : item.getItem(index);
			set(item, id);
			if (id != producer) {
				item.setExpanded(true);
			}
		}
		if (item != null) {
			items.setSelection(item);
			items.showItem(item);
		}
	}

	private Integer find(Search s, Progress progress) throws CancelledException {
		String wanted = s.text().toLowerCase(Locale.ROOT);
		for (int i = 1; i <= tree.size(); i++) {
			if ((i & 0xfff) == 0) {
				progress.check();
			}
			int id = (s.after() + i) % tree.size();
			if (tree.name(id).toLowerCase(Locale.ROOT).contains(wanted)) {
				return id;
			}
		}
		return -1;
	}

	private void zoom() {
		if (items.getSelectionCount() == 1) {
			int id = id(items.getSelection()[0]);
			shell.close();
			selection.zoom(picture.state().fromNs(), picture.state().toNs(), id);
		}
	}
}
