// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;

/**
 * The part of the time in which an access begins: parts in which memory is used alike, as aggregation over time alone finds them at the
 * level that a picture begins with.
 */
final class Phases extends OfTime {
	Phases() {
		super("phase", "Phase", "Phases", "The part of the run in which the access begins; within one, memory is used alike");
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		// a filter does not change what the phases are
		AccessModels all = new AccessModels(table.unfiltered());
		MicroscopicModel model = all.model(all.wholeRequest(), progress);
		Partition parts = SignificantLevels.balanced(TemporalAggregator.prepare(model, progress), progress).partition();
		long[] start = new long[parts.blockCount()];
		for (int i = 0; i < start.length; i++) {
			start[i] = model.slices().boundNs(parts.firstSlice(i));
		}
		Arrays.sort(start);
		long origin = table.info().startNs();
		boolean ticks = table.info().isInTicks();
		return new DimensionValues() {
			@Override
			public long size() {
				return start.length;
			}

			@Override
			public String name(long value) {
				int i = (int) value;
				return value == UNKNOWN ? ""
						: String.format("phase %d (%s to %s)", i + 1, Units.duration(start[i] - origin, ticks),
								Units.duration((i + 1 < start.length ? start[i + 1] : table.info().endNs()) - origin, ticks));
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				int[] phase = new int[c.times];
				for (int t = 0; t < c.times; t++) {
					int at = Arrays.binarySearch(start, c.timeStartNs[t]);
					phase[t] = Math.max(0, at >= 0 ? at : -at - 2);
				}
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					out[row] = phase[c.time[row]];
				}
			}
		};
	}
}
