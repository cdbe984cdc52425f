// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.List;

import org.memtrace.aggregation.DimensionValues;

/** Values that are places in a list of names. */
abstract class NamedValues extends DimensionValues {
	private final List<String> names;

	NamedValues(List<String> names) {
		this.names = names;
	}

	@Override
	public long size() {
		return names.size();
	}

	@Override
	public String name(long value) {
		return value == UNKNOWN ? "" : names.get((int) value);
	}
}
