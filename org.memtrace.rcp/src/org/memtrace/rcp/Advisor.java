// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Platform;
import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.osgi.service.datalocation.Location;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbench;
import org.eclipse.ui.IWorkbenchPreferenceConstants;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.application.ActionBarAdvisor;
import org.eclipse.ui.application.IActionBarConfigurer;
import org.eclipse.ui.application.IWorkbenchConfigurer;
import org.eclipse.ui.application.IWorkbenchWindowConfigurer;
import org.eclipse.ui.application.WorkbenchAdvisor;
import org.eclipse.ui.application.WorkbenchWindowAdvisor;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.storage.Stores;
import org.memtrace.views.jobs.KeptWork;
import org.memtrace.views.jobs.Waking;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.record.RecordDialog;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceOpener;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.start.OpenRequests;
import org.memtrace.views.start.SessionFile;
import org.memtrace.views.traces.TraceDrop;

/** Sets up the one window of the workbench. */
final class Advisor extends WorkbenchAdvisor {
	private final StartArguments arguments;
	private final boolean keepState;
	private OpenRequests requests;

	Advisor(StartArguments arguments, boolean keepState) {
		this.arguments = arguments;
		this.keepState = keepState;
	}

	@Override
	public String getInitialWindowPerspectiveId() {
		return ViewIds.PERSPECTIVE;
	}

	@Override
	public void initialize(IWorkbenchConfigurer configurer) {
		configurer.setSaveAndRestore(keepState);
		IPreferenceStore ui = PlatformUI.getPreferenceStore();
		ui.setDefault(IWorkbenchPreferenceConstants.SHOW_PROGRESS_ON_STARTUP, false);
	}

	/**
	 * Opens the window. The platform starts a thread that prepares it, sleeps until this thread wakes the display, and is woken once: on a
	 * busy machine that could be lost, and then no window appeared, for ever (releng/check-start.py).
	 */
	@Override
	public boolean openWindows() {
		try (Waking waking = new Waking(Display.getCurrent())) {
			return super.openWindows();
		}
	}

	@Override
	public WorkbenchWindowAdvisor createWorkbenchWindowAdvisor(IWorkbenchWindowConfigurer configurer) {
		return new Window(configurer);
	}

	/** Leaving ends what is recorded; for what is still imported or written the user is asked. */
	@Override
	public boolean preShutdown() {
		// work that is waited for may be followed by a recording, which is asked for again
		do {
			for (IWorkbenchWindow window : PlatformUI.getWorkbench().getWorkbenchWindows()) {
				if (!RecordDialog.mayClose(window)) {
					return false;
				}
			}
			if (!KeptWork.mayLeave(Display.getDefault().getActiveShell())) {
				return false;
			}
		} while (RecordDialog.isRecording());
		if (!super.preShutdown()) {
			return false;
		}
		Path state = state();
		if (state != null) {
			SessionFile.save(PlatformUI.getWorkbench().getService(Session.class), state.resolve(SessionFile.NAME));
		}
		return true;
	}

	@Override
	public void postStartup() {
		Session session = PlatformUI.getWorkbench().getService(Session.class);
		if (arguments.catalogue() != null) {
			session.useCatalogue(opener(arguments.catalogue()));
		}
		Path state = state();
		if (!arguments.traces().isEmpty()) {
			session.opener().open(arguments.traces(), arguments.state());
		} else if (state != null && Settings.restore()) {
			SessionFile.restore(session, state.resolve(SessionFile.NAME));
		}
		if (state != null) {
			requests = OpenRequests.listen(state, Display.getDefault(), this::open);
		}
	}

	/** The directory of the state; null when nothing is kept. */
	private Path state() {
		Location location = Platform.getInstanceLocation();
		if (!keepState || location == null || !location.isSet()) {
			return null;
		}
		try {
			return Path.of(location.getURL().toURI());
		} catch (URISyntaxException | IllegalArgumentException e) {
			ILog.of(Advisor.class).info("What is shown is not kept, and further 'memtrace open' start workbenches of their own: " + e.getMessage());
			return null;
		}
	}

	@Override
	public void postShutdown() {
		if (requests != null) {
			requests.close();
		}
		super.postShutdown();
	}

	/** What another {@code memtrace open} asks for; {@code ok}, or why it must have its own workbench. Display thread. */
	private String open(OpenRequests.Request request) {
		IWorkbench workbench = PlatformUI.getWorkbench();
		IWorkbenchWindow window = workbench.getActiveWorkbenchWindow() != null ? workbench.getActiveWorkbenchWindow()
				: workbench.getWorkbenchWindowCount() == 0 ? null : workbench.getWorkbenchWindows()[0];
		if (workbench.isClosing() || window == null) {
			return "the workbench is being closed";
		}
		if (!request.display().equals(displays())) {
			return "the workbench is on another display";
		}
		if (!real(request.catalogue()).equals(real(catalogue(arguments)))) {
			return "the workbench has another catalogue";
		}
		Shell shell = window.getShell();
		shell.setMinimized(false);
		shell.forceActive();
		StartArguments asked = StartArguments.parse(request.arguments());
		TraceOpener opener = window.getService(Session.class).opener();
		if (!asked.traces().isEmpty()) {
			opener.open(asked.traces(), asked.state());
		} else if (!asked.state().isEmpty()) {
			opener.apply(asked.state());
		}
		return OpenRequests.OK;
	}

