// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.util.ArrayList;
import java.util.List;

/**
 * What the command line asks for.
 *
 * @param catalogue directory of the catalogue, null for that of the user
 * @param traces traces to open, the last one is shown
 */
record StartArguments(String catalogue, List<String> traces) {
	/** Reads {@code [-catalogue DIR] [TRACE...]}; options of the platform that are not ours are skipped. */
	static StartArguments parse(String[] arguments) {
		String catalogue = null;
		List<String> traces = new ArrayList<>();
		for (int i = 0; i < arguments.length; i++) {
			String a = arguments[i];
			if ((a.equals("-catalogue") || a.equals("--catalogue")) && i + 1 < arguments.length) {
				catalogue = arguments[++i];
			} else if (a.startsWith("--catalogue=")) {
				catalogue = a.substring("--catalogue=".length());
			} else if (a.equals("-product") || a.equals("-application") || a.equals("-testproperties")
					|| a.equals("-testApplication") || a.equals("-showlocation")) {
				i++;
			} else if (!a.startsWith("-")) {
				traces.add(a);
			}
		}
		return new StartArguments(catalogue, List.copyOf(traces));
	}
}
