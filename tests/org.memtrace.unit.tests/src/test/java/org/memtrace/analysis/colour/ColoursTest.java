// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.colour;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.model.ThreadInfo;

/** Colours depend on names, can be told apart by people with any kind of colour vision, and follow the choices of the user. */
class ColoursTest {
	/** The four access types. */
	private static final List<Role> ACCESS = List.of(Role.PRIVATE_READ, Role.PRIVATE_WRITE, Role.SHARED_READ, Role.SHARED_WRITE);

	/**
	 * Simulations of missing cones, on linear RGB: Machado, Oliveira and Fernandes, A physiologically-based model for simulation
	 * of color vision deficiency, 2009, severity 1.
	 */
	private static final Map<String, double[][]> VISION = Map.of("normal",
			new double[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "protanopia",
			new double[][] {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
			"deuteranopia",
			new double[][] {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
			"tritanopia",
			new double[][] {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}});

	private static double linear(int component) {
		double c = component / 255.0;
		return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
	}

	/** CIE L*a*b*, D65, of a colour as seen with a kind of vision. */
	private static double[] lab(int argb, double[][] vision) {
		double[] rgb = {linear(argb >> 16 & 0xff), linear(argb >> 8 & 0xff), linear(argb & 0xff)};
		double[] seen = new double[3];
		for (int i = 0; i < 3; i++) {
			seen[i] = Math.max(0, Math.min(1, vision[i][0] * rgb[0] + vision[i][1] * rgb[1] + vision[i][2] * rgb[2]));
		}
		double x = f((0.4124564 * seen[0] + 0.3575761 * seen[1] + 0.1804375 * seen[2]) / 0.95047);
		double y = f(0.2126729 * seen[0] + 0.7151522 * seen[1] + 0.0721750 * seen[2]);
		double z = f((0.0193339 * seen[0] + 0.1191920 * seen[1] + 0.9503041 * seen[2]) / 1.08883);
		return new double[] {116 * y - 16, 500 * (x - y), 200 * (y - z)};
	}

	private static double f(double t) {
		return t > 216.0 / 24389 ? Math.cbrt(t) : (24389.0 / 27 * t + 16) / 116;
	}

	/** CIE 1976: about 2 can just be told apart side by side. */
	private static double difference(int a, int b, double[][] vision) {
		double[] p = lab(a, vision);
		double[] q = lab(b, vision);
		return Math.sqrt(Math.pow(p[0] - q[0], 2) + Math.pow(p[1] - q[1], 2) + Math.pow(p[2] - q[2], 2));
	}

	@Test
	void accessTypesAreToldApartWithAnyColourVision() {
		for (boolean dark : new boolean[] {false, true}) {
			Palette palette = new Colours().palette(dark);
			List<Integer> colours = new ArrayList<>();
			ACCESS.forEach(role -> colours.add(palette.color(new ModelType(role.name(), role, 0))));
			colours.add(palette.plotBackground());
			VISION.forEach((name, vision) -> {
				for (int i = 0; i < colours.size(); i++) {
					for (int j = 0; j < i; j++) {
						double d = difference(colours.get(i), colours.get(j), vision);
						assertTrue(d >= 20, name + (dark ? ", dark: " : ", light: ") + j + " and " + i + " differ by " + d);
					}
				}
			});
		}
		// on paper without colours the lightness must do
		double[] l = ACCESS.stream().mapToDouble(r -> lab(Palette.LIGHT.color(new ModelType("", r, 0)), VISION.get("normal"))[0])
				.sorted().toArray();
		for (int i = 1; i < l.length; i++) {
			assertTrue(l[i] - l[i - 1] >= 7, "lightness " + l[i - 1] + " and " + l[i]);
		}
	}

	@Test
	void differenceOfTheTestIsThatOfCie() {
		assertEquals(100, difference(0xffffffff, 0xff000000, VISION.get("normal")), 0.1);
		assertEquals(53.2, lab(0xffff0000, VISION.get("normal"))[0], 0.1, "lightness of pure red");
		double redGreen = difference(0xffc04000, 0xff6e6e00, VISION.get("normal"));
		assertTrue(difference(0xffc04000, 0xff6e6e00, VISION.get("deuteranopia")) < redGreen / 2, "red and green look alike");
	}

	@Test
	void aNameHasAColourOfItsOwnInEveryTrace() {
		List<String> names = List.of("MPI_Send", "MPI_Recv", "compute", "wait", "io");
		List<ModelType> types = ModelType.ofEvents(names);
		HashSet<Integer> colours = new HashSet<>();
		types.forEach(t -> colours.add(Palette.LIGHT.color(t)));
		assertEquals(names.size(), colours.size());
		assertEquals(types, ModelType.ofEvents(names));
		List<ModelType> turned = ModelType.ofEvents(names.reversed());
		assertEquals(types, turned.reversed(), "the order in the trace does not matter");
		assertEquals(40, ModelType.ofEvents(java.util.stream.IntStream.range(0, 40).mapToObj(i -> "t" + i).toList()).stream()
				.map(ModelType::index).distinct().count());
		assertEquals(Palette.LIGHT.structure("A"), new Colours().palette(false).structure("A"));
		for (Palette p : new Palette[] {Palette.LIGHT, Palette.DARK}) {
			for (List<String> alike : List.of(List.of("A", "B", "C", "D"), List.of("part 1", "part 2", "part 3", "part 4"))) {
				for (int i = 0; i < alike.size(); i++) {
					for (int j = 0; j < i; j++) {
						double d = difference(p.structure(alike.get(i)), p.structure(alike.get(j)), VISION.get("normal"));
						assertTrue(d >= 20, alike.get(j) + " and " + alike.get(i) + " differ by " + d);
					}
				}
			}
		}
	}

	@Test
	void choicesOfTheUserAreInTheNextPalette() {
		Colours colours = new Colours();
		int[] told = new int[1];
		colours.addListener(() -> told[0]++);
		ModelType worker = ModelType.thread(new ThreadInfo(3, 0, 17, "worker", 0, 1, "", false));
		assertEquals("worker #3", worker.name());
		Palette before = colours.palette(false);
		assertSame(Palette.LIGHT, before);
		colours.choose(Palette.Kind.THREAD, worker.name(), 0x123456);
		colours.choose(Palette.Kind.STRUCTURE, "A", 0xabcdef);
		assertEquals(2, told[0]);
		assertEquals(Palette.LIGHT.color(worker), before.color(worker), "a palette does not change");
		assertEquals(0xff123456, colours.palette(false).color(worker));
		assertEquals(0xff123456, colours.palette(true).color(worker));
		assertEquals(Palette.DARK.color(worker), colours.palette(true).defaultColor(worker));
		assertEquals(0xffabcdef, colours.palette(true).light().structure("A"));
		assertEquals(Palette.LIGHT.background(), colours.palette(true).light().background());
		ModelType same = new ModelType(worker.name(), Role.OTHER, 3);
		assertEquals(Palette.LIGHT.color(same), colours.palette(false).color(same), "an event type of that name is another thing");
		colours.reset(Palette.Kind.THREAD, worker.name());
		colours.reset(Palette.Kind.THREAD, worker.name());
		assertEquals(3, told[0], "nobody is told when nothing changes");
		colours.chooseAll(Map.of());
		assertSame(Palette.DARK, colours.palette(true));
	}

	@Test
	void choicesAreKeptAsText() {
		Colours colours = new Colours();
		colours.choose(Palette.Kind.THREAD, "worker #3", 0x123456);
		colours.choose(Palette.Kind.STRUCTURE, "odd \\ name\nwith a line  feed", 0x00abcd);
		assertEquals("THREAD #123456 worker #3\nSTRUCTURE #00abcd odd \\\\ name\\nwith a line  feed\n", colours.toText());
		assertEquals(colours.chosen(), Colours.parse(colours.toText()));
		assertEquals(Map.of(), Colours.parse("THREAD red x\nnonsense\n\nPLANET #ffffff earth\nTYPE #12345 short\n"));
	}

	/** In a pie of structures, greys are what is not known, and what is too small: no structure looks like them, and they differ. */
	@Test
	void structuresAreNotGrey() {
		double[][] normal = VISION.get("normal");
		for (Palette palette : List.of(Palette.LIGHT, Palette.DARK)) {
			HashSet<Integer> seen = new HashSet<>();
			for (int i = 0; i < 5000; i++) {
				String name = "array " + i;
				int color = palette.defaultStructure(name);
				seen.add(color);
				double[] lab = lab(color, normal);
				assertTrue(Math.hypot(lab[1], lab[2]) > LEAST_CHROMA, String.format("%s is grey: %08x", name, color));
				assertTrue(difference(color, palette.unknown(), normal) > LEAST_DIFFERENCE, String.format("%s is as unknown: %08x", name, color));
				assertTrue(difference(color, palette.strip(3), normal) > LEAST_DIFFERENCE, String.format("%s is as small ones: %08x", name, color));
			}
			assertEquals(60, seen.size(), "twelve hues in five shades");
			assertTrue(difference(palette.unknown(), palette.strip(3), normal) > 20);
		}
	}

	private static final double LEAST_CHROMA = 11;
	private static final double LEAST_DIFFERENCE = 10;
}
