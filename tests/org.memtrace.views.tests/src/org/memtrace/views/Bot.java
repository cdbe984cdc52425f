// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.ImageLoader;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Widget;
import org.memtrace.views.util.Later;

/** Drives the workbench from the test thread with real mouse and keys of the window system. */
public final class Bot {
	/** Long enough for a loaded machine; passing tests never wait so long. */
	private static final long TIMEOUT_MS = Long.getLong("memtrace.timeout", 120_000);

	private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(r -> {
		Thread thread = new Thread(r, "bot watch");
		thread.setDaemon(true);
		return thread;
	});

	public final Display display;

	public Bot(Display display) {
		this.display = display;
	}

	/** Runs on the display thread and returns its result. A dialog that keeps it from ending is closed, and is a failure. */
	public <T> T ui(Supplier<T> s) {
		Object[] result = new Object[1];
		Throwable[] failure = new Throwable[1];
		ScheduledFuture<?> watch = WATCH.schedule(() -> display.asyncExec(() -> {
			List<String> titles = closeDialogs(); // from within the loop of the dialog
			failure[0] = titles.isEmpty() ? null : new AssertionError("a dialog waited for an answer: " + titles);
		}), TIMEOUT_MS, TimeUnit.MILLISECONDS);
		display.syncExec(() -> {
			try {
				result[0] = s.get();
			} catch (RuntimeException | AssertionError e) {
				failure[0] = e;
			}
		});
		watch.cancel(false);
		if (failure[0] != null) {
			throw new AssertionError(failure[0]);
		}
		@SuppressWarnings("unchecked")
		T t = (T) result[0];
		return t;
	}

	public void run(Runnable r) {
		ui(() -> {
			r.run();
			return null;
		});
	}

	/** Waits until the condition, asked on the display thread, holds; then until views have done what they do {@link Later}. */
	public void waitFor(String what, BooleanSupplier condition) {
		until(what, condition);
		if (Display.getCurrent() != display) { // on the display thread one would wait for oneself
			until("views that follow", () -> Later.isIdle(display));
		}
	}

	private void until(String what, BooleanSupplier condition) {
		long end = System.nanoTime() + TIMEOUT_MS * 1_000_000;
		while (!ui(condition::getAsBoolean)) {
			if (System.nanoTime() > end) {
				shot("timeout");
				throw new AssertionError("timed out waiting for: " + what + "\n" + ui(this::describe));
			}
			pause();
		}
	}

	/** Windows, focus and what is said, for the message of a failure. */
	private String describe() {
		StringBuilder text = new StringBuilder();
		for (Shell s : display.getShells()) {
			text.append(s).append(s.isVisible() ? " visible" : "").append(s.isEnabled() ? " enabled" : "")
					.append(String.format(" style %x ", s.getStyle())).append(s.getBounds()).append('\n');
		}
		List<String> said = all(Label.class).stream().filter(l -> l.isVisible() && !l.getText().isBlank()).map(Label::getText).toList();
		return text + "labels: " + said + "\nfocus: " + display.getFocusControl() + ", active: " + display.getActiveShell() + ", pointer: "
				+ display.getCursorLocation() + " over " + display.getCursorControl();
	}

