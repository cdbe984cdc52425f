// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.formats;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.analysis.export.Otf2Records;
import org.memtrace.analysis.export.OutputFile;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.input.ReadingProcess;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.MemtraceException;

/** A folder with an archive of OTF2, written by libotf2 in a process of its own: docs/reference/otf2-stream.md. */
final class Otf2Format implements ExportFormat {
	@Override
	public String name() {
		return "otf2";
	}

	@Override
	public boolean isOfEvents() {
		return true;
	}

	@Override
	public void write(Request r) throws Exception {
		r.needsOutput();
		Path launcher = Installation.find(null).launcher();
		if (launcher == null) {
			throw new MemtraceException("OTF2 archives are written by the program memtrace, which is not here or not for this system; "
					+ "export on Linux, or put memtrace into PATH");
		}
		Otf2Records.Result[] result = new Otf2Records.Result[1];
		OutputFile.write(r.output(), temporary -> result[0] = archive(r, launcher, temporary));
		if (result[0].beside() > 0) {
			r.console().hint("note: " + result[0].beside() + " states that do not nest are at locations beside those of their producers");
		}
		if (result[0].withoutText() > 0) {
			r.console().hint("note: " + result[0].withoutText() + " events are without their parameters, as too many differ");
		}
	}

	private static Otf2Records.Result archive(Request r, Path launcher, Path folder) throws Exception {
		Console console = r.console();
		List<String> said = new CopyOnWriteArrayList<>();
		try (ReadingProcess process = new ReadingProcess(new ProcessBuilder(launcher.toString(), "otf2-write", folder.toString()), true,
				console.progress(), said::add)) {
			Otf2Records.Result result = null;
			try (OutputStream records = process.input()) {
				result = Otf2Records.write(r.store(), r.filter(), records, console.progress());
			} catch (IOException | UncheckedIOException e) {
				said.add("memtrace otf2-write: " + e.getMessage()); // it went away: its own reason is before this
			}
			int code = process.exitCode();
			console.progress().check();
			if (code != 0 || result == null) {
				throw new MemtraceException(said.isEmpty() ? "memtrace otf2-write ended with exit code " + code
						: said.get(0).replaceFirst("^memtrace otf2-write: ", "").replace(folder + ": ", ""));
			}
			return result;
		}
	}
}
