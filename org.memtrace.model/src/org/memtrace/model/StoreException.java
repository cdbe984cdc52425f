// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.io.IOException;

/** The database cannot do what was asked: not there, not ours, locked, full. */
public class StoreException extends MemtraceException {
	private static final long serialVersionUID = 1L;
	private final boolean deviceFull;

	public StoreException(String message) {
		super(message);
		deviceFull = false;
	}

	public StoreException(String message, Throwable cause) {
		super(message, cause);
		deviceFull = cause instanceof IOException && String.valueOf(cause.getMessage()).contains("No space left on device");
	}

	private StoreException(String message, Throwable cause, boolean full) {
		super(message, cause);
		deviceFull = full;
	}

	/** There is no space left where the database is. */
	public static StoreException deviceFull(String message, Throwable cause) {
		return new StoreException(message, cause, true);
	}

	/** Whether there is no space left on the device: neither a mistake of the user nor a wrong file. */
	public boolean isDeviceFull() {
		return deviceFull;
	}
}
