// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.IFolderLayout;
import org.eclipse.ui.IPageLayout;
import org.eclipse.ui.IPerspectiveFactory;
import org.eclipse.ui.IPlaceholderFolderLayout;
import org.memtrace.views.session.ViewIds;

/** Traces and their details at the left, the picture in the centre, what is wrong below it, in front of the other views. */
public final class Perspective implements IPerspectiveFactory {
	/** Any further view of a kind. */
	private static final String ANY = ":*";
	private static final String PICTURES = "org.memtrace.views.pictures";
	private static final String RIGHT = "org.memtrace.views.right";
	private static final String BELOW = "org.memtrace.views.below";

	/** The list of traces and their details can be read. */
	private static final float TRACES_WIDTH = 270;
	private static final int LOW_SCREEN = 850;

	/** Of the height: so much that a table below shows 15 rows where the screen has 1080 pixels; on a low one the picture can be read. */
	private static float pictureShare(int screenHeight) {
		return screenHeight < LOW_SCREEN ? 0.6f : 0.55f;
	}

	@Override
	public void createInitialLayout(IPageLayout layout) {
		layout.setEditorAreaVisible(false);
		String editors = layout.getEditorArea();
		IFolderLayout pictures = layout.createFolder(PICTURES, IPageLayout.LEFT, 0.5f, editors);
		pictures.addView(ViewIds.OCELOTL);
		// a picture, too, which needs as much room
		pictures.addPlaceholder(ViewIds.DIFFERENCE);
		pictures.addPlaceholder(ViewIds.DIFFERENCE + ANY);
		// what is left over on a wide screen is for the picture
		Rectangle screen = Display.getCurrent().getPrimaryMonitor().getClientArea();
		float traces = Math.min(0.21f, TRACES_WIDTH / screen.width);
		layout.addView(ViewIds.TRACES, IPageLayout.LEFT, traces, ViewIds.OCELOTL);
		layout.addView(ViewIds.DETAILS, IPageLayout.BOTTOM, 0.45f, ViewIds.TRACES);
		IFolderLayout below = layout.createFolder(BELOW, IPageLayout.BOTTOM, pictureShare(screen.height), ViewIds.OCELOTL);
		for (String id : new String[] { ViewIds.FINDINGS, ViewIds.STRUCTURES, ViewIds.GANTT, ViewIds.EVENTS, ViewIds.STATISTICS,
				ViewIds.DENSITY, ViewIds.MACHINE }) {
			below.addView(id);
			below.addPlaceholder(id + ANY);
		}
		// of some traces, or for some people only
		for (String id : new String[] { ViewIds.PROFILE, ViewIds.BINDING, ViewIds.SOURCE, ViewIds.SQL }) {
			below.addPlaceholder(id);
			below.addPlaceholder(id + ANY);
		}
		for (String id : new String[] { ViewIds.TRACES, ViewIds.DETAILS, ViewIds.OCELOTL, ViewIds.FINDINGS, ViewIds.DIFFERENCE,
				ViewIds.STRUCTURES, ViewIds.GANTT, ViewIds.EVENTS, ViewIds.STATISTICS, ViewIds.PROFILE, ViewIds.DENSITY, ViewIds.MACHINE,
				ViewIds.BINDING, ViewIds.SOURCE, ViewIds.SQL, ViewIds.TUTORIAL, ViewIds.HELP }) {
			layout.addShowViewShortcut(id);
		}
		// beside what they are about: all pictures
		IPlaceholderFolderLayout right = layout.createPlaceholderFolder(RIGHT, IPageLayout.RIGHT, 0.66f, ViewIds.OCELOTL);
		right.addPlaceholder(ViewIds.TUTORIAL);
		right.addPlaceholder(ViewIds.HELP);
		// further pictures come beside the first, further views of other kinds into the folder of theirs
		layout.addPlaceholder(ViewIds.OCELOTL + ANY, IPageLayout.RIGHT, 0.5f, ViewIds.OCELOTL);
		for (String id : new String[] { ViewIds.OCELOTL, ViewIds.TRACES }) {
			layout.getViewLayout(id).setCloseable(false);
		}
	}
}
