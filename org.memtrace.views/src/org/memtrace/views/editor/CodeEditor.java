// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.editor;

import java.util.List;
import java.util.function.Function;

import org.eclipse.jface.bindings.keys.KeyStroke;
import org.eclipse.jface.fieldassist.ContentProposal;
import org.eclipse.jface.fieldassist.ContentProposalAdapter;
import org.eclipse.jface.fieldassist.IContentProposal;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.StyleRange;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.events.VerifyEvent;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.model.Completion;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Appearance;

/**
 * Where a text of some language is written. Ctrl+Space proposes what can be written at the caret, Ctrl+Enter does what the text is for,
 * Ctrl+Z and Ctrl+Y take back and do again. Display thread.
 */
public final class CodeEditor {
	private static final Point POPUP = new Point(520, 240);
	private static final int GAP = 6;

	/** How a part of the text is drawn. */
	public enum Look {
		KEYWORD, NAME, NUMBER, COMMENT
	}

	/**
	 * A part of the text with a colour.
	 *
	 * @param from first character
	 * @param to end, exclusive
	 */
	public record Part(int from, int to, Look look) {
	}

	/** What can be written at a caret. */
	@FunctionalInterface
	public interface Proposing {
		Completion at(String text, int caret);
	}

	private final StyledText text;
	private final Proposing proposing;
	private final ContentProposalAdapter popup;
	private final EditHistory history = new EditHistory();
	private final String hint;
	private Function<String, List<Part>> colours = t -> List.of();
	private Runnable changed = () -> {
	};
	/** What is changed by the program, and not by the person. */
	private boolean quiet;
	private boolean numbered;
	/** First character of what is wrong, -1: nothing. */
	private int markFrom = -1;
	private int markTo;

