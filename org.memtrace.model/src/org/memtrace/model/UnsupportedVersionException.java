// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** A file was written by a newer version. */
public final class UnsupportedVersionException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public UnsupportedVersionException(String file, int found, int supported) {
		super(file + " has format version " + found + ", this memtrace reads up to version " + supported
				+ "; use a newer memtrace");
	}
}
