// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;

/** What is lost in the parts of a picture, as the strip of the hierarchy says it. */
final class StripLosses {
	/** From so many per cent on the strip says what of a loss is there at every p. */
	static final double LEAST_TOLD = 10;

	private final Partition partition;
	private final RowLayout layout;
	private final PictureOptions o;
	private PartLosses losses;
	private int[] lossNodes;

	StripLosses(Partition partition, RowLayout layout, PictureOptions options) {
		this.partition = partition;
		this.layout = layout;
		this.o = options;
	}

	/**
	 * What the strip says below the name of a node: what it is, and what is lost in it. Where the room is short, what it is is left out first:
	 * a loss that is cut off is not told.
	 */
	String detail(int n, String what, double width) {
		double size = 0.9 * o.fontSize;
		double loss = lossPercent(n);
		if (loss < 0.5) {
			return o.meter.fit(what, size, false, width);
		}
		String lost = "loss " + Math.round(Math.min(100, loss)) + " %";
		double least = leastPercent(n);
		List<String> told = new ArrayList<>();
		if (least >= LEAST_TOLD && least >= loss / 2) {
			String always = Math.round(Math.min(100, least)) + " %";
			told.add(what + " · " + lost + " (" + always + " in rows kept whole)");
			told.add(lost + " (" + always + " in rows kept whole)");
			told.add(lost + " (" + always + " kept whole)");
		}
		told.add(what + " · " + lost);
		for (String text : told) {
			String whole = what.isEmpty() && text.startsWith(" · ") ? text.substring(3) : text;
			if (o.meter.width(whole, size, false) <= width) {
				return whole;
			}
		}
		return o.meter.fit(lost, size, false, width);
	}

	/** Number of a node in the losses, -1 when its loss is not told. */
	private int part(int n) {
		if (losses == null) {
			lossNodes = layout.largeSections();
			losses = o.losses != null ? o.losses : PartLosses.of(partition.model(), lossNodes, partition.equalTypes());
		}
		int part = Arrays.binarySearch(lossNodes, n);
		return part >= 0 && part < losses.count() ? part : -1;
	}

	double lossPercent(int n) {
		int part = part(n);
		return part >= 0 ? losses.percent(partition, part) : 0;
	}

	/** What is lost at every p. */
	double leastPercent(int n) {
		int part = part(n);
		return part >= 0 ? losses.leastPercent(partition, part) : 0;
	}
}
