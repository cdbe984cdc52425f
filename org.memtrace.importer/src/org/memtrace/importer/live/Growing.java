// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.Closeable;
import java.io.IOException;

/** A file that another process appends to. What is there in part is left for the next time. */
interface Growing extends Closeable {
	/**
	 * Passes over what is there but for the last bytes.
	 *
	 * @return bytes that are passed over, 0 when there are no more than {@code keep}
	 */
	long skipTo(int keep) throws IOException;

	/**
	 * What is new and whole, not too much at once, in a form that a reader of such files can begin with.
	 *
	 * @return null when there is nothing
	 */
	byte[] lines() throws IOException;
}
