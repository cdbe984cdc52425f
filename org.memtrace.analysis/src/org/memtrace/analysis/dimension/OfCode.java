// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.TraceStore;

/**
 * Where the code is that made the accesses: of the code address that a record keeps, which is that of one of its accesses. Not known in
 * traces that were imported before there was a table of addresses.
 */
final class OfCode extends Dimension {
	/** Program or library. */
	static final Dimension OBJECT = new OfCode("object", "Library", "Libraries",
			"Program or library of the code that made one of the accesses", f -> base(f.object()));
	/** Function; code without names is that of its library. */
	static final Dimension FUNCTION = new OfCode("function", "Function", "Functions", "Function that made one of the accesses",
			f -> !f.function().isEmpty() ? f.function() : f.object().isEmpty() ? "" : "[" + base(f.object()) + "]");
	/** Source line. */
	static final Dimension SOURCE = new OfCode("source", "Source line", "Source lines",
			"Source line of the code that made one of the accesses",
			f -> f.file().isEmpty() ? "" : f.line() > 0 ? f.file() + ":" + f.line() : f.file());

	private final Function<CallFrame, String> text;

	private OfCode(String id, String title, String choice, String meaning, Function<CallFrame, String> text) {
		super(id, title, choice, Type.TEXT, meaning, Use.ALL);
		this.text = text;
	}

	private static String base(String path) {
		return path.substring(path.lastIndexOf('/') + 1);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.IP, AccessColumn.THREAD);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		byte[] note = table.store().readNote(TraceStore.NOTE_CODE).orElse(null);
		CodePlaces code = note == null ? CodePlaces.NONE : CodePlaces.of(note);
		int[] images = table.threads().stream().mapToInt(t -> t.image()).toArray();
		List<String> names = new ArrayList<>();
		Map<String, Integer> index = new HashMap<>();
		int[] valueOf = code.frames().stream().mapToInt(f -> {
			String name = text.apply(f);
			return name.isEmpty() ? -1 : index.computeIfAbsent(name, n -> {
				names.add(n);
				return names.size() - 1;
			});
		}).toArray();
		return new NamedValues(names) {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				long lastIp = 0;
				int lastImage = -1;
				long last = UNKNOWN;
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					int thread = c.thread[row];
					int image = thread < 0 || thread >= images.length ? -1 : images[thread];
					if (c.ip[row] != lastIp || image != lastImage) {
						lastIp = c.ip[row];
						lastImage = image;
						int frame = lastIp == 0 ? -1 : code.of(image, lastIp);
						last = frame < 0 ? UNKNOWN : valueOf[frame];
					}
					out[row] = last;
				}
			}
		};
	}
}
