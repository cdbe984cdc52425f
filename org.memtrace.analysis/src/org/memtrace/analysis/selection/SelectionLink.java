// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.Arrays;

import org.memtrace.model.tree.ProducerTree;

/**
 * Keeps the selections of two traces at the same place, for comparing runs of a program: what changes in one is done in the
 * other too. Dimension, level of detail and filters are the same, producers are those of the same name (where there is none,
 * the other one stays), and the time is the same since the start of each trace, or the same part of it; so is the time at which somebody
 * points, as far as the other trace has it. Used by one thread.
 */
public final class SelectionLink implements AutoCloseable {
	/** What the same time is in another trace. */
	public enum Time {
		/** As long after its start. */
		SINCE_START,
		/** After as large a part of the run. This fits a run that is faster. */
		SCALED
	}

	private final TraceSelection a;
	private final TraceSelection b;
	private final Time time;
	private final Mirror toB;
	private final Mirror toA;
	private boolean mirroring;

	/** Links, and brings the second to the place of the first. */
	public SelectionLink(TraceSelection a, TraceSelection b, Time time) {
		this.a = a;
		this.b = b;
		this.time = time;
		toB = new Mirror(a, b);
		toA = new Mirror(b, a);
		toB.stateChanged(null, a.state());
		a.addListener(toB);
		b.addListener(toA);
		a.pointed().addListener(toB);
		b.pointed().addListener(toA);
	}

	public boolean links(TraceSelection one, TraceSelection other) {
		return a == one && b == other || a == other && b == one;
	}

	/**
	 * Marks what belongs together in both, which may have another name in each.
	 *
	 * @param one one of both selections
	 * @param ofOne what to mark there
	 * @param ofOther what to mark in the other one
	 */
	public void mark(TraceSelection one, int[] ofOne, int[] ofOther) {
		boolean outer = mirroring;
		mirroring = true;
		try {
			one.markAll(ofOne);
			(one == a ? b : a).markAll(ofOther);
		} finally {
			mirroring = outer;
		}
	}

	@Override
	public void close() {
		a.removeListener(toB);
		b.removeListener(toA);
		a.pointed().removeListener(toB);
		b.pointed().removeListener(toA);
		a.pointed().leave(toA);
		b.pointed().leave(toB);
		a.endGesture();
		b.endGesture();
	}

	private final class Mirror implements TraceSelection.Listener, PointedTime.Listener {
		private final TraceSelection from;
		private final TraceSelection to;

		Mirror(TraceSelection from, TraceSelection to) {
			this.from = from;
			this.to = to;
		}

		@Override
		public void stateChanged(ViewState old, ViewState now) {
			mirror(() -> {
				if (from.isInGesture()) {
					to.beginGesture();
				}
				to.go(mirrored(now), from.reason());
			});
		}

		@Override
		public void gestureEnded() {
			mirror(to::endGesture);
		}

		@Override
		public void markChanged(int producer) {
			mirror(() -> to.markAll(Arrays.stream(from.marks()).map(id -> sameProducer(from.tree(), id, to.tree(), TraceSelection.NO_MARK))
					.filter(id -> id != TraceSelection.NO_MARK).toArray()));
		}

		@Override
		public void pointed(Object by, long timeNs) {
			if (from.pointed() == to.pointed()) {
				return; // a selection and its copy
			}
			mirror(() -> {
				long there = by == null ? PointedTime.NONE : mirrored(timeNs);
				if (by == null || there < to.initial().fromNs() || there > to.initial().toNs()) {
					to.pointed().leave(this);
				} else {
					to.pointed().point(this, there);
				}
			});
		}

		/** The instant of the other trace that is the same; perhaps beyond its end. */
		private long mirrored(long ns) {
			ViewState start = from.initial();
			double scale = time == Time.SCALED ? (double) to.initial().durationNs() / start.durationNs() : 1;
			return to.initial().fromNs() + Math.round((ns - start.fromNs()) * scale);
		}

		private void mirror(Runnable change) {
			if (!mirroring) {
				mirroring = true;
				try {
					change.run();
				} finally {
					mirroring = false;
				}
			}
		}

		private ViewState mirrored(ViewState s) {
			ViewState start = from.initial();
			ViewState target = to.initial();
			ViewState result = to.state().withViewpoint(s.viewpoint()).withP(s.p()).withFilters(s.filters());
			int producer = s.producer() == start.producer() ? target.producer()
					: sameProducer(from.tree(), s.producer(), to.tree(), result.producer());
			result = result.withProducer(producer);
			if (s.fromNs() == start.fromNs() && s.toNs() == start.toNs()) {
				return result.withWindow(target.fromNs(), target.toNs());
			}
			ViewState clipped = to.clip(mirrored(s.fromNs()), mirrored(s.toNs()));
			return result.withWindow(clipped.fromNs(), clipped.toNs());
		}
	}

	/**
	 * The producer with the same names above it, found from the root down: the names of millions of pages are not needed.
	 *
	 * @param otherwise when there is none
	 */
	static int sameProducer(ProducerTree tree, int producer, ProducerTree other, int otherwise) {
		if (producer < 0 || producer >= tree.size()) {
			return otherwise;
		}
		int parent = tree.parent(producer);
		String name = tree.name(producer);
		int first = 0;
		if (parent != ProducerTree.NO_PARENT) {
			int above = sameProducer(tree, parent, other, -1);
			if (above < 0) {
				return otherwise;
			}
			first = other.firstChild(above);
		}
		for (int id = first; id >= 0 && id < other.size(); id = other.nextSibling(id)) {
			if (other.name(id).equals(name)) {
				return id;
			}
		}
		return otherwise;
	}
}
