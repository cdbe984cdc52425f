// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.eclipse.jface.bindings.Binding;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.keys.IBindingService;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.views.UiTest;
import org.memtrace.views.help.HelpPages.Place;
import org.memtrace.views.session.ViewIds;

/** F1, the pages of the help, the tutorial, and what the program consists of. */
class HelpTest extends UiTest {
	private HelpView help() {
		bot.waitFor("the help", () -> page().findView(ViewIds.HELP) != null);
		return bot.ui(() -> (HelpView) page().findView(ViewIds.HELP));
	}

	/** Ctrl+A in the contents, and a window with help that is closed while it has the focus. */
	@Test
	void aSelectionOfNothingAndAFocusThatComesTooLateDoNoHarm() {
		bot.run(() -> {
			Shell shell = new Shell(bot.display);
			HelpBrowser browser = new HelpBrowser(shell);
			browser.go(new Place(HelpPages.FILES.get(0), ""));
			Place shown = browser.shown();
			browser.contents().notifyListeners(SWT.Selection, new Event());
			assertEquals(shown, browser.shown());
			browser.page().dispose();
			assertFalse(browser.setFocus());
			shell.dispose();
		});
	}

	@Test
	void f1ShowsHelpOnTheView() {
		bot.run(() -> page().getWorkbenchWindow().getShell().forceActive());
		bot.run(() -> page().activate(show(ViewIds.STRUCTURES)));
		bot.run(() -> page().findView(ViewIds.STRUCTURES).setFocus());
		bot.waitFor("focus", () -> bot.display.getFocusControl() != null);
		bot.key("F1");
		HelpView view = help();
		bot.waitFor("structures", () -> new Place("howto/workbench/findings.md", "structures").equals(view.browser().shown()));
		bot.shot("help");
		String text = bot.ui(() -> view.browser().page().getText());
		assertTrue(text.contains("Each row is a data structure"), "the page itself, not an excuse");
		int top = bot.ui(() -> view.browser().page().getTopIndex());
		assertTrue(top > 20, "scrolled to the section: " + top);
		for (String id : List.of(ViewIds.TRACES, ViewIds.DETAILS, ViewIds.OCELOTL, ViewIds.FINDINGS, ViewIds.STRUCTURES,
				ViewIds.MACHINE, ViewIds.SOURCE,
				"org.memtrace.views.preferences.colours", "org.memtrace.views.keys")) {
			Place place = bot.ui(() -> HelpPages.context(id));
			assertTrue(!place.anchor().isEmpty() || place.file().equals("reference/keys.md"), id + " has help of its own");
		}
		bot.run(() -> page().hideView(view));
	}

	/** Without it, help on a view silently begins at the top of a long page. */
	@Test
	void everyPlaceOfTheHelpExists() {
		HelpPages.CONTEXTS.forEach((id, place) -> assertTrue(bot.ui(() -> HelpPages.page(place.file()).has(place.anchor())),
				id + " leads to " + place));
	}

	@Test
	void allPagesAreThereAndAreFound() {
		HelpView view = bot.ui(() -> show(ViewIds.HELP));
		HelpBrowser browser = bot.ui(view::browser);
		for (String file : HelpPages.FILES) {
			bot.run(() -> browser.go(new Place(file, "")));
			String text = bot.ui(() -> browser.page().getText());
			assertTrue(text.length() > 500, file + ": " + text);
			assertFalse(Pattern.compile("\\*\\*\\p{L}|\\]\\(").matcher(text).find(), file + " is shown as it is written");
		}
		bot.run(() -> browser.search().setText("hatches CPUs"));
		assertEquals(1, bot.ui(() -> browser.contents().getItemCount()), "found in one page");
		bot.run(() -> browser.search().setText("no-such-word-anywhere"));
		assertEquals(0, bot.ui(() -> browser.contents().getItemCount()));
		bot.run(() -> browser.search().setText(""));
		assertEquals(HelpPages.FILES.size(), bot.ui(() -> browser.contents().getItemCount()));

		bot.run(() -> browser.go(new Place("start/start.md", "")));
		StyledText page = bot.ui(browser::page);
		int link = bot.ui(() -> page.getText().indexOf("Find a sharing problem in ten minutes"));
		bot.run(() -> page.setTopIndex(page.getLineAtOffset(link)));
		bot.waitFor("scrolled", () -> page.getTextBounds(link, link + 5).y < page.getClientArea().height / 2);
		bot.click(page, bot.ui(() -> page.getTextBounds(link, link + 5)));
		bot.waitFor("the link", () -> browser.shown().file().equals("howto/sharing.md"));
		bot.run(browser::back);
		bot.waitFor("back", () -> browser.shown().file().equals("start/start.md"));
		bot.run(() -> page().hideView(view));
	}

