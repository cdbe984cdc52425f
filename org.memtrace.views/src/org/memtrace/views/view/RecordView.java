// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import org.memtrace.views.session.OpenTrace;

/** A view that can select a single record. Views of records show what another one has selected, and know no more of each other. */
public interface RecordView {
	/**
	 * Selects a record as soon as it is shown; nothing happens when the view shows another trace.
	 *
	 * @param producer event producer of the record
	 * @param startNs its start, in the clock of the trace
	 * @param endNs its end
	 */
	void showRecord(OpenTrace of, int producer, long startNs, long endNs);
}
