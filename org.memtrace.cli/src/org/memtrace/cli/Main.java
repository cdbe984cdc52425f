// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

/** Entry point of the commands that run on a JVM. */
public final class Main {
	private Main() {
	}

	public static void main(String[] args) {
		System.err.println("memtrace: no command of this name");
		System.exit(2);
	}
}
