// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.function.Supplier;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.machine.GivenMachine;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.model.MemtraceException;
import org.memtrace.topology.Hwloc;

/** On which machine a trace is shown: that of the recording, or another one that somebody gave. A part of what all its views look at. */
public final class MachineChoice {
	private static final String EXAMPLE = "pack:2 [numa] core:4 pu:1";

	private MachineChoice() {
	}

	/**
	 * The machine; not on the display thread.
	 *
	 * @param given see {@link org.memtrace.analysis.selection.ViewState#machine}
	 */
	public static MachineTopology topology(OpenTrace trace, String given) throws MemtraceException {
		if (!given.isEmpty()) {
			return Hwloc.load().of(GivenMachine.of(given));
		}
		try (OpenTrace.Lease lease = trace.lease()) {
			return Hwloc.load().of(lease.store());
		}
	}

	/** The choice as a menu of a view. */
	public static IMenuManager menu(Shell shell, Supplier<OpenTrace> trace) {
		MenuManager menu = new MenuManager("Machine");
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> fill(m, shell, trace.get()));
		menu.add(new Action("Of the recording") {
			// a menu without anything in it is not shown
		});
		return menu;
	}

	/** What the menu has when it is opened. */
	public static void fill(IMenuManager menu, Shell shell, OpenTrace trace) {
		String now = trace == null ? "" : trace.selection().state().machine();
		menu.add(choice("Of the recording", now.isEmpty(), trace, () -> ""));
		if (!now.isEmpty()) {
			menu.add(choice(now.replace("&", "&&"), true, trace, () -> now));
		}
		menu.add(choice("File of lstopo…", false, trace, () -> {
			FileDialog dialog = new FileDialog(shell, SWT.OPEN);
			dialog.setText("A machine that 'lstopo file.xml' wrote");
			dialog.setFilterExtensions(new String[] {"*.xml", "*"});
			return dialog.open();
		}));
		menu.add(choice("Description…", false, trace, () -> {
			InputDialog dialog = new InputDialog(shell, "Another machine", "A description as for lstopo --input, from the outside in, such as "
					+ EXAMPLE + ".", now.isEmpty() || now.endsWith(".xml") ? EXAMPLE : now, MachineChoice::problem);
			return dialog.open() == Window.OK ? dialog.getValue().strip() : null;
		}));
	}

	/** Why a description is none, a sentence; null when it is one. */
	public static String problem(String text) {
		if (text.isBlank()) {
			return "A description is missing.";
		}
		try {
			Hwloc.load().of(new GivenMachine(text.strip(), null));
			return null;
		} catch (MemtraceException e) {
			return e.getMessage();
		}
	}

	/** @param asked gives the machine, null when it was not chosen after all */
	private static Action choice(String text, boolean checked, OpenTrace trace, Supplier<String> asked) {
		Action a = new Action(text, checked || text.equals("Of the recording") ? IAction.AS_RADIO_BUTTON : IAction.AS_PUSH_BUTTON) {
			@Override
			public void run() {
				String machine = asked.get();
				if (machine != null && !machine.equals(trace.selection().state().machine())) {
					trace.selection().machine(machine);
				}
			}
		};
		a.setChecked(checked);
		a.setEnabled(trace != null);
		return a;
	}
}
