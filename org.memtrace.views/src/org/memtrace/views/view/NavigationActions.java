// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.util.function.Consumer;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IContributionManager;
import org.eclipse.jface.resource.ImageDescriptor;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Icons;

/** Back, forward, whole trace, parent for the tool bar of a view: enabled as its trace allows. Display thread. */
public final class NavigationActions {
	private final Action back;
	private final Action forward;
	private final Action up;
	private final Action whole;
	private OpenTrace trace;

	private final TraceSelection.Listener followSelection = new TraceSelection.Listener() {
		@Override
		public void stateChanged(ViewState old, ViewState now) {
			enable();
		}
	};
	public NavigationActions() {
		back = action("Back", "back", "Back to the picture before (Backspace, Alt+Left)", TraceSelection::back);
		forward = action("Forward", "forward", "Forward again (Alt+Right)", TraceSelection::forward);
		up = action("Parent", "up", "Show the parent of the shown producer (U, Alt+Up)", TraceSelection::up);
		whole = action("Whole trace", "reset", "Show the whole trace: all time, all producers (W, Alt+Home)",
				TraceSelection::reset);
		follow(null);
	}

	private Action action(String text, String icon, String tip, Consumer<TraceSelection> what) {
		ImageDescriptor image = Icons.get(icon);
		Action a = new Action(text, image) {
			@Override
			public void run() {
				if (trace != null) {
					what.accept(trace.selection());
				}
			}
		};
		a.setToolTipText(tip);
		return a;
	}

	/** Adds the actions to a menu or tool bar. */
	public void fill(IContributionManager manager) {
		manager.add(back);
		manager.add(forward);
		manager.add(up);
		manager.add(whole);
	}

	/** From now on the actions are about this trace; null none. */
	public void follow(OpenTrace now) {
		if (trace != null) {
			trace.selection().removeListener(followSelection);
		}
		trace = now;
		if (trace != null) {
			trace.selection().addListener(followSelection);
		}
		enable();
	}

	private void enable() {
		TraceSelection s = trace == null ? null : trace.selection();
		back.setEnabled(s != null && s.canGoBack());
		forward.setEnabled(s != null && s.canGoForward());
		up.setEnabled(s != null && s.state().producer() != s.initial().producer());
		whole.setEnabled(s != null && !(s.state().producer() == s.initial().producer()
				&& s.state().fromNs() == s.initial().fromNs() && s.state().toNs() == s.initial().toNs()));
	}

	public void dispose() {
		if (trace != null) {
			trace.selection().removeListener(followSelection);
			trace = null;
		}
	}
}
