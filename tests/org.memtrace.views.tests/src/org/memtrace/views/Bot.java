// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Widget;

/** Drives the workbench from the test thread with real mouse and keys of the window system. */
public final class Bot {
	/** Long enough for a loaded machine; passing tests never wait so long. */
	private static final long TIMEOUT_MS = 30_000;

	public final Display display;

	public Bot(Display display) {
		this.display = display;
	}

	/** Runs on the display thread and returns its result. */
	public <T> T ui(Supplier<T> s) {
		Object[] result = new Object[1];
		Throwable[] failure = new Throwable[1];
		display.syncExec(() -> {
			try {
				result[0] = s.get();
			} catch (RuntimeException | AssertionError e) {
				failure[0] = e;
			}
		});
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

	/** Waits until the condition, asked on the display thread, holds. */
	public void waitFor(String what, BooleanSupplier condition) {
		long end = System.nanoTime() + TIMEOUT_MS * 1_000_000;
		while (!ui(condition::getAsBoolean)) {
			if (System.nanoTime() > end) {
				shot("timeout");
				throw new AssertionError("timed out waiting for: " + what);
			}
			pause();
		}
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

	private void post(int type, int x, int y, int button, int keyCode, char character) {
		boolean ok = ui(() -> {
			Event e = new Event();
			e.type = type;
			e.x = x;
			e.y = y;
			e.button = button;
			e.keyCode = keyCode;
			e.character = character;
			return display.post(e);
		});
		if (!ok) {
			throw new AssertionError("the window system refused event " + type);
		}
		// let GTK see it before the next one
		ui(() -> true);
		pause();
	}

	private Point toDisplay(Control c, int x, int y) {
		return ui(() -> c.toDisplay(x, y));
	}

	public void move(Control c, int x, int y) {
		Point p = toDisplay(c, x, y);
		post(SWT.MouseMove, p.x, p.y, 0, 0, '\0');
	}

	private void press(Control c, int x, int y, int button) {
		Point p = toDisplay(c, x, y);
		post(SWT.MouseDown, p.x, p.y, button, 0, '\0');
	}

	private void release(Control c, int x, int y, int button) {
		Point p = toDisplay(c, x, y);
		post(SWT.MouseUp, p.x, p.y, button, 0, '\0');
	}

	public void click(Control c, int x, int y) {
		move(c, x, y);
		press(c, x, y, 1);
		release(c, x, y, 1);
	}

	public void click(Control c, Rectangle r) {
		click(c, r.x + r.width / 2, r.y + r.height / 2);
	}

	public void doubleClick(Control c, int x, int y) {
		click(c, x, y);
		press(c, x, y, 1);
		release(c, x, y, 1);
	}

	/** A drag in several moves, as a hand does it. */
	public void drag(Control c, int button, Point from, Point to) {
		move(c, from.x, from.y);
		press(c, from.x, from.y, button);
		for (int i = 1; i <= 5; i++) {
			move(c, from.x + (to.x - from.x) * i / 5, from.y + (to.y - from.y) * i / 5);
		}
		release(c, to.x, to.y, button);
	}

	/**
	 * Turns the wheel over a point; positive is away from the user. The only event that is not real: GTK's SWT cannot post
	 * it.
	 */
	public void wheel(Control c, int x, int y, int notches) {
		move(c, x, y);
		for (int i = 0; i < Math.abs(notches); i++) {
			run(() -> {
				Event e = new Event();
				e.x = x;
				e.y = y;
				e.count = notches > 0 ? 1 : -1;
				c.notifyListeners(SWT.MouseVerticalWheel, e);
			});
		}
	}

	public void key(int code) {
		post(SWT.KeyDown, 0, 0, 0, code, '\0');
		post(SWT.KeyUp, 0, 0, 0, code, '\0');
	}

	public void type(char c) {
		post(SWT.KeyDown, 0, 0, 0, 0, c);
		post(SWT.KeyUp, 0, 0, 0, 0, c);
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
