// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** The code that ran when a trace was recorded. */
public final class RecordedCode {
	private RecordedCode() {
	}

	/** Where the code of a trace is; {@link CodePlaces#NONE} when that was not recorded. */
	public static CodePlaces of(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(TraceStore.NOTE_CODE).orElse(null);
		return note == null ? CodePlaces.NONE : CodePlaces.of(note);
	}
}
