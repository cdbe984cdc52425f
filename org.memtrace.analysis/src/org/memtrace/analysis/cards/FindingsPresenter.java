// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.cards;

import java.util.Comparator;
import java.util.List;

import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/**
 * Decides what a list of findings shows and what a click does; knows no widgets. It has the findings of the trace of its group, or of two
 * traces that are looked at together: then what became of each. Used by one thread (in the workbench: the display thread), but for
 * {@link Question#answer}.
 */
public final class FindingsPresenter {
	/** A trace that is shown. */
	public interface Trace {
		TraceInfo info();

		ProducerTree producers();

		TraceSelection selection();

		boolean hasAccesses();

		/** What the rules say; the same object for all that ask. Not on the display thread. */
		Advisor advisor(Progress progress) throws MemtraceException;
	}

	/** What is to be found out by a job. */
	public static final class Question {
		private final Trace before;
		private final Trace after;

		private Question(Trace before, Trace after) {
			this.before = before;
			this.after = after;
		}

		/** Takes as long as reading all accesses; may be cancelled. On any thread. */
		public FindingCards answer(Progress progress) throws MemtraceException {
			Advisor now = after.advisor(progress);
			if (before == null) {
				return FindingCards.of(after.info().alias(), now);
			}
			Advisor then = before.advisor(progress);
			progress.begin("Comparing findings", -1);
			return FindingCards.of(new TraceDiff(List.of(new Run(before.info().alias(), then)), List.of(new Run(after.info().alias(), now)),
					Thresholds.STANDARD));
		}
	}

	/** What stands for the widgets. */
	public interface Screen {
		/** Lets a job answer; the answer of an earlier question is not wanted any more. */
		void ask(Question question);

		/** No answer is wanted. */
		void stop();

		/** Shows cards. */
		void show(FindingCards cards);

		/** Shows a text instead of cards. */
		void say(String text);

		/** Shows everything about a card; -1: the rules that did not hold. */
		void detail(int card);

		/** Puts a text to the clipboard. */
		void copy(String text);
	}

	private final Screen screen;
	private Trace own;
	private Trace other;
	private Question asked;
	private FindingCards cards;
	private int chosen = -1;
	/** What the last card has added to the filters; traces that are compared are linked and have the same. */
	private TraceFilter filter;

	public FindingsPresenter(Screen screen) {
		this.screen = screen;
	}

	/**
	 * Other traces are looked at.
	 *
	 * @param trace that of the group; null none
	 * @param linked the one that is looked at with it; null none
	 */
	public void traces(Trace trace, Trace linked) {
		Trace second = linked != null && linked.hasAccesses() ? linked : null;
		if (trace == own && second == other && (cards != null || asked != null)) {
			return;
		}
		own = trace;
		other = second;
		cards = null;
		asked = null;
		chosen = -1;
		filter = null;
		screen.stop();
		if (own != null && !own.hasAccesses()) {
			screen.say("This trace has no memory accesses: findings are about the memory of a program.");
		} else {
			screen.say("");
		}
	}

	/** Whether there is something to be asked that was not asked yet. */
	public boolean isOpen() {
		return own != null && own.hasAccesses() && asked == null && cards == null;
	}

	/** Asks, unless it was asked already. */
	public void load() {
		if (isOpen()) {
			boolean first = other == null || isFirst(own, other);
			asked = new Question(other == null ? null : first ? own : other, other == null || !first ? own : other);
			screen.ask(asked);
		}
	}

	/** What was recorded first is what it was before; of equal times that which the group shows. */
	public static boolean isFirst(Trace a, Trace b) {
		return Comparator.comparing((Trace t) -> t.info().recordedAt()).compare(a, b) <= 0;
	}

	/** An answer; one to another question is not shown. */
	public void answered(Question question, FindingCards answer) {
		if (question == asked) {
			cards = answer;
			screen.show(answer);
			choose(answer.cards().isEmpty() ? -1 : 0);
		}
	}

	/** There is no answer. */
	public void failed(Question question, String message) {
		if (question == asked) {
			screen.say(message);
		}
	}

	/** The user does not want to wait; {@link #again} asks once more. */
	public void cancel() {
		screen.stop();
		screen.say("The search for findings was stopped.");
	}

	/** Asks again after {@link #cancel} or a failure. */
	public void again() {
		asked = null;
		cards = null;
		screen.say("");
		load();
	}

	/** What is shown; null while there is no answer. */
	public FindingCards cards() {
		return cards;
	}

	/** The card whose details are shown; -1: the rules that did not hold. */
	public int chosen() {
		return chosen;
	}

	/** Shows the details of a card and changes nothing else. */
	public void choose(int card) {
		chosen = card;
		screen.detail(card);
	}

	/** Shows the details of a card, and brings all views that follow to its place. */
	public void open(int card) {
		choose(card);
		if (card < 0) {
			return;
		}
		FindingCard c = cards.cards().get(card);
		Trace trace = c.after() == null ? asked.before : asked.after;
		filter = new FindingPlace(c.finding(), trace.producers()).show(c.name(), trace.info(), trace.selection(), filter);
	}

	/** Puts the code of a fix to the clipboard. */
	public void copyCode(Finding finding) {
		screen.copy(finding.fix().code());
	}
}
