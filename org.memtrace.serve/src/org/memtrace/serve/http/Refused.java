// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.http;

/** A request that gets no answer, with the status of HTTP and a sentence that says why. */
public final class Refused extends Exception {
	private static final long serialVersionUID = 1L;

	private final int status;

	public Refused(int status, String sentence) {
		super(sentence);
		this.status = status;
	}

	/** A value that cannot be meant. */
	public static Refused bad(String sentence) {
		return new Refused(400, sentence);
	}

	/** Something that the trace does not have. */
	public static Refused missing(String sentence) {
		return new Refused(404, sentence);
	}

	public int status() {
		return status;
	}
}
