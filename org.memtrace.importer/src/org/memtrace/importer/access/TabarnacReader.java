// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.importer.tabarnac.TabarnacParser;

/** Pages of TABARNAC, with structures and stacks. */
public final class TabarnacReader extends AccessReader {
	public TabarnacReader() {
		super(Set.of(InputFormat.TABARNAC_PAGES));
	}

	@Override
	public String id() {
		return "tabarnac";
	}

	@Override
	public String description() {
		return "files of TABARNAC, with the structures and stacks that belong to them";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("NAME.full.page.csv", "pages by thread of TABARNAC, without time"), //
				new Example("NAME.stackmap.csv", "stacks of TABARNAC"));
	}

	@Override
	RowParser.Factory parsers() {
		return TabarnacParser::new;
	}

	@Override
	Set<InputFormat> others() {
		return Set.of(InputFormat.MOCA_TRACE, InputFormat.MOCA_FRAMESOC);
	}
}
