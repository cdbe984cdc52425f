// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongToDoubleFunction;

import org.memtrace.analysis.colour.Palette;

/** Round instants of a window of time, with labels. */
public final class TimeAxis {
	/**
	 * One tick.
	 *
	 * @param timeNs instant
	 * @param label text with unit
	 */
	public record Tick(long timeNs, String label) {
	}

	private static final String[] UNITS = {"ns", "µs", "ms", "s"};

	public final List<Tick> ticks = new ArrayList<>();
	/** Where the labels count from, if not from the start of the trace: a text for the left end of the axis, else empty. */
	public final String base;

	/**
	 * @param originNs time 0 of the labels, the start of the trace
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 * @param most number of ticks that have room
	 * @param inTicks whether times are counts of a logical clock, which have no larger units
	 */
	public TimeAxis(long originNs, long fromNs, long toNs, int most, boolean inTicks) {
		long from = fromNs - originNs;
		long to = toNs - originNs;
		long step = step(to - from, Math.max(1, most));
		long first = Math.floorDiv(from + step - 1, step) * step;
		// far from the start and close up: count from a round instant
		boolean relative = first / step > 100_000;
		long origin = relative ? first : 0;
		int unit = unit(relative ? to - from : Math.max(Math.abs(from), Math.abs(to)), step);
		base = relative ? text(first, unit(first, step), inTicks) + " +" : "";
		for (long t = first; t <= to; t += step) {
			ticks.add(new Tick(originNs + t, text(t - origin, unit, inTicks)));
		}
	}

	/**
	 * Draws the ticks below a plot; a label that would touch the one before it is left out.
	 *
	 * @param f height of the normal font in pixels
	 * @param plotX left edge of the plot
	 * @param y lower edge of the plot
	 * @param right where the last label ends at the latest
	 * @param xOf the place of an instant
	 */
	public void draw(List<Shape> shapes, Palette palette, TextMeter meter, double f, double plotX, double y, double right,
			LongToDoubleFunction xOf) {
		double size = 0.92 * f;
		if (!base.isEmpty()) {
			shapes.add(new Shape.Text(plotX - 4, y + 1.45 * f, base, size, false, palette.mutedText(), Shape.Anchor.END, false));
		}
		double free = 0;
		for (Tick tick : ticks) {
			double x = xOf.applyAsDouble(tick.timeNs());
			double half = meter.width(tick.label(), size, false) / 2;
			shapes.add(new Shape.Line(Math.rint(x) + 0.5, y, Math.rint(x) + 0.5, y + 0.35 * f, palette.axis(), 1, false));
			double textX = Math.min(Math.max(x, plotX + half - 2), right - half);
			if (textX - half >= free) {
				shapes.add(new Shape.Text(textX, y + 1.45 * f, tick.label(), size, false, palette.mutedText(),
						Shape.Anchor.MIDDLE, false));
				free = textX + half + 0.6 * f;
			}
		}
	}

	/**
	 * An instant as a text, in the unit of the labels of an axis, as exact as a pixel of it.
	 *
	 * @param pixels width of the window
	 * @param ns what is told, on the clock of the window
	 */
	public static String at(long originNs, long fromNs, long toNs, double pixels, long ns, boolean inTicks) {
		long step = step(toNs - fromNs, Math.max(1, (int) pixels));
		long largest = Math.max(Math.abs(fromNs - originNs), Math.abs(toNs - originNs));
		return text(Math.round((double) (ns - originNs) / step) * step, unit(largest, step), inTicks);
	}

	private static long step(long span, int most) {
		long step = 1;
		int i = 0;
		int[] factors = {2, 5, 10};
		long power = 1;
		while (span / step > most) {
			step = power * factors[i];
			if (++i == 3) {
				i = 0;
				power *= 10;
			}
		}
		return step;
	}

	/** The unit in which labels are shortest: the largest that is not above the largest value. */
	private static int unit(long largest, long step) {
		int unit = 0;
		long size = 1000;
		while (unit < 3 && largest >= size && step * 1000 >= size) {
			unit++;
			size *= 1000;
		}
		return unit;
	}

	private static String text(long ns, int unit, boolean inTicks) {
		if (inTicks) {
			return String.format(Locale.ROOT, ns == 1 ? "%,d tick" : "%,d ticks", ns);
		}
		BigDecimal value = BigDecimal.valueOf(ns).movePointLeft(3 * unit).setScale(9, RoundingMode.HALF_UP)
				.stripTrailingZeros();
		return (value.signum() == 0 ? "0" : value.toPlainString()) + " " + UNITS[unit];
	}
}
