// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/**
 * A number of FrameSoc events as columns, for traces of any kind. A memory trace shows each access as one variable
 * event for its reads and one for its writes. A receiver must not keep the arrays after it returns.
 */
public final class EventBatch {
	/** Number of valid rows. */
	public int count;
	public final long[] id;
	public final int[] type;
	public final int[] producer;
	/** Start, or the instant of a punctual event. */
	public final long[] startNs;
	/** End; equal to the start for a punctual event. */
	public final long[] endNs;
	/** Value of a variable, nesting level of a state, end producer of a link. */
	public final double[] value;
	public final int[] cpu;
	/** For writing: the set of parameters of a row, 0 for none; null when no row has any. */
	private int[] parameters;

	public EventBatch(int capacity) {
		id = new long[capacity];
		type = new int[capacity];
		producer = new int[capacity];
		startNs = new long[capacity];
		endNs = new long[capacity];
		value = new double[capacity];
		cpu = new int[capacity];
	}

	public boolean isFull() {
		return count == id.length;
	}

	/** Appends a row. */
	public void add(long eventId, int typeId, int producerId, long start, long end, double number, int cpuIndex) {
		int i = count++;
		id[i] = eventId;
		type[i] = typeId;
		producer[i] = producerId;
		startNs[i] = start;
		endNs[i] = end;
		value[i] = number;
		cpu[i] = cpuIndex;
		if (parameters != null) {
			parameters[i] = 0;
		}
	}

	/** Gives the last row a set of parameters that {@link TraceWriter#parameters} made. */
	public void setParameters(int set) {
		if (parameters == null) {
			if (set == 0) {
				return;
			}
			parameters = new int[id.length];
		}
		parameters[count - 1] = set;
	}

	/** Number of the set of parameters of a row, 0 for none. */
	public int parameters(int row) {
		return parameters == null ? 0 : parameters[row];
	}
}
