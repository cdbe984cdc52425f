// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.views.Bot;

/** Very many rectangles are painted in another way, with the same result. */
class ManyRectanglesTest {
	private static final int WIDTH = 300;
	private static final int HEIGHT = 200;

	private final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
	private final List<Shape> run = new ArrayList<>();
	private final List<Shape> broken = new ArrayList<>();

	@BeforeEach
	void shapes() {
		Random random = new Random(11);
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
	}

	@Test
	void thePixelsAreThoseOfOneByOne() {
		bot.run(() -> assertSame(pixels(broken, null), pixels(run, null)));
	}

	/** Images of runs are made by the thread that makes the scene, and disposed after the first paint. */
	@Test
	void theyCanBeMadeByAnotherThread() {
		assertTrue(bot.ui(() -> SceneRuns.canBeMadeByJobs(bot.display)));
		SceneRuns made = new SceneRuns(bot.display, scene(run));
		bot.run(() -> {
			ImageData expected = pixels(broken, null);
			assertSame(expected, pixels(run, made));
			made.dispose();
			assertSame(expected, pixels(run, made));
		});
	}

	/** Parts of a run that lies in a corner, and one that is outside of the scene. */
	@Test
	void aRunMayBeAnywhere() {
		List<Shape> corner = new ArrayList<>();
		List<Shape> outside = new ArrayList<>();
		for (int i = 0; i < 3_000; i++) {
			corner.add(new Shape.Rect(WIDTH - 20 + i % 40, HEIGHT - 10 + i / 40 % 20, 1, 1, 0xff000000 | i * 4_001, 0));
			outside.add(new Shape.Rect(WIDTH + 5, i, 3, 3, 0xff00ff00, 0));
		}
		corner.add(new Shape.Line(0, 0, 1, 0, 0xff000000, 1, false));
		corner.addAll(outside);
		List<Shape> single = new ArrayList<>();
		for (Shape s : corner) {
			single.add(s);
			single.add(new Shape.Line(-50, -50, -40, -50, 0xff000000, 1, false));
		}
		bot.run(() -> assertSame(pixels(single, null), pixels(corner, null)));
	}

	private static void assertSame(ImageData expected, ImageData actual) {
		for (int y = 0; y < HEIGHT; y++) {
			for (int x = 0; x < WIDTH; x++) {
				assertEquals(expected.palette.getRGB(expected.getPixel(x, y)), actual.palette.getRGB(actual.getPixel(x, y)), x + ", " + y);
			}
		}
	}

	private static Scene scene(List<Shape> shapes) {
		return new Scene(WIDTH, HEIGHT, 0xffffffff, shapes);
	}

	private ImageData pixels(List<Shape> shapes, SceneRuns made) {
		Image image = ScenePainter.image(bot.display, scene(shapes), made);
		try {
			return image.getImageData();
		} finally {
			image.dispose();
		}
	}
}
