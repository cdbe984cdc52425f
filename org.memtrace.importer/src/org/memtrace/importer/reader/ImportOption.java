// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

/** What only some formats can be asked for; names and strictness suit all. */
public enum ImportOption {
	/** Structures are merged by rules. */
	MERGE("--merge"),
	/** Ranges of pages are divided into parts. */
	FANOUT("--fanout"),
	/** Also the traces that the original FrameSoc expects. */
	PROJECTIONS("--projections"),
	/** Also a file as Moca writes it. */
	MOCA_FRAMESOC("--moca-framesoc");

	private final String option;

	ImportOption(String option) {
		this.option = option;
	}

	/** As it is typed. */
	public String option() {
		return option;
	}
}
