// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Sash;
import org.memtrace.views.jobs.OnDisplay;

/**
 * How overview, level of detail and types share the room beside the picture: what could not be read when it is too small keeps its size,
 * what can be scrolled or left out gives way.
 */
final class SideRoom {
	private static final String DIVIDED = "divided";
	/** Types with their shares and the buttons of the level fit in. */
	private static final int SIDE_WIDTH = 246;
	/** The sizes with the figures below each other. So the picture is the larger part of a narrow view. */
	private static final int NARROW_SIDE_WIDTH = 226;
	private static final int NARROW_WIDTH = 560;
	/** Overview and all types fit in beside the level; in lower views both are lower, and the types scroll. */
	private static final int SIDE_HEIGHT = 490;

	private final SashForm sash;
	private final OverviewCanvas overview;
	private final LevelPanel level;
	private final TypesTable types;
	/** Share of the side in the width, as the user drew it. */
	private double sideShare = 0.2;
	private boolean overviewShown = true;

	/** @param sash between the picture and the side, which has the other three */
	SideRoom(SashForm sash, OverviewCanvas overview, LevelPanel level, TypesTable types) {
		this.sash = sash;
		this.overview = overview;
		this.level = level;
		this.types = types;
	}

	boolean isOverviewShown() {
		return overviewShown;
	}

	/** Where the view is narrow, as one of two beside each other, the level of detail keeps the width in which it can be read. */
	void divide() {
		int width = sash.getClientArea().width;
		if (width <= 0) {
			return;
		}
		for (Control c : sash.getChildren()) {
			if (c instanceof Sash border && border.getData(DIVIDED) == null) {
				border.setData(DIVIDED, Boolean.TRUE);
				border.addListener(SWT.Selection, e -> OnDisplay.later(sash, () -> {
					int[] w = sash.getWeights();
					sideShare = w[1] / (double) (w[0] + w[1]);
				}));
			}
		}
		int wanted = Math.min(Math.max((int) (width * sideShare), width < NARROW_WIDTH ? NARROW_SIDE_WIDTH : SIDE_WIDTH),
				width * 47 / 100);
		sash.setWeights(width - wanted, wanted);
		boolean low = sash.getClientArea().height < SIDE_HEIGHT;
		((GridData) overview.getLayoutData()).heightHint = low ? 40 : 70;
		level.low(low);
		types.low(low);
		overviewTitle(overviewShown && !low);
		// the types scroll, so they give way first; nobody would look for figures that are cut off
		exclude(types, false);
		types.height(Integer.MAX_VALUE);
		Composite side = overview.getParent();
		int others = side.computeSize(wanted, SWT.DEFAULT).y - level.computeSize(wanted, SWT.DEFAULT).y - types.height();
		int room = sash.getClientArea().height - others - level.leastHeight(wanted);
		types.height(room);
		exclude(types, room < TypesTable.LEAST_HEIGHT); // the legend has them, too
		side.layout(true, true);
	}

	void showOverview(boolean on) {
		overviewShown = on;
		exclude(overview, !on);
		overviewTitle(on && level.getParent().getClientArea().height >= SIDE_HEIGHT);
		overview.getParent().layout();
	}

	/** Where there is little room, the small picture says itself what it is. */
	private void overviewTitle(boolean on) {
		exclude(overview.getParent().getChildren()[0], !on);
	}

	private static void exclude(Control c, boolean out) {
		c.setVisible(!out);
		((GridData) c.getLayoutData()).exclude = out;
	}
}
