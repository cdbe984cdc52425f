// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.views.Bot;

/** Pictures on displays with several pixels per unit. */
class SceneImageTest {
	private static final int WIDTH = 120;
	private static final int HEIGHT = 40;

	private final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
	private final Scene scene = new Scene(WIDTH, HEIGHT, 0xffffffff, List.of(new Shape.Rect(0, 0, 30, HEIGHT, 0xff2060c0, 0),
			new Shape.Text(40, 25, "new_grid", 14, false, 0xff000000, Shape.Anchor.START, false)));

	/** Texts have the resolution of the display: an image that is only doubled has squares of four equal pixels. */
	@Test
	void textsAreNotDoubledPixels() {
		bot.run(() -> {
			Shell shell = new Shell(bot.display);
			SceneImage image = new SceneImage(shell, scene, null, 2);
			ImageData data = image.image().getImageData(100);
			assertEquals(2 * WIDTH, data.width);
			int mixed = 0;
			for (int y = 0; y < data.height; y += 2) {
				for (int x = 0; x < data.width; x += 2) {
					int p = data.getPixel(x, y);
					mixed += data.getPixel(x + 1, y) != p || data.getPixel(x, y + 1) != p || data.getPixel(x + 1, y + 1) != p ? 1 : 0;
				}
			}
			image.dispose();
			shell.dispose();
			assertTrue(mixed > 50, mixed + " squares with a part of a letter");
		});
	}

	/** Drawn, it has the size and the places of the scene. */
	@Test
	void itIsDrawnAtItsSize() {
		bot.run(() -> {
			Shell shell = new Shell(bot.display);
			for (int factor = 1; factor <= 3; factor++) {
				SceneImage image = new SceneImage(shell, scene, null, factor);
				Image target = new Image(bot.display, WIDTH, HEIGHT);
				GC gc = new GC(target);
				image.draw(gc);
				image.draw(gc, 0, 0, 30, HEIGHT, 90, 0, 30, HEIGHT);
				gc.dispose();
				ImageData data = target.getImageData(100);
				for (int x : new int[] {2, 27, 92, 117}) {
					assertEquals(0x2060c0, rgb(data, x, 20), "factor " + factor + ", at " + x);
				}
				assertEquals(0xffffff, rgb(data, 34, 20), "factor " + factor);
				target.dispose();
				image.dispose();
			}
			shell.dispose();
		});
	}

	private static int rgb(ImageData data, int x, int y) {
		var c = data.palette.getRGB(data.getPixel(x, y));
		return c.red << 16 | c.green << 8 | c.blue;
	}
}
