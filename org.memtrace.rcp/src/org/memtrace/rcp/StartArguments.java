// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.selection.SharedView;
import org.memtrace.analysis.selection.StateRequest;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.views.session.TraceFiles;

/**
 * What the command line asks for.
 *
 * @param catalogue directory of the catalogue, null for that of the user
 * @param isNew whether a workbench is to start even if one runs
 * @param state what is to be shown of the last trace
 * @param traces traces to open, the last one is shown
 */
record StartArguments(String catalogue, boolean isNew, StateRequest state, List<String> traces) {
	/** Of ours, with a value; each also in the form {@code --name=value}. */
	private static final Set<String> VALUES = Set.of("catalogue", "from", "to", "filter", "view", "structure");
	/** Of the platform and of tests, with a value. */
	private static final Set<String> SKIPPED = Set.of("-product", "-application", "-testproperties", "-testApplication", "-showlocation");

	/**
	 * Reads {@code [-new] [-catalogue DIR] [-from TIME] [-to TIME] [-filter FILTER] [-view DIMENSION] [-structure NAME] [TRACE...]}; options
	 * of the platform that are not ours are skipped.
	 */
	static StartArguments parse(List<String> arguments) {
		Map<String, String> given = new HashMap<>();
		List<String> traces = new ArrayList<>();
		boolean isNew = false;
		for (int i = 0; i < arguments.size(); i++) {
			String a = arguments.get(i);
			String name = a.startsWith("--") ? a.substring(2) : a.startsWith("-") ? a.substring(1) : "";
			int equals = name.indexOf('=');
			if (name.equals("new")) {
				isNew = true;
			} else if (VALUES.contains(name) && i + 1 < arguments.size()) {
				given.put(name, arguments.get(++i));
			} else if (equals > 0 && VALUES.contains(name.substring(0, equals))) {
				given.put(name.substring(0, equals), name.substring(equals + 1));
			} else if (SKIPPED.contains(a)) {
				i++;
			} else if (!a.startsWith("-")) {
				traces.add(a);
			}
		}
		return new StartArguments(given.get("catalogue"), isNew,
				new StateRequest(given.get("from"), given.get("to"), given.get("filter"), given.get("view"), given.get("structure")),
				List.copyOf(traces));
	}

	/** The same as arguments for another process, which has another working directory. */
	List<String> toArguments() {
		List<String> all = new ArrayList<>();
		add(all, "-from", state.from());
		add(all, "-to", state.to());
		add(all, "-filter", state.filter());
		add(all, "-view", state.view());
		add(all, "-structure", state.structure());
		traces.forEach(t -> all.add(absolute(t)));
		return all;
	}

	private static void add(List<String> all, String name, String value) {
		if (value != null) {
			all.add(name);
			all.add(value);
		}
	}

	/** What is no path may be the name of a trace in the catalogue. */
	private static String absolute(String trace) {
		if (trace.startsWith(SharedView.LINK) || CataloguePlace.isServer(trace) || TraceFiles.isAddress(trace)) {
			return trace;
		}
		try {
			Path path = Path.of(trace);
			return Files.exists(path) || trace.contains(File.separator) ? path.toAbsolutePath().normalize().toString() : trace;
		} catch (InvalidPathException e) {
			return trace;
		}
	}
}
