// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.views.state.TraceSelection;
import org.memtrace.views.state.ViewState;
import org.memtrace.views.util.Icons;

/**
 * Base of every view that shows an open trace: tells it which trace, follows the selection for it, and gives it what all views
 * have. Display thread.
 */
public abstract class TraceView extends ViewPart {
	/** Group of the tool bar before which the actions of the view itself stand. */
	protected static final String COMMON_ACTIONS = "org.memtrace.views.common";

	private Session session;
	private Composite area;
	private OpenTrace trace;

	private final TraceSelection.Listener followSelection = new TraceSelection.Listener() {
		@Override
		public void stateChanged(ViewState old, ViewState now) {
			TraceView.this.stateChanged(old, now);
		}

		@Override
		public void markChanged(int producer) {
			TraceView.this.markChanged(producer);
		}
	};
	private final Session.Listener followSession = new Session.Listener() {
		@Override
		public void traceChanged(OpenTrace now) {
			follow(now);
		}

		@Override
		public void coloursChanged() {
			TraceView.this.coloursChanged();
		}
	};

	/** Makes the controls; {@link #session} is there, {@link #trace} is not yet. Called once. */
	protected abstract void createContents(Composite parent);

	/** Another trace is shown, or none (null); called once after {@link #createContents} and at each change. */
	protected abstract void traceShown(OpenTrace now);

	/** Window, producer, viewpoint, level of detail or filters of the trace that is shown are others. */
	protected void stateChanged(ViewState old, ViewState now) {
	}

	/** Another producer of the trace that is shown is marked; {@link TraceSelection#NO_MARK} none. */
	protected void markChanged(int producer) {
	}

	/** Colours are others: everything that has some must be drawn again. */
	protected void coloursChanged() {
	}

	/** What is shown, to be saved; null when there is nothing. */
	protected Snapshot snapshot() {
		return null;
	}

	/** Whether what is shown is that of the current state and nothing is being computed; tests wait for it. */
	protected boolean isSettled() {
		return true;
	}

	protected final Session session() {
		return session;
	}

	/** The trace that is shown, or null. */
	protected final OpenTrace trace() {
		return trace;
	}

	@Override
	public final void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
		area = parent;
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.add(new Separator(IWorkbenchActionConstants.MB_ADDITIONS));
		tools.add(new Separator(COMMON_ACTIONS));
		createContents(parent);
		Action save = new Action("Save…", Icons.get("save")) {
			@Override
			public void run() {
				Point size = area.getSize();
				SaveSnapshot.ask(getSite().getShell(), snapshot(), size.x, size.y);
			}
		};
		save.setToolTipText("Save what is shown as a picture or as numbers");
		tools.appendToGroup(COMMON_ACTIONS, save);
		session.addListener(followSession);
		follow(session.trace());
	}

	private void follow(OpenTrace now) {
		if (trace != null) {
			trace.selection().removeListener(followSelection);
		}
		trace = now;
		if (now != null) {
			now.selection().addListener(followSelection);
		}
		traceShown(now);
	}

	@Override
	public void dispose() {
		if (session != null) {
			session.removeListener(followSession);
			if (trace != null) {
				trace.selection().removeListener(followSelection);
				trace = null;
			}
		}
		super.dispose();
	}
}
