// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.ImageTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.scene.PngWriter;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.paint.ScenePainter;

/** A picture for another program: drawn in the background as a saved one is, on paper and not as on the screen. */
final class SnapshotClipboard {
	/** Sharp in a document. */
	private static final int SCALE = 2;

	private SnapshotClipboard() {
	}

	/** @param width of the layout, in pixels; {@code height} too */
	static void copy(Shell shell, Snapshot snapshot, int width, int height) {
		var paper = ScenePainter.paper();
		Job job = new Job("Copy picture") {
			@Override
			protected IStatus run(IProgressMonitor monitor) {
				try {
					ByteArrayOutputStream out = new ByteArrayOutputStream();
					PngWriter.write(snapshot.picture().scene(paper, width, height), SCALE, out);
					ImageData data = new ImageData(new ByteArrayInputStream(out.toByteArray()));
					OnDisplay.later(shell, () -> put(shell, data));
				} catch (IOException e) {
					ILog.of(SnapshotClipboard.class).error("The picture was not copied: " + e, e);
				}
				return Status.OK_STATUS;
			}

			@Override
			public boolean belongsTo(Object family) {
				return family == LatestResult.class;
			}
		};
		job.schedule();
	}

	private static void put(Shell shell, ImageData data) {
		if (!shell.isDisposed()) {
			Clipboard clipboard = new Clipboard(shell.getDisplay());
			try {
				clipboard.setContents(new Object[] { data }, new Transfer[] { ImageTransfer.getInstance() });
			} finally {
				clipboard.dispose();
			}
		}
	}
}
