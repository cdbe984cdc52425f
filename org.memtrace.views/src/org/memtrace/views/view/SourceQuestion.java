// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.util.List;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.session.ViewIds;

/** What is chosen in a view has which places in the source, the best one first. Asked in the background. */
@FunctionalInterface
public interface SourceQuestion {
	/** The places; empty when none is known. */
	List<SourcePlace> places(TraceStore store, CodePlaces code) throws MemtraceException;

	/** The view that answers questions, {@link ViewIds#SOURCE}. */
	interface Answering {
		/** Shows the places to the views of a group. */
		void answer(TraceGroup group, SourceQuestion question);
	}

	/** Shows the places in the view of a group for it, which is opened if there is none. */
	default void show(IWorkbenchPage page, TraceGroup group) {
		try {
			((Answering) page.showView(ViewIds.SOURCE)).answer(group, this);
		} catch (PartInitException e) {
			MessageDialog.openError(page.getWorkbenchWindow().getShell(), "Open source", e.getMessage());
		}
	}

	/** Where a structure is made. */
	static SourceQuestion of(Structure structure) {
		return (store, code) -> SourcePlace.of(structure, structure.stack() < 0 ? List.of() : store.stack(structure.stack()), code);
	}
}
