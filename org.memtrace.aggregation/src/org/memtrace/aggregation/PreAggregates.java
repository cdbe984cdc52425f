// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/**
 * What is computed once from all accesses of a trace and saved with it, so that sums and first pictures need not read the accesses: facts
 * about all of them, when how much happened, an {@link AccessCube}, who touched pages first, and of traces with many pages the models of
 * the first pictures. Each of these is a section, a
 * {@link SavedNumbers} in the cache of the store; a section is read when it is needed. All answers are the same with and without. Sections
 * of another content stamp are not used; one that is damaged is told, and then there are none. Safe for all threads.
 */
final class PreAggregates {
	/** Traces with fewer accesses are looked at as fast without, so they get none when they have none. */
	static final long LEAST_ACCESSES = 1_000_000;
	private static final String PREFIX = "pre-aggregates/";
	static final String FACTS = "facts";
	static final String TOTALS = "totals";
	static final String CUBE = "cube";
	static final String TOUCHES = "touches";
	static final String PICTURE = "picture";

	/**
	 * Facts about all accesses.
	 *
	 * @param maxNode largest NUMA node, -1 if none
	 * @param maxSharing largest number of threads on a page, -1 if there are no accesses
	 * @param inner producers with accesses of their own that have others below them
	 * @param times all times, null when they are more than {@link TimeDensity#GRID}
	 */
	record Facts(int maxNode, int maxSharing, BitSet inner, AccessTimes times, TimeDensity density) {
	}

	/** Reads a section. */
	private interface Reader<T> {
		T read(SavedNumbers.In in) throws SavedNumbers.Damaged;
	}

	private final TraceStore store;
	private final String stamp;
	private final Consumer<String> told;
	/** Sections that were read or made; empty for one that is not there. */
	private final Map<String, Optional<?>> sections = new HashMap<>();
	private boolean damaged;

	/**
	 * Nothing is read yet.
	 *
	 * @param stamp of the content of the store
	 * @param told gets a sentence when something is damaged
	 */
	PreAggregates(TraceStore store, String stamp, Consumer<String> told) {
		this.store = store;
		this.stamp = stamp;
		this.told = told;
	}

	/** Whether a section was found that is not what was written. */
	synchronized boolean isDamaged() {
		return damaged;
	}

	private synchronized <T> T section(String name, Reader<T> reader) {
		Optional<?> known = sections.get(name);
		if (known == null) {
			known = Optional.ofNullable(damaged ? null : read(name, reader));
			sections.put(name, known);
		}
		@SuppressWarnings("unchecked")
		T section = (T) known.orElse(null);
		return section;
	}

	private <T> T read(String name, Reader<T> reader) {
		String reason;
		try {
			Optional<byte[]> saved = store.readCache(PREFIX + name);
			if (saved.isEmpty()) {
				return null;
			}
			SavedNumbers.In in = SavedNumbers.open(saved.get(), stamp);
			if (in == null) {
				return null;
			}
			T section = reader.read(in);
			in.end();
			return section;
		} catch (SavedNumbers.Damaged e) {
			reason = e.getMessage();
		} catch (MemtraceException e) {
			reason = e.getMessage();
		} catch (IndexOutOfBoundsException | NegativeArraySizeException | IllegalArgumentException | ArithmeticException e) {
			reason = "they do not fit together";
		}
		damaged = true;
		sections.replaceAll((n, s) -> Optional.empty());
		told.accept("The sums that are saved with " + store.info().alias() + " are damaged (" + name + ": " + reason
				+ "); all accesses are read instead");
		return null;
	}

	/** Saves a section that was made; silently not done when the database cannot be written. */
	private synchronized void put(String name, Object section, SavedNumbers.Out out) throws MemtraceException {
		sections.put(name, Optional.of(section));
		store.writeCache(PREFIX + name, out.seal());
	}

	private SavedNumbers.Out out() {
		return new SavedNumbers.Out(stamp);
	}

	/** Null when they are not there, as with the other sections. */
	Facts facts() {
		return section(FACTS, in -> {
			int maxNode = (int) in.signed();
			int maxSharing = (int) in.signed();
			BitSet inner = BitSet.valueOf(in.unsignedLongs());
			AccessTimes times = in.unsigned() == 1 ? new AccessTimes(in.deltaLongs(), in.deltaLongs()) : null;
			return new Facts(maxNode, maxSharing, inner, times, TimeDensity.read(in));
		});
	}