	@Test
	void everyKeyOfOursIsInThePageOfKeys() {
		List<String> missing = new ArrayList<>();
		bot.run(() -> {
			String page = HelpPages.sections().stream().filter(s -> s.place().file().equals("reference/keys.md"))
					.map(HelpPages.Section::text).reduce("", String::concat);
			int ours = 0;
			for (Binding b : PlatformUI.getWorkbench().getService(IBindingService.class).getBindings()) {
				if (b.getParameterizedCommand() != null && b.getParameterizedCommand().getId().startsWith("org.memtrace.")) {
					ours++;
					String key = b.getTriggerSequence().format().replace("Shift+Ctrl", "Ctrl+Shift").replace("←", "Left")
							.replace("→", "Right").replace("↑", "Up").replace("↓", "Down").replace("PageUp", "Page Up")
							.replace("PageDown", "Page Down");
					if (!page.contains(key.toLowerCase(Locale.ROOT))) {
						missing.add(key);
					}
				}
			}
			assertTrue(ours >= 3, ours + " keys");
		});
		assertEquals(List.of(), missing);
	}

	@Test
	void theTutorialDoesItsSteps() {
		TutorialView view = bot.ui(() -> show(ViewIds.TUTORIAL));
		List<Button> buttons = bot.ui(view::buttons);
		assertEquals(9, buttons.size());
		assertTrue(bot.ui(() -> buttons.get(0).isEnabled()) && !bot.ui(() -> buttons.get(3).isEnabled()), "most need a trace");
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.waitFor("enabled", () -> buttons.get(3).isEnabled());
		bot.run(() -> page().activate(view));
		bot.waitFor("shown", () -> buttons.get(3).isVisible());
		bot.shot("tutorial");
		press(buttons.get(3));
		bot.waitFor("by thread", () -> session.trace().selection().state().viewpoint() == BasicDimensions.THREAD);
		press(buttons.get(6));
		bot.waitFor("filter", () -> session.trace().selection().state().filters().filters().size() == 1);
		press(buttons.get(2));
		bot.waitFor("everything again", () -> session.trace().selection().state().filters().equals(FilterSet.NONE)
				&& session.trace().selection().state().viewpoint() == BasicDimensions.TYPE);
		press(buttons.get(1));
		bot.waitFor("the findings", () -> page().isPartVisible(page().findView(ViewIds.FINDINGS)));
		press(buttons.get(5));
		bot.waitFor("the machine", () -> page().findView(ViewIds.MACHINE) != null
				&& page().isPartVisible(page().findView(ViewIds.MACHINE)));
		bot.run(() -> page().hideView(view));
	}

	private void press(Button button) {
		bot.run(() -> button.notifyListeners(SWT.Selection, new Event()));
	}

	@Test
	void versionsAndLicences() {
		AboutDialog[] dialog = new AboutDialog[1];
		bot.run(() -> {
			dialog[0] = new AboutDialog(PlatformUI.getWorkbench().getActiveWorkbenchWindow().getShell());
			dialog[0].setBlockOnOpen(false);
			dialog[0].open();
		});
		Shell shell = bot.find(Shell.class, s -> s.getText().equals("About memtrace"));
		bot.shot("about");
		String text = bot.ui(AboutDialog::versions);
		for (String part : List.of("memtrace", "Eclipse platform", "SWT", "SQLite JDBC", "JNA", "hwloc")) {
			assertTrue(text.lines().anyMatch(l -> l.matches(part + " +\\d.*")), part + " has a version in\n" + text);
		}
		// help on a dialog comes in a window that can be used while the dialog is open
		bot.run(() -> shell.forceActive());
		bot.run(HelpHandler::help);
		Shell help = bot.find(Shell.class, s -> s.getText().equals("Help"));
		assertNotEquals(shell, help);
		bot.run(help::close);
		bot.run(dialog[0]::close);
	}
}
