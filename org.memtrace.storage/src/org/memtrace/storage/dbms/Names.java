// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.util.List;
import java.util.function.Predicate;

import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;

/** Rules for the names of traces. */
public final class Names {
	public static final String SYSTEM_DB = "SOCTRACE_SYSTEM_DB";
	private static final int LONGEST = 100;
	/** Width of the column in FrameSoc's schema. */
	private static final int MAX_PROPERTY = 128;

	private Names() {
	}

	/**
	 * A database name in FrameSoc's form: letters, digits and underscores, no digit at the beginning.
	 */
	public static String database(String wanted) {
		String name = wanted == null ? "" : wanted.strip().replaceAll("[^A-Za-z0-9_]", "_");
		name = name.substring(0, Math.min(name.length(), LONGEST));
		if (name.replace("_", "").isEmpty() || name.equalsIgnoreCase(SYSTEM_DB)) {
			name = "TRACE_DB";
		}
		return Character.isDigit(name.charAt(0)) ? "DB_" + name : name;
	}

	/** The name itself, or with the first number that makes it free. */
	public static String unique(String name, Predicate<String> taken) {
		String candidate = name;
		for (int i = 2; taken.test(candidate); i++) {
			candidate = name + "_" + i;
		}
		return candidate;
	}

	public static String alias(String alias) throws StoreException {
		if (alias == null || alias.isBlank()) {
			throw new StoreException("the display name of a trace must not be empty");
		}
		return alias.strip();
	}

	public static void property(String name) throws StoreException {
		if (name == null || name.isBlank() || name.length() > MAX_PROPERTY || !name.equals(name.strip())) {
			throw new StoreException("a property needs a name of 1 to " + MAX_PROPERTY + " characters without blanks around it");
		}
	}

	/** By number if no database is called so, else by database or display name if only one trace has it. */
	public static TraceInfo find(List<TraceInfo> traces, String nameOrId) throws StoreException {
		List<TraceInfo> named = traces.stream().filter(t -> isDatabase(t, nameOrId) || t.alias().equals(nameOrId)).toList();
		if (named.stream().noneMatch(t -> isDatabase(t, nameOrId))) {
			for (TraceInfo trace : traces) {
				if (Integer.toString(trace.id()).equals(nameOrId)) {
					return trace;
				}
			}
		}
		if (named.size() == 1) {
			return named.get(0);
		}
		if (named.isEmpty()) {
			throw new StoreException("no trace is called \"" + nameOrId + "\" in this catalogue");
		}
		throw new StoreException(named.size() + " traces are called \"" + nameOrId + "\"; use a number: "
				+ String.join(", ", named.stream().map(t -> Integer.toString(t.id())).toList()));
	}

	private static boolean isDatabase(TraceInfo trace, String name) {
		return trace.databaseName().equals(name) || Dbms.withoutSuffix(trace.databaseName()).equals(name);
	}
}