	void put(Facts facts) throws MemtraceException {
		long[] inner = facts.inner.toLongArray();
		SavedNumbers.Out out = out().signed(facts.maxNode).signed(facts.maxSharing).unsigned(inner, inner.length).unsigned(facts.times == null ? 0
				: 1);
		if (facts.times != null) {
			facts.times.write(out);
		}
		facts.density.write(out);
		put(FACTS, facts, out);
	}

	/** Sums over all of the time. */
	AccessCube totals() {
		return section(TOTALS, AccessCube::read);
	}

	/** Sums by cells of time. */
	AccessCube cube() {
		return section(CUBE, AccessCube::read);
	}

	void put(AccessCube cube) throws MemtraceException {
		put(CUBE, cube);
		put(TOTALS, cube.totals());
	}

	private void put(String name, AccessCube cube) throws MemtraceException {
		SavedNumbers.Out out = out();
		cube.write(out);
		put(name, cube, out);
	}

	FirstTouches touches() {
		Facts facts = facts();
		return facts == null ? null : section(TOUCHES, in -> FirstTouches.read(in, facts.times));
	}

	/**
	 * The model of the first picture ({@link ModelRequest#firstPicture}) by some dimension; null when it is not there, or was
	 * made with other types.
	 *
	 * @param hierarchy the whole tree, grouped
	 * @param types all types of the viewpoint, before those without values are removed
	 */
	MicroscopicModel picture(Hierarchy hierarchy, List<ModelType> types, ModelRequest request) {
		MicroscopicModel model = section(picture(request), in -> {
			if (request.viewpoint() == BasicDimensions.TYPE) {
				return MicroscopicModel.read(in, hierarchy, types, request.metric(), request.viewpoint());
			}
			boolean known = in.signed() == hash(types);
			int[] kept = in.deltaInts();
			if (!known || Arrays.stream(kept).anyMatch(k -> k < 0 || k >= types.size())) {
				throw new SavedNumbers.Damaged("its types are not those of the trace");
			}
			return MicroscopicModel.read(in, hierarchy, Arrays.stream(kept).mapToObj(types::get).toList(), request.metric(), request.viewpoint());
		});
		// two dimensions can have one id: what is asked decides how structures are divided
		return model == null || model.viewpoint() != request.viewpoint() ? null : model;
	}

	/** Whether the first picture by this dimension may be saved: nothing but the accesses and their tables decides about its values. */
	static boolean savesPicture(Dimension viewpoint) {
		return viewpoint == BasicDimensions.TYPE || viewpoint.isOfSums() && viewpoint.can(Dimension.Use.COLOUR)
				&& viewpoint.columns().stream().noneMatch(c -> c == org.memtrace.model.columns.AccessColumn.TIME);
	}

	private static String picture(ModelRequest request) {
		return request.viewpoint() == BasicDimensions.TYPE ? PICTURE : PICTURE + "-" + request.viewpoint().id();
	}

	private static long hash(List<ModelType> types) {
		long hash = types.size();
		for (ModelType type : types) {
			hash = hash * 0x9e3779b97f4a7c15L + type.name().hashCode();
		}
		return hash;
	}

	/** @param types all types of the viewpoint, among them those of the model in the same order */
	void putPicture(MicroscopicModel model, List<ModelType> types, ModelRequest request) throws MemtraceException {
		SavedNumbers.Out out = out();
		if (request.viewpoint() != BasicDimensions.TYPE) {
			int[] kept = model.types().stream().mapToInt(types::indexOf).toArray();
			if (Arrays.stream(kept).anyMatch(k -> k < 0)) {
				return; // nothing has a value
			}
			out.signed(hash(types)).deltas(kept, kept.length);
		}
		model.write(out);
		put(picture(request), model, out);
	}

	void put(FirstTouches touches, AccessTimes times) throws MemtraceException {
		SavedNumbers.Out out = out();
		touches.write(out, times);
		put(TOUCHES, touches, out);
	}
}
