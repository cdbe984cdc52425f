// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.output;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.memtrace.model.Progress;
import org.memtrace.model.columns.Losses;

/** Where a command writes: results to {@link #out()}, everything else to {@link #err()}. UTF-8. */
public final class Console {
	private final PrintStream out;
	private final PrintStream err;
	private final boolean outTerminal;
	private final boolean quiet;
	private final ConsoleProgress progress;
	private final List<Supplier<Losses>> watched = new ArrayList<>();

	/**
	 * @param errTerminal progress is shown only on a terminal
	 * @param quiet neither progress nor hints
	 */
	public Console(PrintStream out, PrintStream err, boolean outTerminal, boolean errTerminal, boolean quiet) {
		this.out = out;
		this.err = err;
		this.outTerminal = outTerminal;
		this.quiet = quiet;
		progress = new ConsoleProgress(errTerminal && !quiet ? err : null, System::nanoTime);
	}

	/** The console of the process; the native program says what is a terminal. */
	public static Console system(boolean quiet) {
		String terminal = System.getProperty("memtrace.terminal", "");
		PrintStream out = new PrintStream(
				new BufferedOutputStream(new StrictOutput(new FileOutputStream(FileDescriptor.out)), 1 << 16), false,
				StandardCharsets.UTF_8);
		PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
		return new Console(out, err, terminal.contains("out"), terminal.contains("err"), quiet);
	}

	/** Results. Buffered; flushed when the command ends. Throws {@link UncheckedIOException} when it cannot write. */
	public PrintStream out() {
		progress.clear();
		return out;
	}

	/** Standard input. */
	public InputStream in() {
		return System.in;
	}

	public PrintStream err() {
		progress.clear();
		return err;
	}

	/** Whether a person reads the results: then they may be laid out for the eye. */
	public boolean isTerminal() {
		return outTerminal;
	}

	/** A line for a person that is no result, on standard error; nothing with --quiet. */
	public void hint(String text) {
		if (!quiet) {
			err().println(text);
		}
	}

	/** For all operations of the command; shown when standard error is a terminal. */
	public Progress progress() {
		return progress;
	}

	/** What was lost is said, and changes the exit code, when the command ends. */
	public void watch(Supplier<Losses> lost) {
		watched.add(lost);
	}

	/** Says what was lost; nothing when everything could be read. */
	public boolean reportLost() {
		boolean any = false;
		for (Losses lost : watched.stream().map(Supplier::get).distinct().toList()) {
			if (!lost.isNone()) {
				err().println("memtrace: the answer is not complete: " + lost.text());
				any = true;
			}
		}
		return any;
	}

	public void cancel() {
		progress.cancel();
	}

	public void finish() {
		progress.clear();
		out.flush();
		err.flush();
	}

	/** Turns errors into exceptions that a PrintStream does not swallow. */
	private static final class StrictOutput extends OutputStream {
		private final OutputStream out;

		StrictOutput(OutputStream out) {
			this.out = out;
		}

		@Override
		public void write(int b) {
			write(new byte[] { (byte) b }, 0, 1);
		}

		@Override
		public void write(byte[] b, int off, int len) {
			try {
				out.write(b, off, len);
			} catch (IOException e) {
				throw new UncheckedIOException(new IOException("standard output cannot be written: " + e.getMessage(), e));
			}
		}
	}
}
