// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.nio.file.Path;

import org.memtrace.importer.record.Example;
import org.memtrace.importer.record.RecordSettings;

/** What can be recorded on this machine without asking. */
public final class RecordSource {
	private final Machine machine;

	RecordSource(Machine machine) {
		this.machine = machine;
	}

	/** A bundled example, null when it is not installed. */
	public RecordSettings example(Example example) {
		Path file = machine.installation().example(example.program());
		return file == null ? null : example.settings(file, machine.recordings());
	}
}