	/**
	 * @param name for screen readers
	 * @param hint what is shown while it is empty
	 * @param run what Ctrl+Enter does
	 */
	public CodeEditor(Composite parent, String name, String hint, Proposing proposing, Runnable run) {
		this.proposing = proposing;
		this.hint = hint;
		text = new StyledText(parent, SWT.MULTI | SWT.H_SCROLL | SWT.V_SCROLL | SWT.BORDER);
		text.setFont(JFaceResources.getTextFont());
		Appearance.onChange(text, () -> {
			text.setBackground(text.getDisplay().getSystemColor(SWT.COLOR_LIST_BACKGROUND));
			text.setForeground(text.getDisplay().getSystemColor(SWT.COLOR_LIST_FOREGROUND));
			colour();
		});
		Accessibility.name(text, name);
		text.addVerifyKeyListener(e -> key(e, run));
		// Tab goes to the next control, as everywhere
		text.addListener(SWT.Traverse,
				(Event e) -> e.doit = e.doit || e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
		text.addExtendedModifyListener(e -> modified(e.start, e.length, e.replacedText));
		text.addListener(SWT.Paint, e -> paint(e.gc));
		popup = new ContentProposalAdapter(text, new StyledTextAdapter(), (contents, caret) -> proposals(contents, caret),
				KeyStroke.getInstance(SWT.MOD1, ' '), null);
		// so the list is at the caret; what is inserted is decided by accept()
		popup.setProposalAcceptanceStyle(ContentProposalAdapter.PROPOSAL_INSERT);
		popup.setPropagateKeys(true);
		popup.setPopupSize(POPUP);
		popup.addContentProposalListener(this::accept);
	}

	/** Parts of a text that have a colour, asked after each change. */
	public void colours(Function<String, List<Part>> of) {
		colours = of;
		colour();
	}

	/** What is done after each change, also by {@link #text(String)}. */
	public void onChange(Runnable run) {
		changed = run;
	}

	/** Shows numbers of lines, and where the mark is. */
	public void numbered() {
		numbered = true;
		margin();
	}

	private void key(VerifyEvent e, Runnable run) {
		int modifiers = e.stateMask & SWT.MODIFIER_MASK;
		boolean enter = e.keyCode == SWT.CR || e.keyCode == SWT.KEYPAD_CR;
		if (popup.isProposalPopupOpen()) {
			// the list takes these keys; the text must not
			if (modifiers == 0 && (enter || e.keyCode == SWT.ESC || e.keyCode == SWT.ARROW_UP || e.keyCode == SWT.ARROW_DOWN
					|| e.keyCode == SWT.PAGE_UP || e.keyCode == SWT.PAGE_DOWN || e.keyCode == SWT.HOME || e.keyCode == SWT.END)) {
				e.doit = false;
			}
			return;
		}
		if (modifiers == SWT.MOD1 && enter) {
			e.doit = false;
			run.run();
		} else if (modifiers == SWT.MOD1 && e.keyCode == ' ') {
			e.doit = false;
		} else if (modifiers == SWT.MOD1 && e.keyCode == 'z') {
			e.doit = false;
			apply(history.undo());
		} else if (modifiers == SWT.MOD1 && e.keyCode == 'y' || modifiers == (SWT.MOD1 | SWT.MOD2) && e.keyCode == 'z') {
			e.doit = false;
			apply(history.redo());
		} else if (modifiers == SWT.MOD1 && e.keyCode == 'a') {
			e.doit = false;
			text.selectAll();
		} else if (modifiers == 0 && enter && numbered) {
			e.doit = false;
			String line = text.getLine(text.getLineAtOffset(text.getSelection().x));
			String indent = line.substring(0, line.length() - line.stripLeading().length());
			insert(text.getLineDelimiter() + indent);
		}
	}

	private void insert(String what) {
		Point selection = text.getSelection();
		text.replaceTextRange(selection.x, selection.y - selection.x, what);
		text.setSelection(selection.x + what.length());
		text.showSelection();
	}

	private void apply(EditHistory.Edit edit) {
		if (edit == null) {
			return;
		}
		quiet = true;
		text.replaceTextRange(edit.start(), edit.before().length(), edit.after());
		quiet = false;
		text.setSelection(edit.start() + edit.after().length());
		text.showSelection();
	}

	private void modified(int start, int length, String replaced) {
		if (!quiet) {
			history.add(new EditHistory.Edit(start, replaced, length == 0 ? "" : text.getTextRange(start, length)));
		}
		markFrom = -1;
		margin();
		colour();
		changed.run();
	}

	private void margin() {
		if (numbered) {
			GC gc = new GC(text);
			gc.setFont(text.getFont());
			int width = gc.textExtent(" " + Math.max(100, text.getLineCount())).x;
			gc.dispose();
			text.setMargins(width + 2 * GAP, 2, 2, 2);
		} else {
			text.setMargins(2, 2, 2, 2);
		}
	}

	private void colour() {
		boolean dark = Appearance.isDark(text.getDisplay());
		StyleRange[] ranges = colours.apply(text.getText()).stream().filter(p -> p.to() <= text.getCharCount())
				.map(p -> range(p, dark)).toArray(StyleRange[]::new);
		text.setStyleRanges(ranges);
		if (markFrom >= 0) {
			for (StyleRange under : text.getStyleRanges(markFrom, markTo - markFrom)) {
				text.setStyleRange(underlined(under));
			}
			int at = markFrom; // where there is no style yet
			for (StyleRange under : text.getStyleRanges(markFrom, markTo - markFrom)) {
				plain(at, under.start);
				at = under.start + under.length;
			}
			plain(at, markTo);
		}
		text.redraw();
	}

	private void plain(int from, int to) {
		if (to > from) {
			StyleRange range = new StyleRange();
			range.start = from;
			range.length = to - from;
			text.setStyleRange(underlined(range));
		}
	}

	private StyleRange underlined(StyleRange range) {
		range.underline = true;
		range.underlineStyle = SWT.UNDERLINE_ERROR;
		range.underlineColor = wrong();
		return range;
	}

	private Color wrong() {
		return Appearance.isDark(text.getDisplay()) ? new Color(255, 110, 100) : new Color(200, 30, 30);
	}

	/** Contrast with the background is 4.5 at least in both themes. */
	private static StyleRange range(Part p, boolean dark) {
		StyleRange range = new StyleRange();
		range.start = p.from();
		range.length = p.to() - p.from();
		switch (p.look()) {
			case KEYWORD -> {
				range.foreground = dark ? new Color(204, 153, 255) : new Color(112, 32, 160);
				range.fontStyle = SWT.BOLD;
			}
			case NAME -> range.foreground = dark ? new Color(120, 190, 255) : new Color(0, 80, 160);
			case NUMBER -> range.foreground = dark ? new Color(240, 180, 110) : new Color(150, 70, 0);
			default -> range.foreground = dark ? new Color(150, 185, 150) : new Color(60, 110, 60);
		}
		return range;
	}

	private void paint(GC gc) {
		if (text.getCharCount() == 0) {
			gc.setForeground(text.getDisplay().getSystemColor(SWT.COLOR_WIDGET_DISABLED_FOREGROUND));
			gc.drawText(hint, text.getLeftMargin() + 1, text.getTopMargin(), true);
		}
		if (!numbered) {
			return;
		}
		int wrong = markFrom < 0 ? -1 : text.getLineAtOffset(Math.min(markFrom, text.getCharCount()));
		gc.setFont(text.getFont());
		gc.setAntialias(SWT.ON);
		int height = text.getLineHeight();
		int first = text.getLineIndex(0);
		int last = text.getLineIndex(text.getClientArea().height);
		for (int line = first; line <= last; line++) {
			int y = text.getLinePixel(line);
			String number = String.valueOf(line + 1);
			gc.setForeground(line == wrong ? wrong() : text.getDisplay().getSystemColor(SWT.COLOR_WIDGET_DISABLED_FOREGROUND));
			gc.drawText(number, text.getLeftMargin() - GAP - gc.textExtent(number).x, y, true);
			if (line == wrong) {
				gc.setBackground(wrong());
				int d = Math.max(6, height / 2);
				gc.fillOval(3, y + (height - d) / 2, d, d);
			}
		}
	}

	private IContentProposal[] proposals(String contents, int caret) {
		return proposing.at(contents, caret).proposals().stream()
				.map(p -> new ContentProposal(p.text(), p.note().isEmpty() ? p.text() : p.text() + "  " + p.note(), null))
				.toArray(IContentProposal[]::new);
	}

	private void accept(IContentProposal proposal) {
		Completion word = proposing.at(text.getText(), text.getCaretOffset());
		List<String> fitting = word.proposals().stream().map(Completion.Proposal::text).toList();
		// who types fast chooses while the proposals for an earlier text are still shown
		String chosen = fitting.contains(proposal.getContent()) || fitting.isEmpty() ? proposal.getContent() : fitting.getFirst();
		text.replaceTextRange(word.from(), word.to() - word.from(), chosen);
		text.setSelection(word.from() + chosen.length());
	}

	/**
	 * Marks what is wrong, until the text changes.
	 *
	 * @param offset its first character, 0 to the length of the text; the word there is marked
	 */
	public void mark(int offset) {
		String all = text.getText();
		int from = Math.min(offset, all.length());
		int to = from;
		while (to < all.length() && (Character.isLetterOrDigit(all.charAt(to)) || "_-.$".indexOf(all.charAt(to)) >= 0)) {
			to++;
		}
		if (to == from && to < all.length() && all.charAt(to) != '\n' && all.charAt(to) != '\r') {
			to++;
		}
		markFrom = from;
		markTo = to;
		colour();
	}

	/** Nothing is wrong any more. */
	public void unmark() {
		markFrom = -1;
		colour();
	}

	/** First character of the mark, -1: there is none. */
	public int marked() {
		return markFrom;
	}

	public StyledText control() {
		return text;
	}

	public String text() {
		return text.getText();
	}

	/** Another text, with the caret at its end; what was written before cannot be taken back. */
	public void text(String now) {
		quiet = true;
		text.setText(now);
		quiet = false;
		history.clear();
		text.setSelection(now.length());
	}

	/** Whether proposals are shown; for tests. */
	public boolean isProposing() {
		return popup.isProposalPopupOpen();
	}
}
