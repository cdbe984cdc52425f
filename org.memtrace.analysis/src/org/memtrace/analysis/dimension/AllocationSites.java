// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import org.memtrace.model.memory.Structure;

/** The source line where a structure is allocated or defined; structures of one line are together. */
final class AllocationSites extends OfStructureText {
	AllocationSites() {
		super("site", "Site", "Allocation sites", "Source line where the structure is allocated or defined", Structure::site);
	}
}