	/** Where windows of this process are: DISPLAY and WAYLAND_DISPLAY. */
	static List<String> displays() {
		return List.of(environment("DISPLAY"), environment("WAYLAND_DISPLAY"));
	}

	/** The place of the catalogue that the arguments or the environment name; empty: the usual one. */
	static String catalogue(StartArguments arguments) {
		if (arguments.catalogue() != null) {
			return CataloguePlace.isServer(arguments.catalogue()) ? arguments.catalogue()
					: real(Path.of(arguments.catalogue()).toAbsolutePath().toString());
		}
		return environment(Stores.CATALOGUE).isEmpty() ? environment("MEMTRACE_HOME") : environment(Stores.CATALOGUE);
	}

	/** Opened when it is first needed, so that what is wrong with it is said where its traces are listed. */
	private static Session.CatalogueOpener opener(String place) {
		return () -> Session.open(CataloguePlace.isServer(place) ? CataloguePlace.parse(place)
				: CataloguePlace.of(Path.of(place).toAbsolutePath()));
	}

	private static String environment(String name) {
		String value = System.getenv(name);
		return value == null ? "" : value;
	}

	/** The same text for all names of a directory; empty, and the address of a server, stay as they are. */
	private static String real(String directory) {
		try {
			return directory.isEmpty() || CataloguePlace.isServer(directory) ? directory : Path.of(directory).toRealPath().toString();
		} catch (IOException | InvalidPathException e) {
			return directory;
		}
	}

	private static final class Window extends WorkbenchWindowAdvisor {
		/** On a narrower screen the window has all of it at first. */
		private static final int LARGE_SCREEN = 2200;
		private Session.Listener follow;

		Window(IWorkbenchWindowConfigurer configurer) {
			super(configurer);
		}

		@Override
		public void preWindowOpen() {
			IWorkbenchWindowConfigurer c = getWindowConfigurer();
			Rectangle screen = Display.getDefault().getPrimaryMonitor().getClientArea();
			c.setInitialSize(screen.width < LARGE_SCREEN ? new Point(screen.width, screen.height)
					: new Point(screen.width * 9 / 10, screen.height * 9 / 10));
			c.setTitle("memtrace");
			c.setShowMenuBar(true);
			c.setShowCoolBar(false);
			c.setShowPerspectiveBar(false);
			c.setShowStatusLine(true);
			c.setShowProgressIndicator(false);
		}

		@Override
		public void postWindowOpen() {
			IWorkbenchWindowConfigurer c = getWindowConfigurer();
			Session session = c.getWindow().getService(Session.class);
			fit(c.getWindow().getShell());
			TraceDrop.install(c.getWindow());
			follow = new Session.Listener() {
				@Override
				public void activeChanged(OpenTrace trace) {
					c.setTitle(trace == null ? "memtrace" : trace.name() + " — memtrace");
				}

				@Override
				public void traceRenamed(OpenTrace trace) {
					activeChanged(session.active());
				}
			};
			session.addListener(follow);
			follow.activeChanged(session.active());
		}

		/** The last window is closed by leaving, where the same is asked for all. */
		@Override
		public boolean preWindowShellClose() {
			return PlatformUI.getWorkbench().getWorkbenchWindowCount() == 1 || RecordDialog.mayClose(getWindowConfigurer().getWindow());
		}

		@Override
		public void postWindowClose() {
			getWindowConfigurer().getWindow().getService(Session.class).removeListener(follow);
		}

		/** A window that is larger than the screen (the first time, or kept from a larger screen) is made as large as it. */
		private static void fit(Shell shell) {
			Rectangle screen = shell.getMonitor().getClientArea();
			Rectangle wanted = shell.getBounds();
			Rectangle fitting = new Rectangle(wanted.x, wanted.y, Math.min(wanted.width, screen.width),
					Math.min(wanted.height, screen.height));
			fitting.x = Math.max(screen.x, Math.min(fitting.x, screen.x + screen.width - fitting.width));
			fitting.y = Math.max(screen.y, Math.min(fitting.y, screen.y + screen.height - fitting.height));
			if (!shell.getMaximized() && !fitting.equals(wanted)) {
				shell.setBounds(fitting);
			}
		}

		@Override
		public ActionBarAdvisor createActionBarAdvisor(IActionBarConfigurer configurer) {
			return new Bars(configurer);
		}
	}
}
