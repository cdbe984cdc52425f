// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import java.util.List;

import org.eclipse.jface.bindings.keys.KeyStroke;
import org.eclipse.jface.fieldassist.ContentProposal;
import org.eclipse.jface.fieldassist.ContentProposalAdapter;
import org.eclipse.jface.fieldassist.IContentProposal;
import org.eclipse.jface.fieldassist.TextContentAdapter;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Text;
import org.memtrace.sql.SqlCompletion;
import org.memtrace.sql.SqlView;
import org.memtrace.views.util.Accessibility;

/** Where a statement is written. Ctrl+Enter runs it, Ctrl+Space proposes what can be written at the caret. Display thread. */
final class StatementEditor {
	private static final Point POPUP = new Point(420, 220);

	private final Text text;
	private final ContentProposalAdapter popup;
	private final List<SqlView> tables;

	/** @param tables what can be named */
	StatementEditor(Composite parent, List<SqlView> tables, Runnable run) {
		this.tables = tables;
		// a text of GTK that wraps its lines does not become narrower than they were
		text = new Text(parent, SWT.MULTI | SWT.H_SCROLL | SWT.V_SCROLL | SWT.BORDER);
		text.setFont(JFaceResources.getTextFont());
		text.setMessage("select … — Ctrl+Space proposes, Ctrl+Enter runs");
		Accessibility.name(text, "SQL statement");
		text.addListener(SWT.KeyDown, e -> {
			if ((e.stateMask & SWT.MODIFIER_MASK) == SWT.MOD1 && (e.keyCode == SWT.CR || e.keyCode == SWT.KEYPAD_CR)) {
				e.doit = false;
				run.run();
			}
		});
		// Tab goes to the next control, as everywhere; statements need none
		text.addListener(SWT.Traverse,
				(Event e) -> e.doit = e.doit || e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
		popup = new ContentProposalAdapter(text, new TextContentAdapter(), (contents, caret) -> proposals(contents, caret),
				KeyStroke.getInstance(SWT.MOD1, ' '), null);
		popup.setProposalAcceptanceStyle(ContentProposalAdapter.PROPOSAL_IGNORE);
		popup.setPropagateKeys(true);
		popup.setPopupSize(POPUP);
		popup.addContentProposalListener(this::accept);
	}

	private IContentProposal[] proposals(String contents, int caret) {
		return SqlCompletion.at(contents, caret, tables).proposals().stream()
				.map(p -> new ContentProposal(p.text(), p.text(), p.note().isEmpty() ? null : p.note())).toArray(IContentProposal[]::new);
	}

	private void accept(IContentProposal proposal) {
		SqlCompletion word = SqlCompletion.at(text.getText(), text.getCaretPosition(), tables);
		List<String> fitting = word.proposals().stream().map(SqlCompletion.Proposal::text).toList();
		// who types fast chooses while the proposals for an earlier text are still shown
		String chosen = fitting.contains(proposal.getContent()) || fitting.isEmpty() ? proposal.getContent() : fitting.getFirst();
		text.setSelection(word.from(), word.to());
		text.insert(chosen);
	}

	Text control() {
		return text;
	}

	String statement() {
		return text.getText();
	}

	/** Another statement, with the caret at its end. */
	void statement(String sql) {
		text.setText(sql);
		text.setSelection(sql.length());
	}

	/** Whether proposals are shown; for tests. */
	boolean isProposing() {
		return popup.isProposalPopupOpen();
	}
}
