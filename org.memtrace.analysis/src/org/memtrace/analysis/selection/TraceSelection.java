// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.model.tree.ProducerTree;

/**
 * The one selection model of a trace: time window, producer, viewpoint, level of detail and filters, with their history, and
 * the marked producer. Views change it and follow it; it knows nothing of them. Used by one thread (in the workbench: the
 * display thread); listeners are called on it, after the change.
 *
 * <p>Steps that a user would want to go back to (a zoom, another viewpoint, another p) enter the history; a drag of the
 * slider is one step, however many values it passed.
 */
public final class TraceSelection {
	/** Follows the selection. */
	public interface Listener {
		/** The state is another one; {@code old} is null after the listener asked to be told the first time. */
		default void stateChanged(ViewState old, ViewState now) {
		}

		/** A gesture has ended: the changes since its begin are one step. */
		default void gestureEnded() {
		}

		/** Others are marked: {@link TraceSelection#marks}. The first of them; {@link #NO_MARK} none. */
		default void markChanged(int producer) {
		}
	}

	/** Nothing is marked. */
	public static final int NO_MARK = -1;
	/** Steps kept for going back. */
	private static final int MAX_HISTORY = 200;
	/** A window is not made shorter than this: the clock has no finer ticks worth a picture. */
	private static final long MIN_WINDOW_NS = 1_000;

	private final ProducerTree tree;
	private final ViewState initial;
	private final Deque<Step> back = new ArrayDeque<>();
	private final Deque<Step> forward = new ArrayDeque<>();
	private final List<Listener> listeners = new CopyOnWriteArrayList<>();
	private final PointedTime pointed;
	private ViewState state;
	/** For what {@link #state} is shown; empty unless a {@link #jump} led to it. */
	private String reason = "";
	/** In order of the tree. */
	private int[] marks = {};
	/** State before a gesture (drag of the slider, turning of the wheel) that counts as one step; null: none. */
	private Step gestureStart;

	/**
	 * A state of the history, and for what it was shown.
	 *
	 * @param marks what was marked then; null when the step from it has marked nothing: what is marked now stays
	 */
	private record Step(ViewState state, int[] marks, String reason) {
	}

	/**
	 * @param tree producers of the trace
	 * @param fromNs start of the trace
	 * @param toNs end of the trace
	 */
	public TraceSelection(ProducerTree tree, long fromNs, long toNs) {
		this(tree, fromNs, toNs, new PointedTime());
	}

	private TraceSelection(ProducerTree tree, long fromNs, long toNs, PointedTime pointed) {
		this.tree = tree;
		this.pointed = pointed;
		this.initial = new ViewState(fromNs, toNs, tree.subtreeEnd(0) == tree.size() ? 0
				: ViewState.ALL_PRODUCERS, BasicDimensions.TYPE, ViewState.AUTOMATIC_P);
		this.state = initial;
	}

	/**
	 * A selection that begins as this one, history included, and then goes its own way; nobody follows it yet. The time at which somebody
	 * points stays the same in both.
	 */
	public TraceSelection copy() {
		TraceSelection c = new TraceSelection(tree, initial.fromNs(), initial.toNs(), pointed);
		c.back.addAll(back);
		c.forward.addAll(forward);
		c.state = state;
		c.reason = reason;
		c.marks = marks;
		return c;
	}

	public ViewState state() {
		return state;
	}

	/**
	 * For what the state is shown, when something led to it that changes much at once, such as a finding: a sentence without its stop, see
	 * {@link ShownFor}. Empty when the user came here by single steps, or has gone on.
	 */
	public String reason() {
		return reason;
	}

	/** The whole trace. */
	public ViewState initial() {
		return initial;
	}

	/** The marked producer, a structure or whatever else has a row of its own, the first of several; {@link #NO_MARK} none. */
	public int mark() {
		return marks.length == 0 ? NO_MARK : marks[0];
	}

	/** All marked producers, in the order of the tree. */
	public int[] marks() {
		return marks.clone();
	}

	/** The time at which somebody points, the same for all copies of this selection. */
	public PointedTime pointed() {
		return pointed;
	}

	public void addListener(Listener l) {
		listeners.add(l);
	}

	public void removeListener(Listener l) {
		listeners.remove(l);
	}

	/** Zooms in time and space at once; the window is kept inside the trace. */
	public void zoom(long fromNs, long toNs, int producer) {
		go(clip(fromNs, toNs).withProducer(producer));
	}

	/** Moves or changes the window, producer unchanged. */
	public void window(long fromNs, long toNs) {
		go(clip(fromNs, toNs));
	}

	/** Another viewpoint; zoom and p stay. */
	public void viewpoint(Dimension v) {
		go(state.withViewpoint(v));
	}

