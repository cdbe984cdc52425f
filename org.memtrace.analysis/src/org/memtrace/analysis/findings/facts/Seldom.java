// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

/** Late parts with fewer looks than tell who uses them mainly. */
final class Seldom {
	/** All of them, and those where one thread makes 80 % or more of the late accesses that were seen. */
	int parts;
	int single;
	/** Parts that another thread was seen to use most than touched them first, and those of {@link #single} among them. */
	int handedOn;
	int handedOnSingle;

	void add(Seldom o) {
		parts += o.parts;
		single += o.single;
		handedOn += o.handedOn;
		handedOnSingle += o.handedOnSingle;
	}

	void part(boolean one, boolean other) {
		parts++;
		single += one ? 1 : 0;
		handedOn += other ? 1 : 0;
		handedOnSingle += other && one ? 1 : 0;
	}
}
