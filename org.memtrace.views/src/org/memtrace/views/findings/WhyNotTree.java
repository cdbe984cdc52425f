// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeColumn;
import org.eclipse.swt.widgets.TreeItem;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.util.Accessibility;

/** The rules that did not hold: below each its structures, below these each condition with value and threshold. Display thread. */
final class WhyNotTree {
	private static final int VALUE_PIXELS = 90;
	private static final int NEEDS_PIXELS = 130;

	private final Tree tree;
	private final TreeColumn what;

	WhyNotTree(Composite parent) {
		tree = new Tree(parent, SWT.FULL_SELECTION | SWT.V_SCROLL | SWT.H_SCROLL);
		tree.setHeaderVisible(true);
		Accessibility.name(tree, "Rules that did not hold");
		what = column("Rule, structure, condition", 400, SWT.LEFT);
		column("Value", VALUE_PIXELS, SWT.RIGHT);
		column("Needs", NEEDS_PIXELS, SWT.LEFT);
		tree.addListener(SWT.Resize, e -> what.setWidth(Math.max(200, tree.getClientArea().width - VALUE_PIXELS - NEEDS_PIXELS)));
	}

	private TreeColumn column(String text, int width, int align) {
		TreeColumn c = new TreeColumn(tree, align);
		c.setText(text);
		c.setWidth(width);
		return c;
	}

	Tree control() {
		return tree;
	}

	void show(FindingCards cards) {
		tree.setRedraw(false);
		tree.removeAll();
		for (FindingCards.WhyNot w : cards.whyNot()) {
			TreeItem rule = new TreeItem(tree, SWT.NONE);
			Check missed = w.cases().isEmpty() ? null : w.cases().get(0).checks().stream().filter(c -> !c.holds()).findFirst().orElse(null);
			if (missed == null) {
				rule.setText(0, w.title() + ": " + w.reason());
			} else {
				FindingCards.Case nearest = w.cases().get(0);
				rule.setText(new String[] {w.title() + ", nearest " + nearest.structure() + ": " + missed.text()
						+ (nearest.unmet() > 1 ? " (and " + (nearest.unmet() - 1) + " more)" : ""), missed.shown(missed.value()), missed.need()});
			}
			for (FindingCards.Case c : w.cases()) {
				TreeItem structure = new TreeItem(rule, SWT.NONE);
				structure.setText(0, c.structure() + ": " + (c.unmet() == 0 ? c.reason()
						: Units.plural(c.unmet(), "condition") + " of " + c.checks().size()
						+ " not met"));
				for (Check check : c.checks()) {
					TreeItem line = new TreeItem(structure, SWT.NONE);
					line.setText(new String[] {(check.holds() ? "✓ " : "✗ ") + check.text(), check.shown(check.value()), check.need()});
				}
			}
			if (w.more() > 0) {
				new TreeItem(rule, SWT.NONE).setText(0, "… and " + Units.plural(w.more(), "structure") + " more: memtrace advise --explain --rule "
						+ w.rule());
			}
		}
		tree.setRedraw(true);
	}
}
