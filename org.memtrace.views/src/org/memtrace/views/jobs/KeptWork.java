// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.dialogs.ProgressMonitorDialog;
import org.eclipse.swt.widgets.Shell;

/**
 * Work in the background whose result is kept: imports, exports, changes of traces. Whoever leaves the workbench is asked while
 * there is some. All methods but {@link #mayLeave} may be called from any thread.
 */
public final class KeptWork {
	/** Labels of the buttons of the question. */
	public static final String WAIT = "Finish, then quit";
	public static final String QUIT = "Quit now";
	public static final String STAY = "Do not quit";
	private static final long POLL_MS = 50;

	private static final List<KeptWork> RUNNING = new ArrayList<>();

	private final String name;

	private KeptWork(String name) {
		this.name = name;
	}

	/** Work that gives something. */
	@FunctionalInterface
	public interface Work<T, E extends Exception> {
		T run() throws E;
	}

	/**
	 * Does work; until it ends it is known here.
	 *
	 * @param name what it is, for a person, such as "Import of app.memtrace"
	 */
	public static <T, E extends Exception> T run(String name, Work<T, E> work) throws E {
		KeptWork self = new KeptWork(name);
		synchronized (RUNNING) {
			RUNNING.add(self);
		}
		try {
			return work.run();
		} finally {
			synchronized (RUNNING) {
				RUNNING.remove(self);
			}
		}
	}

	/** Names of the work that is running. */
	public static List<String> running() {
		synchronized (RUNNING) {
			return RUNNING.stream().map(w -> w.name).toList();
		}
	}

	/**
	 * Asks what is to become of running work, and waits for it if that is wanted. On the display thread.
	 *
	 * @return false when the workbench is to stay
	 */
	public static boolean mayLeave(Shell parent) {
		List<String> names = running();
		if (names.isEmpty()) {
			return true;
		}
		String text = String.join("\n", names) + "\n\nIf you quit now, this work is lost.";
		int answer = MessageDialog.open(MessageDialog.QUESTION, parent, names.size() == 1 ? "Work is not finished" : "Work is not finished: "
				+ names.size(), text, 0, WAIT, QUIT, STAY);
		return switch (answer) {
		case 0 -> waited(parent);
		case 1 -> true;
		default -> false;
		};
	}

	/** Waits with a dialog that can be cancelled; the display goes on. */
	private static boolean waited(Shell parent) {
		try {
			new ProgressMonitorDialog(parent).run(true, true, monitor -> {
				monitor.beginTask("Waiting for work in the background", -1);
				for (List<String> names = running(); !names.isEmpty(); names = running()) {
					if (monitor.isCanceled()) {
						throw new InterruptedException();
					}
					monitor.subTask(names.get(0));
					Thread.sleep(POLL_MS);
				}
			});
			return true;
		} catch (InterruptedException e) {
			return false;
		} catch (InvocationTargetException e) {
			throw new IllegalStateException(e);
		}
	}
}
