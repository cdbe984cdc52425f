// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.dnd.DND;
import org.eclipse.swt.dnd.DropTarget;
import org.eclipse.swt.dnd.DropTargetAdapter;
import org.eclipse.swt.dnd.DropTargetEvent;
import org.eclipse.swt.dnd.FileTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.analysis.selection.SharedView;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.storage.Stores;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceFiles;

/** Whatever can be imported or opened may be dropped anywhere on the window. */
public final class TraceDrop {
	private TraceDrop() {
	}

	public static void install(IWorkbenchWindow window) {
		Shell shell = window.getShell();
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
					OnDisplay.later(shell, () -> dropped(window, files));
				}
			}
		});
	}

	/**
	 * What a drop does: trace directories are imported, databases and Parquet folders opened, and the last is shown, or what a file with a
	 * link says; with other files the import wizard is opened. Display thread.
	 */
	static void dropped(IWorkbenchWindow window, String... files) {
		List<String> known = new ArrayList<>();
		List<String> links = new ArrayList<>();
		List<Path> others = new ArrayList<>();
		for (String file : files) {
			Path path = Path.of(file);
			if (file.endsWith(SharedView.ENDING)) {
				links.add(file);
			} else if (Files.isDirectory(path) ? TraceFiles.isFolder(path) || TraceFolders.isTraceDirectory(path) : Stores.isDatabase(path)) {
				known.add(file);
			} else {
				others.add(path);
			}
		}
		known.addAll(links.subList(Math.max(0, links.size() - 1), links.size())); // one view can be shown
		if (!known.isEmpty()) {
			window.getService(Session.class).opener().open(known.toArray(String[]::new));
		}
		if (!others.isEmpty()) {
			TraceActions.openImportWizard(window, others);
		}
	}
}
