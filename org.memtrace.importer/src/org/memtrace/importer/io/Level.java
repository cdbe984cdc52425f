// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

/** Where an event of the I/O happens, from the program down to the device. */
enum Level {
	USER("user"), CALL("system call"), FILE_SYSTEM("file system"), CACHE("page cache"), BLOCK("block");

	final String text;

	Level(String text) {
		this.text = text;
	}

	/** Name of a type of events. */
	String type(String operation) {
		return text + ": " + operation;
	}
}
