// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicReference;

import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;

/** The workbench opens in our perspective. */
class WorkbenchTest {
	@Test
	void opensInPerspective() {
		AtomicReference<String> id = new AtomicReference<>();
		PlatformUI.getWorkbench().getDisplay().syncExec(() -> id.set(PlatformUI.getWorkbench()
				.getActiveWorkbenchWindow().getActivePage().getPerspective().getId()));
		assertEquals("org.memtrace.rcp.perspective", id.get());
	}
}
