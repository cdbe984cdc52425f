// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.chrome;

import java.io.FilterReader;
import java.io.IOException;
import java.io.Reader;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * JSON for a parser that has no limits of its own: a text between quotation marks is at most as long as a line of other formats, and a
 * user can cancel while the parser skips what it does not need. Used by one thread.
 */
final class BoundedText extends FilterReader {
	private static final int LONGEST = 1 << 20;

	private final Progress progress;
	private boolean isText;
	private boolean isEscaped;
	private int length;

	/** The user has cancelled, said through a parser that knows only {@link IOException}. */
	static final class Stopped extends IOException {
		private static final long serialVersionUID = 1;
		private final MemtraceException why;

		Stopped(MemtraceException why) {
			super(why);
			this.why = why;
		}

		MemtraceException why() {
			return why;
		}
	}

	BoundedText(Reader in, Progress progress) {
		super(in);
		this.progress = progress;
	}

	@Override
	public int read() throws IOException {
		char[] one = new char[1];
		return read(one, 0, 1) < 0 ? -1 : one[0];
	}

	@Override
	public int read(char[] buffer, int offset, int count) throws IOException {
		try {
			progress.check();
		} catch (MemtraceException e) {
			throw new Stopped(e);
		}
		int n = super.read(buffer, offset, count);
		for (int i = offset; i < offset + n; i++) {
			char c = buffer[i];
			if (!isText) {
				isText = c == '"';
				length = 0;
			} else if (isEscaped) {
				isEscaped = false;
			} else if (c == '\\') {
				isEscaped = true;
			} else if (c == '"') {
				isText = false;
			}
			if (isText && ++length > LONGEST) {
				throw new IOException("a text is longer than 1 MiB");
			}
		}
		return n;
	}
}
