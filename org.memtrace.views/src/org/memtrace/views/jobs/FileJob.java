// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Consumer;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.export.OutputFile;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Writes a file that the user asked for, in the background, complete or not at all; whoever leaves the workbench meanwhile is asked
 * ({@link KeptWork}).
 */
public final class FileJob {
	/** Writes the content to a temporary file, which becomes the one that was asked for. On a job thread. */
	@FunctionalInterface
	public interface Work {
		void write(Path temporary, Progress progress) throws Exception;
	}

	private FileJob() {
	}

	/**
	 * Begins. Display thread.
	 *
	 * @param name what it is, for a person, such as "Report of app"
	 * @param done gets on the display thread null, or a sentence that says why there is no file; not called when it was cancelled
	 */
	public static Job start(String name, Path file, Work work, Consumer<String> done) {
		Display display = Display.getCurrent();
		Job job = new Job(name) {
			@Override
			protected IStatus run(IProgressMonitor monitor) {
				String error = null;
				try {
					KeptWork.run(name, () -> {
						Progress progress = new MonitorProgress(monitor);
						OutputFile.write(file, temporary -> {
							work.write(temporary, progress);
							progress.check();
						}, StandardCopyOption.REPLACE_EXISTING);
						return null;
					});
				} catch (CancelledException e) {
					return Status.CANCEL_STATUS;
				} catch (MemtraceException e) {
					error = e.getMessage();
				} catch (AccessDeniedException e) {
					error = file + " cannot be written: permission denied";
				} catch (IOException e) {
					error = file + " cannot be written: " + e.getMessage();
				} catch (Exception e) {
					error = name + " failed: " + e;
					ILog.of(FileJob.class).error(error, e);
				} catch (OutOfMemoryError e) {
					error = name + ": not enough memory (raise -Xmx in MEMTRACE_VMARGS)";
				}
				String text = error;
				OnDisplay.later(display, () -> done.accept(text));
				return Status.OK_STATUS;
			}
		};
		job.setUser(true);
		job.schedule();
		return job;
	}
}
