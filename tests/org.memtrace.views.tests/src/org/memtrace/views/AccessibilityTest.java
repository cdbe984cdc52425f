// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.jface.preference.PreferenceDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.Accessible;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.accessibility.AccessibleListener;
import org.eclipse.swt.custom.CTabFolder;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.ToolItem;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.views.IViewDescriptor;
import org.junit.jupiter.api.Test;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.record.RecordDialog;
import org.memtrace.views.traces.TraceActions;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.view.TraceView;

/** Who does not see, or has no mouse, can use every view: all controls have names, and all are reached by Tab. */
class AccessibilityTest extends UiTest {
	@Test
	void controlsOfAllViewsHaveNamesAndTakeTheFocus() {
		List<String> wrong = new ArrayList<>();
		List<String> seen = new ArrayList<>();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		List<String> ids = bot.ui(() -> {
			List<String> list = new ArrayList<>();
			for (IViewDescriptor d : PlatformUI.getWorkbench().getViewRegistry().getViews()) {
				if (d.getId().startsWith("org.memtrace.views.")) {
					list.add(d.getId());
				}
			}
			return list;
		});
		for (String id : ids) {
			bot.run(() -> {
				show(id);
			});
			bot.waitFor(id, () -> bot.display.getFocusControl() != null);
			bot.run(() -> {
				check(id, PlatformUI.getWorkbench().getActiveWorkbenchWindow().getShell(), wrong, seen);
				// the focus is in the view, not on nothing
				if (bot.display.getFocusControl() == null) {
					wrong.add(id + " takes no focus");
				}
			});
		}
		for (String page : List.of("", ".colours", ".database", ".pictures", ".recording")) {
			PreferenceDialog dialog = openPreferences(page);
			bot.run(() -> {
				check("preferences" + page, dialog.getShell(), wrong, seen);
				dialog.close();
			});
		}
		bot.run(() -> {
			for (IViewReference r : page().getViewReferences()) {
				if (r.getId().endsWith(".help") || r.getId().endsWith(".tutorial")) {
					page().hideView(r);
				}
			}
		});
		assertTrue(seen.size() > 40, "controls that were looked at: " + seen.size());
		assertEquals(List.of(), wrong.stream().distinct().toList(), "controls without a name");
	}

	/** A screen reader asks GTK, and not SWT, for the names of GTK's own controls. */
	@Test
	void gtkKnowsTheNamesOfItsControls() {
		assumeTrue(SWT.getPlatform().equals("gtk"), "another toolkit");
		String name = bot.ui(() -> {
			Shell shell = new Shell(bot.display);
			try {
				Table table = new Table(shell, SWT.NONE);
				Accessibility.name(table, "Zeilen für alle");
				return nameInGtk(table);
			} finally {
				shell.dispose();
			}
		});
		assertEquals("Zeilen für alle", name);
	}

