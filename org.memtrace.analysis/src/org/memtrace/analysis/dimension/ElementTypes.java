// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import org.memtrace.model.memory.Structure;

/** The type of a structure as it is declared, without the dimensions: of an array that of its elements. */
final class ElementTypes extends OfStructureText {
	ElementTypes() {
		super("type_name", "Type", "Types", "Type of the structure; of an array or a block that of its elements: double, struct particle",
				Structure::elementType);
	}
}