	/** Another level of detail, {@link ViewState#AUTOMATIC_P} to let the picture choose. */
	public void p(double p) {
		go(state.withP(Double.isNaN(p) ? p : Math.max(0, Math.min(1, p))));
	}

	/** Other filters; everything else stays. */
	public void filters(FilterSet now) {
		go(state.withFilters(now));
	}

	/** Another machine, see {@link ViewState#machine}; everything else stays. */
	public void machine(String text) {
		go(state.withMachine(text));
	}

	/** One more filter. */
	public void addFilter(TraceFilter f) {
		filters(state.filters().with(f));
	}

	/** One filter less. */
	public void removeFilter(TraceFilter f) {
		filters(state.filters().without(f));
	}

	/** Whole time and all producers; viewpoint, p and filters stay. */
	public void reset() {
		go(state.withWindow(initial.fromNs(), initial.toNs()).withProducer(initial.producer()));
	}

	/** The parent of the shown producer, if it has one. */
	public void up() {
		if (state.producer() != initial.producer()) {
			go(state.withProducer(tree.parent(state.producer())));
		}
	}

	/** All changes until {@link #endGesture} are one step of the history. */
	public void beginGesture() {
		if (gestureStart == null) {
			gestureStart = new Step(state, null, reason);
		}
	}

	public void endGesture() {
		Step start = gestureStart;
		gestureStart = null;
		if (start != null && !start.state().equals(state)) {
			remember(start);
		}
		if (start != null) {
			for (Listener l : listeners) {
				l.gestureEnded();
			}
		}
	}

	boolean isInGesture() {
		return gestureStart != null;
	}

	ProducerTree tree() {
		return tree;
	}

	public boolean canGoBack() {
		return !back.isEmpty() || (gestureStart != null && !gestureStart.state().equals(state));
	}

	public boolean canGoForward() {
		return !forward.isEmpty();
	}

	public void back() {
		endGesture();
		if (!back.isEmpty()) {
			Step step = back.pop();
			forward.push(opposite(step));
			set(step);
		}
	}

	public void forward() {
		endGesture();
		if (!forward.isEmpty()) {
			Step step = forward.pop();
			back.push(opposite(step));
			set(step);
		}
	}

	/** Marks a producer in all views, {@link #NO_MARK} none. */
	public void mark(int id) {
		markAll(id == NO_MARK ? new int[0] : new int[] {id});
	}

	/** Marks several producers, such as the pages that something is said about. */
	public void markAll(int... ids) {
		int[] now = inOrder(ids);
		if (!Arrays.equals(now, marks)) {
			marks = now;
			for (Listener l : listeners) {
				l.markChanged(mark());
			}
		}
	}

	private static int[] inOrder(int[] ids) {
		return Arrays.stream(ids).sorted().distinct().toArray();
	}

	/** The smallest producer whose subtree holds all of {@code [first, last]} (ids). */
	public int commonProducer(int first, int last) {
		int id = first;
		while (last < id || last >= tree.subtreeEnd(id)) {
			int parent = tree.parent(id);
			if (parent == ProducerTree.NO_PARENT) {
				return initial.producer();
			}
			id = parent;
		}
		return id;
	}

	/** The state with another window, which is kept inside the trace. */
	public ViewState clip(long fromNs, long toNs) {
		long length = Math.max(toNs - fromNs, Math.min(MIN_WINDOW_NS, initial.durationNs()));
		long from = Math.max(initial.fromNs(), Math.min(fromNs, initial.toNs() - length));
		return state.withWindow(from, Math.min(initial.toNs(), from + length));
	}

	/** Another state, as a step of the history. */
	public void go(ViewState next) {
		go(next, "");
	}

	void go(ViewState next, String why) {
		if (next.equals(state)) {
			return;
		}
		if (gestureStart == null) {
			remember(new Step(state, null, reason));
		}
		set(next, why);
	}

	/**
	 * Another state and other marks, as one step: going back brings both back.
	 *
	 * @param ids what is marked then
	 * @param why see {@link #reason}
	 */
	public void jump(ViewState next, int[] ids, String why) {
		endGesture();
		if (!next.equals(state) || !Arrays.equals(inOrder(ids), marks)) {
			remember(new Step(state, marks, reason));
		}
		set(next, why);
		markAll(ids);
	}

	/** How the way of a step leads back to what is shown now. */
	private Step opposite(Step step) {
		return new Step(state, step.marks() == null ? null : marks, reason);
	}

	private void set(Step step) {
		set(step.state(), step.reason());
		if (step.marks() != null) {
			markAll(step.marks());
		}
	}

	private void remember(Step step) {
		back.push(step);
		forward.clear();
		if (back.size() > MAX_HISTORY) {
			back.removeLast();
		}
	}

	private void set(ViewState next, String why) {
		ViewState old = state;
		state = next;
		reason = why;
		for (Listener l : listeners) {
			l.stateChanged(old, next);
		}
	}
}
