// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.memory.Structure;

/**
 * A line of the source of a traced program.
 *
 * @param what what is there, for a person: a function, or "allocation of A"; may be empty
 * @param file as it was recorded: a path of the machine of the recording, or only a name
 * @param line from 1; 0 not known
 */
public record SourcePlace(String what, String file, int line) {
	/** The last part of the path. */
	public String fileName() {
		return file.substring(file.lastIndexOf('/') + 1);
	}

	/** {@code file.c:12}. */
	public String at() {
		return line > 0 ? fileName() + ":" + line : fileName();
	}

	/** Whether a recorded file is this one; of a name without a path the names decide. */
	public boolean isIn(String recorded) {
		return file.equals(recorded) || (file.indexOf('/') < 0 || recorded.indexOf('/') < 0)
				&& recorded.substring(recorded.lastIndexOf('/') + 1).equals(fileName());
	}

	/**
	 * Where a structure is made: its site first, with the whole path where a frame has it, then who called.
	 *
	 * @param stack of the allocation, innermost first; empty when there is none
	 * @param code code of the trace, whose files have whole paths
	 * @return empty when nothing is known
	 */
	public static List<SourcePlace> of(Structure structure, List<CallFrame> stack, CodePlaces code) {
		List<SourcePlace> places = new ArrayList<>();
		int colon = structure.site().lastIndexOf(':');
		if (colon > 0) {
			SourcePlace site = new SourcePlace(structure.name(), structure.site().substring(0, colon), number(structure.site()
					.substring(colon + 1)));
			String path = stack.stream().filter(f -> f.line() == site.line() && site.isIn(f.file())).map(CallFrame::file).findFirst()
					.or(() -> code.frames().stream().map(CallFrame::file).filter(site::isIn).findFirst()).orElse(site.file());
			places.add(new SourcePlace(site.what(), path, site.line()));
		}
		for (CallFrame f : stack) {
			SourcePlace p = of(f);
			if (p != null && places.stream().noneMatch(o -> o.file().equals(p.file()) && o.line() == p.line())) {
				places.add(p);
			}
		}
		return places;
	}

	/** Null when no file is known. */
	public static SourcePlace of(CallFrame f) {
		return f.file().isEmpty() ? null : new SourcePlace(f.function(), f.file(), f.line());
	}

	private static int number(String text) {
		return text.matches("\\d{1,9}") ? Integer.parseInt(text) : 0;
	}
}
