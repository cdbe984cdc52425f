// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.access;

import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;

/** What a process that imports a part of a trace does otherwise than one that imports all of it ({@link AccessImport#read}). */
interface Division {
	/** Whether this is the last step. */
	boolean completes();

	/** Where rows of an image that are not used are counted. */
	SkipCounter skips(int image);

	/** Fills an image; false if its lines shall be read. */
	boolean read(ImageData data) throws MemtraceException;

	/** Fills an image that ranks share, after all others. */
	void readShared(ImageData data) throws MemtraceException;
}
