// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** What one sees without a trace. */
class WelcomeTest extends UiTest {
	/** The catalogue is read in the background: until then nothing is said about it. */
	@Test
	void nothingIsSaidOfTheCatalogueBeforeItIsRead() {
		Shell[] shell = new Shell[1];
		List<String> first = bot.ui(() -> {
			shell[0] = new Shell(bot.display, SWT.SHELL_TRIM);
			return texts(new Welcome(shell[0], session, page().getWorkbenchWindow()));
		});
		assertEquals(List.of(), first.stream().filter(t -> t.contains("race") && !t.contains("memtrace")).toList());
		assertEquals(1, first.stream().filter("memtrace"::equals).count(), first.toString());
		bot.waitFor("the catalogue is read", () -> texts(shell[0]).contains("Open a trace"));
		bot.run(shell[0]::dispose);
	}

	/** In one of two views beside each other the texts are wrapped, not cut off. */
	@Test
	void textsAreWrappedInANarrowView() {
		Shell[] shell = new Shell[1];
		List<String> cut = bot.ui(() -> {
			shell[0] = new Shell(bot.display, SWT.SHELL_TRIM);
			shell[0].setLayout(new FillLayout());
			new Welcome(shell[0], session, page().getWorkbenchWindow());
			shell[0].setSize(500, 600);
			shell[0].layout(true, true);
			shell[0].open();
			List<String> wide = new ArrayList<>();
			beyond(shell[0], shell[0].getClientArea().width, wide);
			return wide;
		});
		bot.run(shell[0]::dispose);
		assertEquals(List.of(), cut);
	}

	private static void beyond(Composite parent, int width, List<String> found) {
		for (Control c : parent.getChildren()) {
			int right = c.getDisplay().map(parent, c.getShell(), c.getBounds()).x + c.getSize().x;
			if (c.getVisible() && right > width) {
				found.add(c + " ends at " + right + " of " + width);
			}
			if (c instanceof Composite child && c.getVisible()) {
				beyond(child, width, found);
			}
		}
	}

	private static List<String> texts(Composite parent) {
		List<String> texts = new ArrayList<>();
		for (Control c : parent.getChildren()) {
			if (c instanceof Label l) {
				texts.add(l.getText());
			} else if (c instanceof Composite child) {
				texts.addAll(texts(child));
			}
		}
		return texts;
	}
}
