// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.editor;

import java.util.ArrayDeque;
import java.util.Deque;

/** What was written, to take it back and do it again; letters that follow each other are one step. No widgets; one thread. */
final class EditHistory {
	private static final int MOST = 1000;

	/**
	 * A change of a text.
	 *
	 * @param start where
	 * @param before what stood there
	 * @param after what stands there since then
	 */
	record Edit(int start, String before, String after) {
		private boolean continuesWith(Edit next) {
			return before.isEmpty() && next.before().isEmpty() && next.start() == start + after.length() && next.after().length() == 1
					&& !next.after().isBlank();
		}

		private Edit back() {
			return new Edit(start, after, before);
		}
	}

	private final Deque<Edit> done = new ArrayDeque<>();
	private final Deque<Edit> undone = new ArrayDeque<>();

	/** A person has changed the text. */
	void add(Edit edit) {
		undone.clear();
		if (!done.isEmpty() && done.peek().continuesWith(edit)) {
			Edit last = done.pop();
			done.push(new Edit(last.start(), "", last.after() + edit.after()));
		} else {
			done.push(edit);
			if (done.size() > MOST) {
				done.removeLast();
			}
		}
	}

	/** The change that takes the last step back; null: there is none. */
	Edit undo() {
		if (done.isEmpty()) {
			return null;
		}
		undone.push(done.pop());
		return undone.peek().back();
	}

	/** The change that does again what was taken back; null: there is none. */
	Edit redo() {
		if (undone.isEmpty()) {
			return null;
		}
		done.push(undone.pop());
		return done.peek();
	}

	/** Another text. */
	void clear() {
		done.clear();
		undone.clear();
	}
}
