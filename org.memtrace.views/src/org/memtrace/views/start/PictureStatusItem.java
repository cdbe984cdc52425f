// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import org.eclipse.jface.action.ContributionItem;
import org.eclipse.jface.action.StatusLineLayoutData;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.CLabel;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.PictureStatus;
import org.memtrace.views.session.Session;

/** The end of the status line: level of detail, what it costs, and a warning when the recorder lost accesses. */
public final class PictureStatusItem extends ContributionItem {
	private static final String WIDEST = "p = 0.0000   12,345 blocks   information loss 100.0 %   reduction > 99.9 %";

	private final Session session;
	private CLabel picture;
	private CLabel losses;
	private final Session.Listener follow = new Session.Listener() {
		@Override
		public void pictureChanged(PictureStatus status) {
			update();
		}

		@Override
		public void traceChanged(OpenTrace trace) {
			update();
		}
	};

	public PictureStatusItem(Session session) {
		super("org.memtrace.views.pictureStatus");
		this.session = session;
	}

	@Override
	public void fill(Composite parent) {
		losses = label(parent, "recorder lost 12,345,678 page faults");
		picture = label(parent, WIDEST);
		picture.setToolTipText("Level of detail p, and what the picture leaves out compared with the finest one");
		session.addListener(follow);
		picture.addDisposeListener(e -> session.removeListener(follow));
		update();
	}

	private static CLabel label(Composite parent, String widest) {
		CLabel label = new CLabel(parent, SWT.NONE);
		label.setAlignment(SWT.RIGHT);
		GC gc = new GC(label);
		StatusLineLayoutData data = new StatusLineLayoutData();
		data.widthHint = gc.textExtent(widest).x + 12;
		gc.dispose();
		label.setLayoutData(data);
		return label;
	}

	/** The font may be another than it was when the label was made. */
	private static void widen(CLabel label) {
		StatusLineLayoutData data = (StatusLineLayoutData) label.getLayoutData();
		int needed = label.getText().isEmpty() ? 0 : label.computeSize(SWT.DEFAULT, SWT.DEFAULT).x;
		if (needed > data.widthHint) {
			data.widthHint = needed;
			label.getParent().layout();
		}
	}

	@Override
	public void update() {
		if (picture == null || picture.isDisposed()) {
			return;
		}
		PictureStatus s = session.status();
		picture.setText(!s.shown() ? ""
				: "p = " + Units.p(s.p()) + "   " + Units.plural(s.blocks(), "block") + "   information loss "
						+ Units.percent(s.lossPercent()) + "   reduction " + Units.percent(s.reductionPercent()));
		widen(picture);
		String lost = session.trace() == null ? "" : session.trace().lossWarning();
		losses.setText(lost);
		widen(losses);
		losses.setForeground(ScenePainter.warning(losses));
		losses.setToolTipText(lost.isEmpty() ? null : "Page sets and counts may be incomplete there.");
	}
}
