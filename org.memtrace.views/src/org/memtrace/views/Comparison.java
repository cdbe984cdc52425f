// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.state.SelectionLink;

/** Two traces side by side. Display thread. */
public final class Comparison {
	private Comparison() {
	}

	/** Shows two traces of the catalogue. */
	public static void show(IWorkbenchPage page, TraceInfo first, TraceInfo second, SelectionLink.Time time) {
		Session session = page.getWorkbenchWindow().getService(Session.class);
		TraceGroup group = session.group();
		if (group.trace() == null || !group.trace().isListed(first)) {
			session.opener().open(group, first, () -> show(page, second, time));
		} else {
			show(page, second, time);
		}
	}

	/**
	 * Shows another trace in a group of its own, which is linked with the current one, and opens a picture for it beside the
	 * first.
	 *
	 * @param other {@link TraceInfo} of the catalogue or {@link OpenFile}
	 */
	public static void show(IWorkbenchPage page, Object other, SelectionLink.Time time) {
		Session session = page.getWorkbenchWindow().getService(Session.class);
		TraceGroup first = session.group();
		try {
			page.showView(ViewIds.OCELOTL);
		} catch (PartInitException e) {
			MessageDialog.openError(page.getWorkbenchWindow().getShell(), "Compare", e.getMessage());
			return;
		}
		TraceGroup second = session.newGroup();
		TraceView view = TraceView.open(page, ViewIds.OCELOTL, second);
		if (view == null) {
			return;
		}
		session.link(first, second, time);
		if (other instanceof TraceInfo listed) {
			session.opener().open(second, listed);
		} else {
			session.opener().openDatabase(second, ((OpenFile) other).path());
		}
	}
}
