// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import org.eclipse.ui.IPageLayout;
import org.eclipse.ui.IPerspectiveFactory;

/** The perspective in which the workbench opens. */
public class MemtracePerspective implements IPerspectiveFactory {
	public static final String ID = "org.memtrace.rcp.perspective";

	@Override
	public void createInitialLayout(IPageLayout layout) {
		layout.setEditorAreaVisible(false);
	}
}
