// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.FontDescriptor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.ScrolledComposite;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.memtrace.analysis.cards.FindingCard;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;

/**
 * Everything about a card: what proves it, what to change, code to paste where there is any; of two traces both sides
 * beside each other. Display thread.
 */
final class CardDetail {
	/** Two sides have at least this width each, else they stand below each other. */
	private static final int LEAST_SIDE = 270;
	private static final int MARGIN = 10;

	private final ScrolledComposite scrolled;
	private final Composite body;
	private final Consumer<Finding> copyCode;
	private final Runnable show;
	private final Font title;
	private final List<Composite> sides = new ArrayList<>();
	private final List<Control> wrapped = new ArrayList<>();

	/**
	 * Empty.
	 *
	 * @param copyCode copies the code of a fix
	 * @param show brings all views to the place of the card
	 */
	CardDetail(Composite parent, Consumer<Finding> copyCode, Runnable show) {
		this.copyCode = copyCode;
		this.show = show;
		scrolled = new ScrolledComposite(parent, SWT.V_SCROLL);
		scrolled.setExpandHorizontal(true);
		scrolled.setExpandVertical(true);
		Appearance.asList(scrolled);
		body = new Composite(scrolled, SWT.NONE);
		Appearance.asList(body);
		body.setBackgroundMode(SWT.INHERIT_FORCE);
		scrolled.setContent(body);
		title = new LocalResourceManager(JFaceResources.getResources(), body)
				.create(FontDescriptor.createFrom(JFaceResources.getDefaultFont()).increaseHeight(2).setStyle(SWT.BOLD));
		scrolled.addListener(SWT.Resize, e -> layout());
	}

	Control control() {
		return scrolled;
	}

	/** Shows a card of these. */
	void show(FindingCards cards, FindingCard card) {
		body.setRedraw(false);
		for (Control c : body.getChildren()) {
			c.dispose();
		}
		sides.clear();
		wrapped.clear();
		label(body, card.title() + ": " + card.name(), title);
		if (cards.isComparison()) {
			String change = card.state() == FindingDiff.State.GONE ? capital(card.change()) + (card.worked() ? ". The advice worked." : ".")
					: card.state() == FindingDiff.State.CHANGED ? "It was " + card.before().title() + ", it is " + card.after().title() + " now."
							: card.state() == FindingDiff.State.NEW ? "It was not there before." : "It is there as before.";
			Label label = label(body, change, null);
			Appearance.onChange(label, () -> {
				Palette p = ScenePainter.palette(body);
				label.setForeground(card.worked() ? ScenePainter.color(p.good()) : null);
			});
			Composite both = new Composite(body, SWT.NONE);
			GridLayoutFactory.fillDefaults().numColumns(2).equalWidth(true).spacing(2 * MARGIN, MARGIN).applyTo(both);
			GridDataFactory.fillDefaults().grab(true, false).applyTo(both);
			side(both, "Before: " + cards.before(), card.before());
			side(both, "After: " + cards.after(), card.after());
		} else {
			finding(body, card.finding());
		}
		layout();
		body.setRedraw(true);
		scrolled.setOrigin(0, 0);
	}

	private void side(Composite parent, String heading, Finding finding) {
		Composite side = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 6).applyTo(side);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.BEGINNING).applyTo(side);
		sides.add(side);
		label(side, heading, JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		if (finding == null) {
			label(side, "No finding.", null);
		} else {
			finding(side, finding);
		}
	}

	private void finding(Composite parent, Finding f) {
		Label figures = label(parent, capital(FindingCard.figures(f)), null);
		Appearance.onChange(figures, () -> figures.setForeground(ScenePainter.color(ScenePainter.palette(body).mutedText())));
		label(parent, capital(f.evidence()) + ".", null);
		label(parent, "→ " + capital(f.advice()) + ".", null);
		if (!f.fix().words().isEmpty()) {
			label(parent, f.fix().words(), null);
		}
		Composite buttons = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 0).applyTo(buttons);
		GridDataFactory.fillDefaults().applyTo(buttons);
		if (!f.fix().command().isEmpty()) {
			text(parent, f.fix().command(), "Command that tries it");
		}
		if (!f.fix().code().isEmpty()) {
			text(parent, f.fix().code().stripTrailing(), "Code to paste");
			Buttons.push(buttons, "Copy the code", null, () -> copyCode.accept(f));
		}
		Buttons.push(buttons, "Show in all views", "Zoom to its memory and time, colour, and mark its pages", show::run);
		for (String note : f.notes()) {
			Label l = label(parent, "Note: " + note + ".", null);
			Appearance.onChange(l, () -> l.setForeground(ScenePainter.color(ScenePainter.palette(body).warning())));
		}
		label(parent, "To check it: " + f.check() + ".", null);
	}

	/** What is typed or pasted. */
	private void text(Composite parent, String content, String name) {
		Text text = new Text(parent, SWT.READ_ONLY | SWT.MULTI | SWT.BORDER | SWT.WRAP);
		text.setText(content);
		text.setFont(JFaceResources.getTextFont());
		Accessibility.name(text, name);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(text);
		wrapped.add(text);
	}

	private Label label(Composite parent, String text, Font font) {
		Label l = new Label(parent, SWT.WRAP);
		l.setText(text.replace("&", "&&"));
		if (font != null) {
			l.setFont(font);
		}
		GridDataFactory.fillDefaults().grab(true, false).applyTo(l);
		wrapped.add(l);
		return l;
	}

	private static String capital(String s) {
		return s.isEmpty() ? s : s.substring(0, 1).toUpperCase(Locale.ROOT) + s.substring(1);
	}

	/** The width decides how texts are wrapped, and whether two sides fit beside each other. */
	private void layout() {
		int width = Math.max(160, scrolled.getClientArea().width);
		GridLayoutFactory.fillDefaults().margins(MARGIN, MARGIN).spacing(0, 6).applyTo(body);
		int room = width - 2 * MARGIN;
		boolean beside = sides.size() == 2 && room >= 2 * LEAST_SIDE + 2 * MARGIN;
		if (sides.size() == 2) {
			GridLayoutFactory.fillDefaults().numColumns(beside ? 2 : 1).equalWidth(true).spacing(2 * MARGIN,
					MARGIN).applyTo(sides.get(0).getParent());
		}
		for (Control c : wrapped) {
			boolean inSide = sides.contains(c.getParent());
			((GridData) c.getLayoutData()).widthHint = (inSide && beside ? (room - 2 * MARGIN) / 2 : room) - (c instanceof Text ? 16 : 0);
		}
		body.layout(true, true);
		scrolled.setMinHeight(body.computeSize(width, SWT.DEFAULT).y);
	}
}
