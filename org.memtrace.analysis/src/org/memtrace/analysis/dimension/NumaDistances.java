// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.node.NodeDistances;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.TraceStore;

/**
 * How far the CPU that made an access is from the NUMA node of the page, as the firmware of the machine tells it: 10 is local. Of an access
 * that saw several CPUs it is the largest one.
 */
final class NumaDistances extends Dimension {
	NumaDistances() {
		super("numa_distance", "NUMA distance", "NUMA distances", Type.NUMBER,
				"Distance from the CPU to the NUMA node of the page, 10 is local; the largest one of several CPUs", Use.ALL);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.CPU_SET, AccessColumn.NODE);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		byte[] xml = table.store().readNote(TraceStore.NOTE_TOPOLOGY).orElse(null);
		return new Values(xml == null ? NodeDistances.NONE : NodeDistances.read(xml), table.cpuSets());
	}

	private static final class Values extends DimensionValues {
		private final NodeDistances distances;
		/** The different ones, ascending. */
		private final long[] different;
		/** By set of CPUs and node. */
		private final int[][] value;

		Values(NodeDistances distances, List<BitSet> cpuSets) {
			this.distances = distances;
			this.different = distances.different();
			this.value = new int[cpuSets.size()][];
			for (int set = 0; set < value.length; set++) {
				value[set] = new int[distances.nodes()];
				for (int node = 0; node < distances.nodes(); node++) {
					long largest = UNKNOWN;
					for (int cpu = cpuSets.get(set).nextSetBit(0); cpu >= 0; cpu = cpuSets.get(set).nextSetBit(cpu + 1)) {
						long distance = distances.of(cpu, node);
						if (distance < 0) {
							largest = UNKNOWN;
							break;
						}
						largest = Math.max(largest, distance);
					}
					value[set][node] = largest < 0 ? -1 : Arrays.binarySearch(different, largest);
				}
			}
		}

		@Override
		public long size() {
			return different.length;
		}

		@Override
		public String name(long v) {
			return v == UNKNOWN ? "" : Long.toString(different[(int) v]);
		}

		@Override
		public Object cell(long v) {
			return v == UNKNOWN ? null : (Object) different[(int) v];
		}

		@Override
		public long number(long v) {
			return v == UNKNOWN ? v : different[(int) v];
		}

		@Override
		public ModelType type(long v) {
			return v == UNKNOWN ? unknownType() : new ModelType("distance " + name(v), Role.OTHER, (int) v);
		}

		@Override
		public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
			for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
				int node = c.node[row];
				int set = c.cpuSet[row];
				out[row] = node < 0 || node >= distances.nodes() || set < 0 || set >= value.length ? UNKNOWN : value[set][node];
			}
		}
	}
}
