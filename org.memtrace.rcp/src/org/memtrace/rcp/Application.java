// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Platform;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.eclipse.equinox.app.IApplication;
import org.eclipse.equinox.app.IApplicationContext;
import org.eclipse.osgi.service.datalocation.Location;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.IWorkbench;
import org.eclipse.ui.PlatformUI;
import org.memtrace.model.ExtensionFiles;
import org.memtrace.storage.Stores;
import org.memtrace.views.extensions.ExtensionBundles;
import org.memtrace.views.jobs.ConsoleLog;
import org.memtrace.views.jobs.IdleMemory;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.start.OpenRequests;

/**
 * The workbench as an application of its own. Arguments: {@link StartArguments}, where a trace is a directory (imported first if
 * needed), a database, a link to a view or its file, or the name or number of a trace of the catalogue. If a workbench runs already, that
 * one is asked to show it, and this one ends.
 */
public final class Application implements IApplication {
	/** Window size and layout are kept here, by as many workbenches at the same time. */
	private static final int MAX_WORKBENCHES = 9;
	/** So long a workbench that has taken its directory may need until it listens: a slow machine. */
	private static final long STARTS_WITHIN_MS = 30_000;

	/** What became of the question where the state is kept. */
	private enum State {
		/** Another workbench does what was asked. */
		HANDED_OVER,
		/** The directory is ours. */
		OURS,
		/** Nothing is kept: other workbenches have all directories. */
		NOT_KEPT
	}
	/** As in plugin.xml. */
	private static final String THEME = "org.memtrace.rcp.theme";
	private static final String DARK_THEME = THEME + ".dark";

	@Override
	public Object start(IApplicationContext context) {
		StartArguments arguments = StartArguments.parse(List.of((String[]) context.getArguments().get(IApplicationContext.APPLICATION_ARGS)));
		State state = lockState(arguments);
		Platform.addLogListener(new ConsoleLog(System.err, Platform.getLogFileLocation().toPath()));
		if (state == State.HANDED_OVER) {
			System.out.println("memtrace: the workbench that runs shows it; -new starts another one");
			return EXIT_OK;
		}
		Display.setAppName("memtrace");
		Display display = PlatformUI.createDisplay();
		styleSheet(Settings.startTheme(display));
		IdleMemory.install(display);
		ExtensionBundles.install(Stores.defaultCatalogueDirectory(), System.getenv(ExtensionFiles.VARIABLE));
		try {
			int rc = PlatformUI.createAndRunWorkbench(display, new Advisor(arguments, state == State.OURS));
			return rc == PlatformUI.RETURN_RESTART ? EXIT_RESTART : EXIT_OK;
		} finally {
			display.dispose();
			Location location = Platform.getInstanceLocation();
			if (location != null) {
				location.release();
			}
		}
	}

	/** The platform makes everything light when the name of its theme, which it takes from a preference, does not say "dark". */
	private static void styleSheet(boolean dark) {
		InstanceScope.INSTANCE.getNode("org.eclipse.e4.ui.css.swt.theme").put("themeid", dark ? DARK_THEME : THEME);
	}

	/**
	 * Takes a directory for the state of the workbench: that of {@code -data}, else the first free one below the state home of the user.
	 * Workbenches that run are asked first to do what the arguments say; why one will not is said.
	 */
	private static State lockState(StartArguments arguments) {
		Location location = Platform.getInstanceLocation();
		if (location == null) {
			return State.NOT_KEPT;
		}
		try {
			if (location.isSet()) {
				return location.isLocked() ? askLocked(Path.of(location.getURL().toURI()), arguments) : location.lock() ? State.OURS : State.NOT_KEPT;
			}
			List<Path> directories = directories();
			List<String> refusals = new ArrayList<>();
			for (Path dir : directories) {
				if (handOver(dir, arguments, 0, refusals)) {
					return State.HANDED_OVER;
				}
			}
			for (Path dir : directories) {
				Files.createDirectories(dir);
				if (location.set(dir.toUri().toURL(), true)) {
					say(refusals);
					return State.OURS;
				}
				// of one that has refused, or that is only starting
				if (refusals.isEmpty() && handOver(dir, arguments, STARTS_WITHIN_MS, refusals)) {
					return State.HANDED_OVER;
				}
			}
			say(refusals);
			location.set(Files.createTempDirectory("memtrace-workbench").toUri().toURL(), false);
		} catch (IOException | IllegalStateException | URISyntaxException e) {
			ILog.of(Application.class).warn("The layout of the workbench cannot be kept: " + e.getMessage(), e);
		}
		return State.NOT_KEPT;
	}

	/** Directories of the states of workbenches, that of the first one first. */
	private static List<Path> directories() {
		String state = System.getenv("XDG_STATE_HOME");
		Path home = state != null && !state.isBlank() ? Path.of(state) : Path.of(System.getProperty("user.home"), ".local", "state");
		return IntStream.rangeClosed(1, MAX_WORKBENCHES).mapToObj(i -> home.resolve("memtrace").resolve(i == 1 ? "workbench"
				: "workbench-" + i)).toList();
	}

	private static State askLocked(Path dir, StartArguments arguments) {
		List<String> refusals = new ArrayList<>();
		if (handOver(dir, arguments, STARTS_WITHIN_MS, refusals)) {
			return State.HANDED_OVER;
		}
		say(refusals);
		return State.NOT_KEPT;
	}

	/** Whether the workbench whose state is in a directory does what was asked; if it will not, the list gets why. */
	private static boolean handOver(Path dir, StartArguments arguments, long startsWithinMs, List<String> refusals) {
		if (arguments.isNew()) {
			return false;
		}
		String said = OpenRequests.handOver(dir, new OpenRequests.Request(Advisor.displays(), Advisor.catalogue(arguments),
				arguments.toArguments()), startsWithinMs);
		if (said != null && !said.equals(OpenRequests.OK)) {
			refusals.add(said);
		}
		return OpenRequests.OK.equals(said);
	}

	private static void say(List<String> refusals) {
		if (!refusals.isEmpty()) {
			System.out.println("memtrace: a new workbench starts, because " + refusals.get(0));
		}
	}

	@Override
	public void stop() {
		if (PlatformUI.isWorkbenchRunning()) {
			IWorkbench workbench = PlatformUI.getWorkbench();
			workbench.getDisplay().syncExec(workbench::close);
		}
	}
}
