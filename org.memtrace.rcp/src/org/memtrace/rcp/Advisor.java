// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.nio.file.Path;

import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.swt.graphics.Point;
import org.eclipse.ui.IWorkbenchPreferenceConstants;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.application.ActionBarAdvisor;
import org.eclipse.ui.application.IActionBarConfigurer;
import org.eclipse.ui.application.IWorkbenchConfigurer;
import org.eclipse.ui.application.IWorkbenchWindowConfigurer;
import org.eclipse.ui.application.WorkbenchAdvisor;
import org.eclipse.ui.application.WorkbenchWindowAdvisor;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Session;
import org.memtrace.views.ViewIds;
import org.memtrace.views.traces.TraceDrop;

/** Sets up the one window of the workbench. */
final class Advisor extends WorkbenchAdvisor {
	private final StartArguments arguments;
	private final boolean keepState;

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

	@Override
	public WorkbenchWindowAdvisor createWorkbenchWindowAdvisor(IWorkbenchWindowConfigurer configurer) {
		return new Window(configurer);
	}

	@Override
	public void postStartup() {
		Session session = PlatformUI.getWorkbench().getService(Session.class);
		if (arguments.catalogue() != null) {
			session.useCatalogue(Path.of(arguments.catalogue()).toAbsolutePath());
		}
		for (String trace : arguments.traces()) {
			session.opener().open(trace);
		}
	}

	private static final class Window extends WorkbenchWindowAdvisor {
		Window(IWorkbenchWindowConfigurer configurer) {
			super(configurer);
		}

		@Override
		public void preWindowOpen() {
			IWorkbenchWindowConfigurer c = getWindowConfigurer();
			c.setInitialSize(new Point(1400, 900));
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
			TraceDrop.install(c.getWindow());
			session.addListener(new Session.Listener() {
				@Override
				public void traceChanged(OpenTrace trace) {
					c.setTitle(trace == null ? "memtrace" : trace.name() + " — memtrace");
				}
			});
		}

		@Override
		public ActionBarAdvisor createActionBarAdvisor(IActionBarConfigurer configurer) {
			return new Bars(configurer);
		}
	}
}
