// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.HashMap;
import java.util.Map;

import org.memtrace.analysis.text.FunctionNames;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;

/**
 * A place in the source of a program.
 *
 * @param function name of the function as it was written; empty when it is not known
 * @param file source file with its path
 * @param line line in it, 0 not known
 */
public record Place(String function, String file, int line) {
	/** "step (stencil.c:35)", as much of it as is known; without what C++ adds to the name of a function. */
	@Override
	public String toString() {
		String at = file.substring(file.lastIndexOf('/') + 1) + (line > 0 ? ":" + line : "");
		return function.isEmpty() ? at : FunctionNames.brief(function) + " (" + at + ")";
	}

	/** A function without what compilers add to the name of a part of it: the body of a parallel region, a copy, an unlikely part. */
	static String written(String function) {
		String name = function.replaceFirst("(\\.|\\s*\\[clone \\.)(_omp_fn|_omp_cpyfn|omp_outlined|constprop|isra|part|cold|lto_priv)([._\\]].*)?$", "");
		return name.equals("MAIN__") ? "main program" : name.replaceFirst("^__(\\w+)_MOD_(\\w+)$", "$1::$2");
	}

	/**
	 * The place with most: the function, and in it the line. Code without a source line is left out: nobody can change it there.
	 *
	 * @param image process image that the addresses are of
	 * @param least share of everything that its function must have
	 * @return null when no line is known, or the function has less
	 */
	static Place most(CodeCounts counts, CodePlaces code, int image, double least) {
		record Where(String function, String file) {
		}
		Map<Where, Double> functions = new HashMap<>();
		Map<Place, Double> lines = new HashMap<>();
		for (long address : counts.addresses()) {
			CallFrame f = frame(address, code, image);
			if (f != null && !f.file().isEmpty() && !f.object().contains("/libmemtrace-")) {	// what the recorder does is not the program's
				Place p = new Place(written(f.function()), f.file(), f.line());
				functions.merge(new Where(p.function, p.file), counts.of(address), Double::sum);
				lines.merge(p, counts.of(address), Double::sum);
			}
		}
		Where best = null;
		for (Map.Entry<Where, Double> e : functions.entrySet()) {
			if (best == null || e.getValue() > functions.get(best)
					|| e.getValue().equals(functions.get(best)) && e.getKey().toString().compareTo(best.toString()) < 0) {
				best = e.getKey();
			}
		}
		best = best != null && functions.get(best) < least * counts.all() ? null : best;
		Place line = null;
		for (Map.Entry<Place, Double> e : lines.entrySet()) {
			Place p = e.getKey();
			if (best != null && p.function.equals(best.function()) && p.file.equals(best.file())
					&& (line == null || e.getValue() > lines.get(line) || e.getValue().equals(lines.get(line)) && p.line < line.line)) {
				line = p;
			}
		}
		return line;
	}

	/** Share of everything that is in the function of a place. */
	static double share(Place place, CodeCounts counts, CodePlaces code, int image) {
		double sum = 0;
		for (long address : counts.addresses()) {
			CallFrame f = frame(address, code, image);
			sum += f != null && place.function.equals(written(f.function())) && place.file.equals(f.file()) ? counts.of(address) : 0;
		}
		return sum / Math.max(1, counts.all());
	}

	/** Share of everything that is in code without a source line: of libraries, or not known. */
	static double withoutLine(CodeCounts counts, CodePlaces code, int image) {
		double sum = 0;
		for (long address : counts.addresses()) {
			CallFrame f = frame(address, code, image);
			sum += f == null || f.file().isEmpty() ? counts.of(address) : 0;
		}
		return sum / Math.max(1, counts.all());
	}

	private static CallFrame frame(long address, CodePlaces code, int image) {
		int frame = code.of(image, address);
		return frame < 0 ? null : code.frames().get(frame);
	}
}
