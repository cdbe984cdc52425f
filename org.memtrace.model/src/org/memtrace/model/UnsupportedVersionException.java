// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** A file was written by a version that is too new, or too old. */
public final class UnsupportedVersionException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public UnsupportedVersionException(String file, int found, int supported) {
		super(file + " has format version " + found + ", this memtrace reads up to version " + supported
				+ "; use a newer memtrace");
	}

	private UnsupportedVersionException(String message) {
		super(message);
	}

	/** Of a file that an earlier version wrote. */
	public static UnsupportedVersionException tooOld(String file, int found, int oldest) {
		return new UnsupportedVersionException(file + " has format version " + found + " of an earlier memtrace, this one reads from"
				+ " version " + oldest + " on; import the trace again");
	}
}
