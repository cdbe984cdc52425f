// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.pattern.Pattern;
import org.memtrace.analysis.pattern.PatternReading;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.tree.ProducerTree;

/** How the structure of an access is used in the window of time in which the access begins. docs/reference/patterns.md */
final class AccessPatterns extends OfTime {
	AccessPatterns() {
		super("pattern", "Pattern", "Access patterns",
				"How the structure is used at that time: swept, strided, at random, by all, in blocks, with a hot spot, in turn by two");
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		Patterns patterns = Patterns.of(table, progress);
		// the patterns in their order, in place of "strided" each stride, and none
		long[] strides = patterns.strides();
		Map<String, Integer> values = new HashMap<>();
		for (Pattern p : Pattern.values()) {
			if (p == Pattern.STRIDED) {
				Arrays.stream(strides).forEach(s -> values.putIfAbsent(Patterns.title(p, s), values.size()));
			} else {
				values.put(Patterns.title(p, 0), values.size());
			}
		}
		values.put(Patterns.title(null, 0), values.size());
		String[] names = new String[values.size()];
		values.forEach((name, value) -> names[value] = name);
		ProducerTree tree = table.producers();
		long[][] labels = new long[table.structures().size()][];
		for (int structure : patterns.structures()) {
			labels[structure] = new long[patterns.windows()];
			for (int w = 0; w < patterns.windows(); w++) {
				PatternReading r = patterns.reading(structure, w);
				labels[structure][w] = r == null ? DimensionValues.UNKNOWN : values.get(Patterns.title(r.pattern(), r.strideBytes()));
			}
		}
		return new DimensionValues() {
			@Override
			public long size() {
				return names.length;
			}

			@Override
			public String name(long value) {
				return value == UNKNOWN ? "" : names[(int) value];
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				int[] window = new int[c.times];
				for (int t = 0; t < c.times; t++) {
					window[t] = patterns.window(c.timeStartNs[t]);
				}
				for (int l = leafFrom; l < leafTo; l++) {
					int s = tree.structure(c.leaf[l]);
					long[] label = s < 0 || s >= labels.length ? null : labels[s];
					for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
						out[row] = label == null ? UNKNOWN : label[window[c.time[row]]];
					}
				}
			}
		};
	}
}
