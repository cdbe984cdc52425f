// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import org.memtrace.model.MemtraceException;

/** Values that are the numbers which a person reads, from 0 on. */
public abstract class NumberValues extends DimensionValues {
	@Override
	public long size() throws MemtraceException {
		return -1;
	}

	@Override
	public String name(long value) {
		return value == UNKNOWN ? "" : Long.toString(value);
	}

	@Override
	public Object cell(long value) {
		return value == UNKNOWN ? null : (Object) value;
	}
}
