// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

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
import org.memtrace.views.preferences.Settings;

/**
 * The workbench as an application of its own. Arguments: {@code [-catalogue DIR] [TRACE]}, where {@code TRACE} is a trace
 * directory (imported first if needed), a trace database, or the name or number of a trace of the catalogue.
 */
public final class Application implements IApplication {
	/** Window size and layout are kept here, by as many workbenches at the same time. */
	private static final int MAX_WORKBENCHES = 9;
	/** As in plugin.xml. */
	private static final String THEME = "org.memtrace.rcp.theme";
	private static final String DARK_THEME = THEME + ".dark";

	@Override
	public Object start(IApplicationContext context) {
		String[] arguments = (String[]) context.getArguments().get(IApplicationContext.APPLICATION_ARGS);
		Display.setAppName("memtrace");
		Display display = PlatformUI.createDisplay();
		boolean keep = lockState();
		styleSheet(Settings.startTheme(display));
		ExtensionBundles.install(Stores.defaultCatalogueDirectory(), System.getenv(ExtensionFiles.VARIABLE));
		try {
			int rc = PlatformUI.createAndRunWorkbench(display, new Advisor(StartArguments.parse(arguments), keep));
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
	 * Takes a directory for the state of the workbench: that of {@code -data}, else the first free one below the state
	 * home of the user.
	 *
	 * @return whether the state may be kept, false when other workbenches use it
	 */
	private static boolean lockState() {
		Location location = Platform.getInstanceLocation();
		if (location == null) {
			return false;
		}
		try {
			if (location.isSet()) {
				return location.isLocked() ? false : location.lock();
			}
			String state = System.getenv("XDG_STATE_HOME");
			Path home = state != null && !state.isBlank() ? Path.of(state)
					: Path.of(System.getProperty("user.home"), ".local", "state");
			for (int i = 1; i <= MAX_WORKBENCHES; i++) {
				Path dir = home.resolve("memtrace").resolve(i == 1 ? "workbench" : "workbench-" + i);
				Files.createDirectories(dir);
				if (location.set(dir.toUri().toURL(), true)) {
					return true;
				}
			}
			location.set(Files.createTempDirectory("memtrace-workbench").toUri().toURL(), false);
		} catch (IOException | IllegalStateException e) {
			ILog.of(Application.class).warn("The layout of the workbench cannot be kept: " + e.getMessage(), e);
		}
		return false;
	}

	@Override
	public void stop() {
		if (PlatformUI.isWorkbenchRunning()) {
			IWorkbench workbench = PlatformUI.getWorkbench();
			workbench.getDisplay().syncExec(workbench::close);
		}
	}
}
