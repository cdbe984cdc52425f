// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.eclipse.core.runtime.ILog;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.gantt.Markers;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.TraceStore;

/**
 * The markers and bookmarks of a trace: read when it is opened, stored at each change, shared by all views that show it. Display
 * thread only, except the constructor.
 */
public final class TraceMarkers {
	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
	private final String note;
	private List<Marker> markers = List.of();
	/** Regions of the program: they are shown, and never changed or stored. */
	private List<Marker> regions = List.of();
	/** Why nothing can be stored; null when it can. */
	private String problem;

	/** Reads them; what cannot be read is left as it is in the database. */
	TraceMarkers(TraceStore store, AddressSpace space) {
		note = Markers.note(space);
		try {
			regions = Markers.ofRegions(store);
			byte[] stored = store.readNote(note).orElse(null);
			if (stored != null) {
				markers = Markers.sorted(Markers.read(stored));
			}
		} catch (MemtraceException e) {
			problem = e.getMessage();
			ILog.of(TraceMarkers.class).warn(problem, e);
		}
	}

	/** Earlier ones first; with the regions of the program. */
	public List<Marker> all() {
		List<Marker> all = new ArrayList<>(regions);
		all.addAll(markers);
		return Markers.sorted(all);
	}

	/** Why changes are not stored, in a sentence; null when they are. */
	public String problem() {
		return problem;
	}

	public void addListener(Runnable l) {
		listeners.add(l);
	}

	public void removeListener(Runnable l) {
		listeners.remove(l);
	}

	public void add(Leased trace, Marker marker) {
		List<Marker> now = new ArrayList<>(markers);
		now.add(marker);
		change(trace, now);
	}

	public void remove(Leased trace, Marker marker) {
		List<Marker> now = new ArrayList<>(markers);
		now.remove(marker);
		change(trace, now);
	}

	public void replace(Leased trace, Marker old, Marker marker) {
		List<Marker> now = new ArrayList<>(markers);
		now.replaceAll(m -> m == old ? marker : m);
		change(trace, now);
	}

	private void change(Leased trace, List<Marker> now) {
		markers = Markers.sorted(now);
		tell();
		if (problem != null) {
			return; // what a newer version wrote is not overwritten
		}
		byte[] text = markers.isEmpty() ? null : Markers.write(markers);
		NoteJob.keep("Store markers", trace, store -> store.writeNote(note, text), sentence -> {
			problem = sentence;
			tell();
		});
	}

	private void tell() {
		listeners.forEach(Runnable::run);
	}
}
