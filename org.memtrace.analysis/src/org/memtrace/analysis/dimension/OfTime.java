// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.Dimension;
import org.memtrace.model.columns.AccessColumn;

/**
 * A dimension whose value depends on when an access begins. The parts of the time, or what they are called, follow from all accesses of the
 * trace, whatever a filter hides.
 */
abstract class OfTime extends Dimension {
	/** A text that can be used for everything. */
	protected OfTime(String id, String title, String choice, String meaning) {
		super(id, title, choice, Type.TEXT, meaning, Use.ALL);
	}

	@Override
	public final Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME);
	}

	@Override
	public final boolean looksAtAll() {
		return true;
	}
}
