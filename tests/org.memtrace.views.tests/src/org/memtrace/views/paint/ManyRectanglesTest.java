// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.Scene;
import org.memtrace.analysis.Shape;
import org.memtrace.views.Bot;

/** Very many rectangles are painted in another way, with the same result. */
class ManyRectanglesTest {
	private static final int WIDTH = 300;
	private static final int HEIGHT = 200;

	@Test
	void thePixelsAreThoseOfOneByOne() {
		Random random = new Random(11);
		List<Shape> run = new ArrayList<>();
		List<Shape> broken = new ArrayList<>();
		run.add(new Shape.Line(0, 0, WIDTH, HEIGHT, 0xffff0000, 1, false));
		broken.add(run.get(0));
		for (int i = 0; i < 5_000; i++) {
			Shape r = new Shape.Rect(random.nextDouble() * (WIDTH + 40) - 20, random.nextDouble() * (HEIGHT + 40) - 20,
					random.nextDouble() * 12, random.nextDouble() * 5, 0xff000000 | random.nextInt(0x1000000), 0);
			run.add(r);
			broken.add(r);
			if (i % 100 == 0) {
				broken.add(new Shape.Line(-50, -50, -40, -50, 0xff000000, 1, false)); // not visible
			}
		}
		Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
		bot.run(() -> {
			ImageData one = pixels(bot.display, run);
			ImageData other = pixels(bot.display, broken);
			for (int y = 0; y < HEIGHT; y++) {
				for (int x = 0; x < WIDTH; x++) {
					assertEquals(other.palette.getRGB(other.getPixel(x, y)), one.palette.getRGB(one.getPixel(x, y)), x + ", " + y);
				}
			}
		});
	}

	private static ImageData pixels(Display display, List<Shape> shapes) {
		Image image = ScenePainter.image(display, new Scene(WIDTH, HEIGHT, 0xffffffff, shapes));
		try {
			return image.getImageData();
		} finally {
			image.dispose();
		}
	}
}
