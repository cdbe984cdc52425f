// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import org.eclipse.equinox.app.IApplication;
import org.eclipse.equinox.app.IApplicationContext;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.IWorkbench;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.application.WorkbenchAdvisor;

/** The workbench as an application of its own. */
public class Application implements IApplication {
	@Override
	public Object start(IApplicationContext context) {
		Display display = PlatformUI.createDisplay();
		try {
			int rc = PlatformUI.createAndRunWorkbench(display, new WorkbenchAdvisor() {
				@Override
				public String getInitialWindowPerspectiveId() {
					return MemtracePerspective.ID;
				}
			});
			return rc == PlatformUI.RETURN_RESTART ? EXIT_RESTART : EXIT_OK;
		} finally {
			display.dispose();
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