	private static String nameInGtk(Control control) {
		try {
			ClassLoader swt = Control.class.getClassLoader();
			Class<?> os = swt.loadClass("org.eclipse.swt.internal.gtk.OS");
			Class<?> c = swt.loadClass("org.eclipse.swt.internal.C");
			Object accessible = swt.loadClass("org.eclipse.swt.internal.gtk3.GTK3").getMethod("gtk_widget_get_accessible", long.class)
					.invoke(null, Control.class.getField("handle").get(control));
			long[] text = new long[1];
			os.getMethod("g_object_get", long.class, byte[].class, long[].class, long.class).invoke(null, accessible,
					"accessible-name\0".getBytes(StandardCharsets.UTF_8), text, 0L);
			byte[] bytes = new byte[(int) c.getMethod("strlen", long.class).invoke(null, text[0])];
			c.getMethod("memmove", byte[].class, long.class, long.class).invoke(null, bytes, text[0], (long) bytes.length);
			return new String(bytes, StandardCharsets.UTF_8);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	/** The same holds for what asks. */
	@Test
	void controlsOfDialogsHaveNames() {
		List<String> wrong = new ArrayList<>();
		List<String> seen = new ArrayList<>();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		IWorkbenchWindow window = bot.ui(() -> page().getWorkbenchWindow());
		Path example = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example").normalize();
		System.setProperty("memtrace.launcher",
				Path.of(System.getProperty("memtrace.root"), "build", "collector", "memtrace").normalize().toString());
		try {
			look("Record", () -> RecordDialog.open(window), List.of("A bundled example", "A running process", "A program", "Next >"),
					wrong, seen);
		} finally {
			System.clearProperty("memtrace.launcher");
		}
		look("Import", () -> TraceActions.openImportWizard(window, List.of(example)), List.of("Next >"), wrong, seen);
		look("Add filter", () -> FilterActions.addFilter(window.getShell(), session.trace()), List.of(), wrong, seen);
		look("Save", () -> TraceView.saveAll(page()), List.of(), wrong, seen);
		assertTrue(seen.size() > 40, "controls that were looked at: " + seen.size());
		assertEquals(List.of(), wrong.stream().distinct().toList(), "controls without a name");
	}

	/** Opens a dialog, looks at it as it is first and after each of the buttons was pressed, and closes it. */
	private void look(String title, Runnable open, List<String> buttons, List<String> wrong, List<String> seen) {
		bot.display.asyncExec(open); // some return only when they are closed
		Shell shell = bot.find(Shell.class, s -> s.getText().startsWith(title));
		bot.run(() -> {
			check(title, shell, wrong, seen);
			cutOff(title, shell, wrong);
		});
		for (String text : buttons) {
			Button button = bot.find(Button.class, b -> b.getShell() == shell && b.getText().replace("&", "").equals(text) && b.isEnabled());
			bot.run(() -> {
				if ((button.getStyle() & SWT.RADIO) != 0) {
					for (Control c : button.getParent().getChildren()) {
						if (c instanceof Button b && (b.getStyle() & SWT.RADIO) != 0 && b.getSelection()) {
							b.setSelection(false);
							b.notifyListeners(SWT.Selection, new Event());
						}
					}
					button.setSelection(true);
				}
				button.notifyListeners(SWT.Selection, new Event());
			});
			bot.run(() -> {
				check(title + ", " + text, shell, wrong, seen);
				cutOff(title + ", " + text, shell, wrong);
			});
		}
		bot.run(shell::close);
		bot.waitFor(title + " is closed", shell::isDisposed);
	}

	/** What ends beyond the right side of that in which it is cannot be read by anybody. */
	private static void cutOff(String where, Composite in, List<String> wrong) {
		for (Control c : in.getChildren()) {
			if (!c.isVisible() || c instanceof Shell) {
				continue;
			}
			boolean text = c instanceof Button || c instanceof Label || c instanceof Text || c instanceof Combo || c instanceof Spinner;
			if (text && c.getBounds().x + c.getSize().x > in.getClientArea().width) {
				wrong.add(where + ": " + c + " is cut off");
			}
			if (c instanceof Composite child) {
				cutOff(where, child, wrong);
			}
		}
	}

	private static void check(String where, Control c, List<String> wrong, List<String> seen) {
		if (!c.isVisible() || c.getClass().getName().startsWith("org.eclipse.ui.") || c.getClass().getName().startsWith("org.eclipse.e4.")) {
			return;
		}
		String what = where + ": " + c.getClass().getSimpleName() + " " + c.getToolTipText() + " in "
				+ (c.getParent() == null ? "" : c.getParent().getClass().getName());
		boolean named = true;
		if (c instanceof Button b) {
			named = !b.getText().isEmpty() || has(b.getToolTipText()) || has(name(b));
			seen.add(what);
		} else if (c instanceof ToolBar bar) {
			for (ToolItem item : bar.getItems()) {
				if ((item.getStyle() & SWT.SEPARATOR) == 0 && item.getText().isEmpty() && !has(item.getToolTipText())) {
					wrong.add(where + ": tool item without text or tip");
				}
			}
		} else if (c instanceof Text || c instanceof Combo || c instanceof Spinner || c instanceof Scale || c instanceof Tree
				|| c instanceof Table || c instanceof StyledText
				|| c instanceof Canvas && c.getClass().getName().startsWith("org.memtrace.") && !(c instanceof CTabFolder)) {
			boolean readOnly = c instanceof Text t && (t.getStyle() & SWT.READ_ONLY) != 0;
			named = readOnly || has(name(c)) || labelled(c) || c instanceof Text t && has(t.getMessage());
			seen.add(what);
		}
		if (!named && !platform(c)) {
			wrong.add(what);
		}
		if (c instanceof Composite composite) {
			for (Control child : composite.getChildren()) {
				check(where, child, wrong, seen);
			}
		}
	}

	/** The tree and the filter of the dialog with the preferences are the platform's. */
	private static boolean platform(Control c) {
		for (Control p = c; p != null; p = p.getParent()) {
			if (p.getClass().getName().contains("FilteredTree")) {
				return true;
			}
		}
		return false;
	}

	private static boolean has(String s) {
		return s != null && !s.isBlank();
	}

	/** A label before a control names it. */
	private static boolean labelled(Control c) {
		Control[] siblings = c.getParent().getChildren();
		for (int i = 1; i < siblings.length; i++) {
			if (siblings[i] == c) {
				return siblings[i - 1] instanceof Label l && has(l.getText());
			}
		}
		return false;
	}

	/** What is told to a screen reader; SWT has no way to ask for it. */
	private static String name(Control c) {
		try {
			Field field = Accessible.class.getDeclaredField("accessibleListeners");
			field.setAccessible(true);
			AccessibleEvent e = new AccessibleEvent(c.getAccessible());
			e.childID = -1;
			if (field.get(c.getAccessible()) instanceof List<?> listeners) {
				for (Object l : listeners) {
					((AccessibleListener) l).getName(e);
				}
			}
			return e.result;
		} catch (ReflectiveOperationException e) {
			throw new AssertionError("SWT is another one: " + e, e);
		}
	}
}
