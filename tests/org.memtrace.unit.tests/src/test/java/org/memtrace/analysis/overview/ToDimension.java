// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import org.junit.jupiter.params.converter.TypedArgumentConverter;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;

/** A dimension that can colour, by its id. */
final class ToDimension extends TypedArgumentConverter<String, Dimension> {
	ToDimension() {
		super(String.class, Dimension.class);
	}

	@Override
	protected Dimension convert(String id) {
		return Dimensions.find(id, Use.COLOUR);
	}
}
