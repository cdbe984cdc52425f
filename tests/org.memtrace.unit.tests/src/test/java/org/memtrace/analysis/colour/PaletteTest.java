// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.colour;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;

/** The colours are those in testdata/vectors/palette.csv, which the tests of the packages for Python and R read, too. */
class PaletteTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize();
	private static final Palette P = Palette.LIGHT;

	@Test
	void theFileOfColoursIsCurrent() throws Exception {
		List<String> lines = new ArrayList<>(List.of("what,name,colour"));
		lines.add(line("type", "Private_Read", P.color(new ModelType("Private_Read", Role.PRIVATE_READ, 0))));
		lines.add(line("type", "Private_Write", P.color(new ModelType("Private_Write", Role.PRIVATE_WRITE, 0))));
		lines.add(line("type", "Shared_Read", P.color(new ModelType("Shared_Read", Role.SHARED_READ, 0))));
		lines.add(line("type", "Shared_Write", P.color(new ModelType("Shared_Write", Role.SHARED_WRITE, 0))));
		lines.add(line("type", "NotKnown_Read", P.color(new ModelType("NotKnown_Read", Role.NOT_KNOWN_READ, 0))));
		lines.add(line("type", "NotKnown_Write", P.color(new ModelType("NotKnown_Write", Role.NOT_KNOWN_WRITE, 0))));
		lines.add(line("rw", "reads", P.color(new ModelType("Read", Role.READ, 0))));
		lines.add(line("rw", "writes", P.color(new ModelType("Write", Role.WRITE, 0))));
		lines.add(line("page", "behind", P.plotBackground()));
		lines.add(line("page", "muted", P.mutedText()));
		lines.add(line("page", "line", P.separator()));
		lines.add(line("thread", "-1", P.unknown()));
		for (int i = 0; i < 100; i++) {
			lines.add(line("thread", Integer.toString(i), P.color(new ModelType("t", Role.THREAD, i))));
		}
		List<String> names = new ArrayList<>(List.of("A", "B", "C", "key_buff1", "stack of thread 2 (matmul)",
				"\u00e4\u00df", "\ud83d\ude80 x", "\u6570"));
		IntStream.range(0, 300).forEach(i -> names.add(Integer.toString(i * i * 7919, 36)));
		assertEquals(Palette.STRUCTURES, names.stream().map(Palette::structurePlace).collect(Collectors.toSet()).size(), "each is there");
		names.forEach(n -> lines.add(line("structure", n, P.structure(n))));
		Path actual = ROOT.resolve("build/golden/palette.csv");
		Files.createDirectories(actual.getParent());
		Files.writeString(actual, String.join("\n", lines) + "\n");
		Path wanted = ROOT.resolve("testdata/vectors/palette.csv");
		assertEquals(Files.exists(wanted) ? Files.readString(wanted) : "", Files.readString(actual),
				"accept with: cp " + ROOT.relativize(actual) + " " + ROOT.relativize(wanted));
	}

	/** What each kind of eye makes of linear sRGB: normal, without red, without green (Machado, Oliveira, Fernandes 2009, severity 1). */
	private static final Map<String, double[][]> EYES = Map.of("normal", new double[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
			"protanopia", new double[][] {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
			"deuteranopia", new double[][] {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}});
	/** Plainly different at a glance; 2.3 is just seen. */
	private static final double PLAIN = 10;

	private static int seen(int argb, double[][] eye) {
		double[] linear = new double[3];
		for (int i = 0; i < 3; i++) {
			double c = (argb >> 16 - 8 * i & 0xff) / 255.0;
			linear[i] = c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
		}
		int result = 0xff;
		for (double[] row : eye) {
			double v = Math.max(0, Math.min(1, row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2]));
			result = result << 8 | (int) Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * Math.pow(v, 1 / 2.4) - 0.055));
		}
		return result;
	}

	/** How far apart the shades of two colours are at the least, for any eye, each with any intensity of these. */
	private static double apart(Palette p, int a, int b, double... intensities) {
		double least = Double.MAX_VALUE;
		for (double[][] eye : EYES.values()) {
			for (double i : intensities) {
				for (double j : intensities) {
					least = Math.min(least, Palette.difference(seen(p.shade(a, i), eye), seen(p.shade(b, j), eye)));
				}
			}
		}
		return least;
	}

	private static final double[] ALL = IntStream.rangeClosed(0, 20).mapToDouble(i -> i / 20.0).toArray();

	private static List<String> tooClose(Palette p, int[] colours, double... intensities) {
		List<String> close = new ArrayList<>();
		for (int a = 0; a < colours.length; a++) {
			for (int b = 0; b < a; b++) {
				double d = apart(p, colours[a], colours[b], intensities);
				if (d < PLAIN) {
					close.add("%s: %d and %d are %.1f apart".formatted(p.isDark() ? "dark" : "light", b, a, d));
				}
			}
		}
		return close;
	}

	private static int[] colours(Palette p, Role... roles) {
		return Arrays.stream(roles).mapToInt(r -> p.color(new ModelType("", r, 0))).toArray();
	}

	/** Neither a weak write and a strong read nor anything else is confused, by whatever eye. */
	@Test
	void typesAreToldApartAtAllIntensities() {
		for (Palette p : List.of(Palette.LIGHT, Palette.DARK)) {
			assertEquals(List.of(), tooClose(p, colours(p, Role.PRIVATE_READ, Role.PRIVATE_WRITE, Role.SHARED_READ, Role.SHARED_WRITE,
					Role.UNKNOWN), ALL));
			assertEquals(List.of(), tooClose(p, colours(p, Role.READ, Role.WRITE, Role.UNKNOWN), ALL));
			assertEquals(List.of(), tooClose(p, new int[] {p.local(), p.remote(), p.unknown()}, ALL));
			for (Role r : List.of(Role.PRIVATE_READ, Role.PRIVATE_WRITE, Role.SHARED_READ, Role.SHARED_WRITE, Role.READ, Role.WRITE)) {
				int weakest = p.shade(p.color(new ModelType("", r, 0)), 0);
				for (double[][] eye : EYES.values()) {
					double d = Palette.difference(seen(weakest, eye), seen(p.plotBackground(), eye));
					assertTrue(d >= PLAIN, r + " is seen where little happens: " + d);
				}
			}
		}
	}

	/** The dichromat's colours are a plane, so twelve cannot be apart at all pairs of intensities; the first four are. */
	@Test
	void threadsAreToldApart() {
		for (Palette p : List.of(Palette.LIGHT, Palette.DARK)) {
			int[] series = IntStream.range(0, 12).map(i -> p.color(new ModelType("t", Role.THREAD, i))).toArray();
			assertEquals(List.of(), tooClose(p, series, 1));
			assertEquals(List.of(), tooClose(p, Arrays.copyOf(series, 4), ALL));
		}
	}

	private static String line(String what, String name, int argb) {
		return what + "," + name + "," + "#%06x".formatted(argb & 0xffffff);
	}
}
