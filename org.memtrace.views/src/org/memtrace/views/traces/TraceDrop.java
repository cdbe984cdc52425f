// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import org.eclipse.swt.dnd.DND;
import org.eclipse.swt.dnd.DropTarget;
import org.eclipse.swt.dnd.DropTargetAdapter;
import org.eclipse.swt.dnd.DropTargetEvent;
import org.eclipse.swt.dnd.FileTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.views.Session;

/** Trace directories and databases dropped anywhere on the window are imported and opened. */
public final class TraceDrop {
	private TraceDrop() {
	}

	public static void install(IWorkbenchWindow window) {
		Shell shell = window.getShell();
		Session session = window.getService(Session.class);
		DropTarget target = new DropTarget(shell, DND.DROP_COPY | DND.DROP_LINK | DND.DROP_DEFAULT);
		target.setTransfer(new Transfer[] { FileTransfer.getInstance() });
		target.addDropListener(new DropTargetAdapter() {
			@Override
			public void dragEnter(DropTargetEvent e) {
				e.detail = (e.operations & DND.DROP_COPY) != 0 ? DND.DROP_COPY : DND.DROP_LINK;
			}

			@Override
			public void drop(DropTargetEvent e) {
				if (e.data instanceof String[] files) {
					// the source of the drag waits until this returns: do not open dialogs here
					shell.getDisplay().asyncExec(() -> dropped(session, files));
				}
			}
		});
	}

	/** What a drop does: all directories are imported, the last file is shown. Display thread. */
	static void dropped(Session session, String... files) {
		session.opener().open(files);
	}
}
