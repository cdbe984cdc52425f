// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.compare;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.TraceView;

/** Two traces side by side. Display thread. */
public final class Comparison {
	private Comparison() {
	}

	/** What was recorded before stands first, at the left: a list has the newest first, or the order of names. */
	public static List<TraceInfo> byAge(List<TraceInfo> traces) {
		return traces.stream().sorted(Comparator.comparing(TraceInfo::recordedAt).thenComparingInt(TraceInfo::id)).toList();
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
	 * first: the older of both is at the left, in the current group. What was looked at stays. When both are there and both have
	 * accesses, the view of their difference comes to the front.
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
		TraceView view = withoutTrace(page, first);
		TraceGroup second = view == null ? session.newGroup() : view.group();
		if (view != null) {
			page.activate(view);
		} else {
			view = TraceView.open(page, ViewIds.OCELOTL, second);
		}
		if (view == null) {
			return;
		}
		OpenTrace shown = first.trace();
		TraceGroup place = second;
		TraceGroup stays = first;
		if (shown != null && isOlder(other instanceof OpenFile f ? f.info() : (TraceInfo) other, shown.info())) {
			session.show(second, shown.fork());
			place = first;
			stays = second;
		}
		TraceGroup leader = stays;
		TraceGroup follower = place;
		// when the trace is there: a link is between two traces
		Runnable link = () -> {
			session.link(leader, follower, time);
			showDifference(page, leader, follower);
		};
		if (other instanceof TraceInfo listed) {
			session.opener().open(place, listed, link);
		} else {
			session.opener().openDatabase(place, ((OpenFile) other).path(), link);
		}
	}

	/** Brings the difference of two linked groups to the front, in the one or the other; the active view stays active. */
	private static void showDifference(IWorkbenchPage page, TraceGroup one, TraceGroup other) {
		if (one.trace() == null || other.trace() == null || !one.trace().hasAccesses() || !other.trace().hasAccesses()) {
			return; // a difference is about the memory of programs
		}
		try {
			if (page.showView(ViewIds.DIFFERENCE, null, IWorkbenchPage.VIEW_VISIBLE) instanceof TraceView view && !view.isLocked()
					&& view.group() != one && view.group() != other) {
				view.join(other);
			}
		} catch (PartInitException e) {
			MessageDialog.openError(page.getWorkbenchWindow().getShell(), "Compare", e.getMessage());
		}
	}

	/** Whether a trace is known to have been recorded before another one. */
	private static boolean isOlder(TraceInfo trace, TraceInfo than) {
		return trace.recordedAt().isAfter(Instant.EPOCH) && trace.recordedAt().isBefore(than.recordedAt());
	}

	/** The picture of another group that shows nothing, such as that of the comparison before the last start; null when there is none. */
	private static TraceView withoutTrace(IWorkbenchPage page, TraceGroup first) {
		for (IViewReference r : page.getViewReferences()) {
			if (r.getId().equals(ViewIds.OCELOTL) && r.getView(false) instanceof TraceView v && !v.isLocked() && v.group() != first
					&& v.group().trace() == null) {
				return v;
			}
		}
		return null;
	}
}
