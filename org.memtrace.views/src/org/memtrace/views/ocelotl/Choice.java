// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Set;
import java.util.TreeSet;

import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.views.preferences.Settings;

/**
 * What a person chose for this view alone, beside what all views of a trace have in common. Immutable.
 *
 * @param kind what the picture is
 * @param slices number of time slices
 * @param slicing how long they are
 * @param metric what is counted, null for what suits the trace
 * @param equalTypes whether types are divided by their totals
 * @param initial what the automatic level is
 * @param normalised whether the curves are those of gain and loss divided by what one block has
 * @param precision smallest step of p of the list of levels
 * @param merged whether blocks too low to be seen are drawn together, hatched
 * @param firstTouch where first touches are drawn
 * @param heights how high the rows are
 * @param scale with rows that are scrolled, how much higher than at first the pages are
 * @param hidden names of types that are not drawn
 */
record Choice(PictureKind kind, int slices, Slicing slicing, Metric metric, boolean equalTypes, InitialLevel initial, boolean normalised,
		double precision, boolean merged, FirstTouchLayer.Shown firstTouch, RowHeights heights, double scale,
		Set<String> hidden) {
	static final double LEAST_SCALE = 0.1;
	static final double MOST_SCALE = 100;
	static final Choice DEFAULT = new Choice(PictureKind.BLOCKS, ModelRequest.DEFAULT_SLICES, Slicing.ADAPTIVE, null, false,
			InitialLevel.BALANCED, false, SignificantLevels.DEFAULT_THRESHOLD, true,
			FirstTouchLayer.Shown.AUTO, RowHeights.READABLE, 1, Set.of());

	/** What a new view begins with: the defaults as the user set them. */
	static Choice ofSettings() {
		return DEFAULT.withSlices(Settings.slices()).withInitial(Settings.initialLevel()).withPrecision(Settings.precision());
	}

	Choice {
		hidden = Set.copyOf(hidden);
	}

	/** Whether the same description serves both: only drawing and curves differ. */
	boolean sameDescription(Choice o) {
		return kind.isOfTime() == o.kind.isOfTime() && kind.sides() == o.kind.sides() && slices == o.slices && slicing == o.slicing
				&& metric == o.metric && equalTypes == o.equalTypes
				&& heights == o.heights && scale == o.scale && firstTouch == o.firstTouch;
	}

	/** Whether the levels are the same list. */
	boolean sameLevels(Choice o) {
		return sameDescription(o) && normalised == o.normalised && precision == o.precision;
	}

	Choice withKind(PictureKind k) {
		return new Choice(k, slices, slicing, metric, equalTypes, initial, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withSlices(int n) {
		return new Choice(kind, n, slicing, metric, equalTypes, initial, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withSlicing(Slicing s) {
		return new Choice(kind, slices, s, metric, equalTypes, initial, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withMetric(Metric m) {
		return new Choice(kind, slices, slicing, m, equalTypes, initial, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withEqualTypes(boolean equal) {
		return new Choice(kind, slices, slicing, metric, equal, initial, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withInitial(InitialLevel strategy) {
		return new Choice(kind, slices, slicing, metric, equalTypes, strategy, normalised, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withNormalised(boolean on) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, on, precision, merged, firstTouch, heights, scale, hidden);
	}

	Choice withPrecision(double step) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, step, merged, firstTouch, heights, scale, hidden);
	}

	Choice withMerged(boolean on) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, precision, on, firstTouch, heights, scale, hidden);
	}

	Choice withFirstTouch(FirstTouchLayer.Shown shown) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, precision, merged, shown, heights, scale, hidden);
	}

	Choice withHeights(RowHeights h) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, precision, merged, firstTouch, h, scale, hidden);
	}

	/** @param factor clamped to what can be looked at */
	Choice withScale(double factor) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, precision, merged, firstTouch, heights,
				Math.clamp(factor, LEAST_SCALE, MOST_SCALE), hidden);
	}

	Choice withHidden(Set<String> types) {
		return new Choice(kind, slices, slicing, metric, equalTypes, initial, normalised, precision, merged, firstTouch, heights, scale, types);
	}

	/** Hides a type, or shows it again. */
	Choice toggled(String type) {
		Set<String> now = new TreeSet<>(hidden);
		if (!now.remove(type)) {
			now.add(type);
		}
		return withHidden(now);
	}
}