	private static void pause() {
		try {
			Thread.sleep(20);
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	/** A visible widget, waited for. */
	public <T extends Widget> T find(Class<T> type, Predicate<? super T> p) {
		Object[] hit = new Object[1];
		waitFor(type.getSimpleName(), () -> {
			for (Shell s : display.getShells()) {
				if (!s.isDisposed() && s.isVisible()) {
					for (Widget w : all(s)) {
						if (type.isInstance(w) && p.test(type.cast(w))) {
							hit[0] = w;
							return true;
						}
					}
				}
			}
			return false;
		});
		return type.cast(hit[0]);
	}

	/** Visible widgets of a kind; display thread. */
	public <T extends Widget> List<T> all(Class<T> type) {
		List<T> hits = new ArrayList<>();
		for (Shell s : display.getShells()) {
			if (!s.isDisposed() && s.isVisible()) {
				all(s).stream().filter(type::isInstance).map(type::cast).forEach(hits::add);
			}
		}
		return hits;
	}

	private static List<Widget> all(Widget w) {
		List<Widget> list = new ArrayList<>();
		list.add(w);
		if (w instanceof Composite c) {
			for (Control k : c.getChildren()) {
				list.addAll(all(k));
			}
		}
		return list;
	}

	/**
	 * A real event of the window system, made by xdotool. {@code Display.post} does not do: on GTK its buttons reach native
	 * widgets only, its clicks are never double, and it has no wheel.
	 */
	private void event(String... arguments) {
		List<String> command = new ArrayList<>(List.of("xdotool"));
		command.addAll(List.of(arguments));
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			if (process.waitFor() != 0) {
				throw new AssertionError(command + ": " + output);
			}
		} catch (IOException e) {
			throw new AssertionError("xdotool is needed to test with real mouse and keys: " + e.getMessage(), e);
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
		pause();
		// the display thread has seen it before the next one
		ui(() -> true);
	}

	public void move(Control c, int x, int y) {
		Point p = ui(() -> c.toDisplay(x, y));
		event("mousemove", Integer.toString(p.x), Integer.toString(p.y));
	}

	public void click(Control c, int x, int y) {
		move(c, x, y);
		event("click", "1");
	}

	public void click(Control c, Rectangle r) {
		click(c, r.x + r.width / 2, r.y + r.height / 2);
	}

	/** Presses a button of a dialog as soon as the dialog has its place, and waits until the dialog is closed. */
	public void close(Button button) {
		Shell shell = ui(button::getShell);
		for (Point last = null; !ui(shell::isDisposed);) {
			Point place = ui(() -> button.isDisposed() ? null : button.toDisplay(0, 0));
			if (place != null && place.equals(last)) {
				Point size = ui(() -> button.isDisposed() ? null : button.getSize());
				if (size != null) {
					click(button, size.x / 2, size.y / 2);
					waitFor("dialog to close", shell::isDisposed);
				}
				return;
			}
			last = place;
			for (int i = 0; i < 10; i++) {
				pause();
			}
		}
	}

	/** Closes dialogs that a failed test has left, and tells which. */
	public List<String> closeDialogs() {
		return ui(() -> {
			List<String> closed = new ArrayList<>();
			for (Shell s : display.getShells()) {
				// tips are shells too
				if (!s.isDisposed() && s.isVisible() && s.getParent() != null && (s.getStyle() & SWT.TOOL) == 0) {
					closed.add(s.getText());
					s.close();
				}
			}
			return closed;
		});
	}

	public void doubleClick(Control c, int x, int y) {
		move(c, x, y);
		event("click", "--repeat", "2", "--delay", "60", "1");
	}

	/** A drag in several moves, as a hand does it. */
	public void drag(Control c, int button, Point from, Point to) {
		move(c, from.x, from.y);
		event("mousedown", Integer.toString(button));
		for (int i = 1; i <= 5; i++) {
			move(c, from.x + (to.x - from.x) * i / 5, from.y + (to.y - from.y) * i / 5);
		}
		event("mouseup", Integer.toString(button));
	}

	/** Turns the wheel over a point; positive is away from the user. */
	public void wheel(Control c, int x, int y, int notches) {
		move(c, x, y);
		event("click", "--repeat", Integer.toString(Math.abs(notches)), "--delay", "30", notches > 0 ? "4" : "5");
	}

	/** Does something while a key is held, such as {@code ctrl} or {@code shift}. */
	public void hold(String key, Runnable what) {
		event("keydown", key);
		try {
			what.run();
		} finally {
			event("keyup", key);
		}
	}

	/** @param name as X calls it, such as {@code Left}, {@code BackSpace} or {@code ctrl+c} */
	public void key(String name) {
		event("key", name);
	}

	public void type(String text) {
		event("type", "--delay", "10", text);
	}

	/** What is on the screen at a control; display thread. */
	public ImageData pixels(Control c) {
		return ui(() -> {
			Point size = c.getSize();
			Image image = new Image(c.getDisplay(), size.x, size.y);
			GC gc = new GC(c);
			gc.copyArea(image, 0, 0);
			gc.dispose();
			ImageData data = image.getImageData();
			image.dispose();
			return data;
		});
	}

	/** Number of pixels per colour. */
	public Map<RGB, Integer> colours(Control c) {
		ImageData data = pixels(c);
		Map<RGB, Integer> count = new HashMap<>();
		for (int y = 0; y < data.height; y++) {
			for (int x = 0; x < data.width; x++) {
				count.merge(data.palette.getRGB(data.getPixel(x, y)), 1, Integer::sum);
			}
		}
		return count;
	}

	/** Saves the whole screen for a person to look at. */
	public void shot(String name) {
		File dir = new File(System.getProperty("memtrace.shots", "target/shots"));
		dir.mkdirs();
		run(() -> {
			Rectangle r = display.getBounds();
			Image image = new Image(display, r.width, r.height);
			GC gc = new GC(display);
			gc.copyArea(image, r.x, r.y);
			gc.dispose();
			ImageLoader loader = new ImageLoader();
			loader.data = new ImageData[] { image.getImageData() };
			image.dispose();
			loader.save(new File(dir, name + ".png").getPath(), SWT.IMAGE_PNG);
		});
	}
}
