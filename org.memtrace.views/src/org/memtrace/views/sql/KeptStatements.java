// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.preferences.IEclipsePreferences;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.memtrace.sql.SqlHistory;
import org.osgi.service.prefs.BackingStoreException;

/** The statements that the user asked, kept for the next start. Any thread. */
final class KeptStatements {
	private static final String NODE = "org.memtrace.views.sql";
	private static final String HISTORY = "history";

	private KeptStatements() {
	}

	static SqlHistory get() {
		return SqlHistory.of(InstanceScope.INSTANCE.getNode(NODE).get(HISTORY, ""));
	}

	/** One more, also of another view at the same time. */
	static synchronized void add(String statement) {
		IEclipsePreferences node = InstanceScope.INSTANCE.getNode(NODE);
		node.put(HISTORY, get().with(statement).toText());
		try {
			node.flush();
		} catch (BackingStoreException e) {
			ILog.of(KeptStatements.class).warn("The history of statements cannot be kept: " + e.getMessage(), e);
		}
	}
}
