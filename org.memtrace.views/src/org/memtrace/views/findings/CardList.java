// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleControlAdapter;
import org.eclipse.swt.accessibility.AccessibleControlEvent;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.custom.ScrolledComposite;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.memtrace.analysis.cards.FindingCard;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Appearance;

/**
 * Cards one below the other, and below them one for the rules that did not hold. A click opens one, the arrow keys go from one to the
 * other, Enter opens. Display thread.
 */
final class CardList {
	private static final int STRIPE = 5;
	private static final int MARGIN = 8;

	private final ScrolledComposite scrolled;
	private final Composite body;
	private final IntConsumer choose;
	private final IntConsumer open;
	private final List<Card> cards = new ArrayList<>();
	private int chosen = -1;

	/**
	 * Without cards.
	 *
	 * @param choose the keys went to a card; -1 that of the rules that did not hold
	 * @param open a card was clicked
	 */
	CardList(Composite parent, IntConsumer choose, IntConsumer open) {
		this.choose = choose;
		this.open = open;
		scrolled = new ScrolledComposite(parent, SWT.V_SCROLL);
		scrolled.setExpandHorizontal(true);
		scrolled.setExpandVertical(true);
		body = new Composite(scrolled, SWT.NONE);
		Appearance.asList(body);
		Appearance.asList(scrolled);
		GridLayoutFactory.fillDefaults().spacing(0, 1).applyTo(body);
		scrolled.setContent(body);
		scrolled.addListener(SWT.Resize, e -> layout());
	}

	Control control() {
		return scrolled;
	}

	void show(FindingCards now) {
		body.setRedraw(false);
		cards.forEach(Card::dispose);
		cards.clear();
		int n = 0;
		for (FindingCard c : now.cards()) {
			cards.add(new Card(body, n++, c, null, null));
		}
		if (!now.whyNot().isEmpty()) {
			cards.add(new Card(body, -1, null, Units.plural(now.whyNot().size(), "rule")
					+ " did not hold", "Each condition with its value, and why"));
		}
		layout();
		body.setRedraw(true);
		scrolled.setOrigin(0, 0);
	}

	/** Another card is the one whose details are shown. */
	void select(int card) {
		chosen = card;
		for (Card c : cards) {
			c.colour();
			if (c.number == card) {
				scrolled.showControl(c);
			}
		}
	}

	/** The cards in order, for tests. */
	List<? extends Control> controls() {
		return cards;
	}

	void setFocus() {
		cards.stream().filter(c -> c.number == chosen).findFirst().ifPresentOrElse(Card::forceFocus, scrolled::setFocus);
	}

	private void layout() {
		int width = Math.max(120, scrolled.getClientArea().width);
		for (Card c : cards) {
			c.fit(width);
		}
		Point size = body.computeSize(width, SWT.DEFAULT, true);
		scrolled.setMinSize(0, size.y);
		body.layout(true, true);
	}

	/** Colour of the stripe. */
	private static int stripe(FindingCard card, Palette palette) {
		if (card == null) {
			return palette.separator();
		}
		if (card.state() == FindingDiff.State.GONE) {
			return palette.good();
		}
		return palette.alert(card.severity().ordinal());
	}

	/** One card. */
	private final class Card extends Canvas {
		private final int number;
		private final FindingCard card;
		private final List<Label> labels = new ArrayList<>();

		Card(Composite parent, int number, FindingCard card, String title, String text) {
			super(parent, SWT.NONE);
			this.number = number;
			this.card = card;
			GridLayoutFactory.fillDefaults().margins(0, 0).extendedMargins(STRIPE + MARGIN, MARGIN, 6, 6).spacing(0, 1).applyTo(this);
			GridDataFactory.fillDefaults().grab(true, false).applyTo(this);
			label(card == null ? title : card.name()).setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
			label(card == null ? text : card.title() + " · " + card.worth());
			addListener(SWT.Paint, this::paint);
			addListener(SWT.KeyDown, this::key);
			addListener(SWT.Traverse, e -> e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
			addListener(SWT.FocusIn, e -> redraw());
			addListener(SWT.FocusOut, e -> redraw());
			listen(this);
			labels.forEach(this::listen);
			getAccessible().addAccessibleListener(new AccessibleAdapter() {
				@Override
				public void getName(AccessibleEvent e) {
					e.result = card == null ? title : card.text();
				}
			});
			getAccessible().addAccessibleControlListener(new AccessibleControlAdapter() {
				@Override
				public void getRole(AccessibleControlEvent e) {
					e.detail = ACC.ROLE_LISTITEM;
				}

				@Override
				public void getState(AccessibleControlEvent e) {
					e.detail = ACC.STATE_FOCUSABLE | ACC.STATE_SELECTABLE | (number == chosen ? ACC.STATE_SELECTED : 0);
				}
			});
			Appearance.onChange(this, this::colour);
		}

		private Label label(String text) {
			Label l = new Label(this, SWT.WRAP);
			l.setText(text.replace("&", "&&"));
			GridDataFactory.fillDefaults().grab(true, false).applyTo(l);
			labels.add(l);
			return l;
		}

		private void listen(Control c) {
			c.setCursor(getDisplay().getSystemCursor(SWT.CURSOR_HAND));
			c.addListener(SWT.MouseDown, e -> {
				if (e.button == 1) {
					forceFocus();
					open.accept(number);
				}
			});
		}

		private void key(Event e) {
			int at = cards.indexOf(this);
			switch (e.keyCode) {
			case SWT.ARROW_DOWN -> go(at + 1);
			case SWT.ARROW_UP -> go(at - 1);
			case SWT.HOME -> go(0);
			case SWT.END -> go(cards.size() - 1);
			case SWT.CR, SWT.KEYPAD_CR, ' ' -> open.accept(number);
			default -> {
			}
			}
		}

		private void go(int at) {
			if (at >= 0 && at < cards.size()) {
				cards.get(at).forceFocus();
				choose.accept(cards.get(at).number);
			}
		}

		void fit(int width) {
			for (Label l : labels) {
				((GridData) l.getLayoutData()).widthHint = width - STRIPE - 2 * MARGIN;
			}
		}

		/** Background and texts by whether it is the chosen one. */
		private void colour() {
			boolean on = number == chosen;
			Color back = getDisplay().getSystemColor(on ? SWT.COLOR_LIST_SELECTION : SWT.COLOR_LIST_BACKGROUND);
			Color fore = getDisplay().getSystemColor(on ? SWT.COLOR_LIST_SELECTION_TEXT : SWT.COLOR_LIST_FOREGROUND);
			setBackground(back);
			for (Label l : labels) {
				l.setBackground(back);
				l.setForeground(fore);
			}
			redraw();
		}

		private void paint(Event e) {
			Point size = getSize();
			e.gc.setBackground(ScenePainter.color(stripe(card, ScenePainter.palette(body))));
			e.gc.fillRectangle(0, 0, STRIPE, size.y);
			if (isFocusControl()) {
				e.gc.drawFocus(STRIPE + 1, 1, size.x - STRIPE - 2, size.y - 2);
			}
		}
	}
}
