// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.base;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/**
 * What is computed once from all accesses of a trace and saved with it. Each section is a {@link SavedNumbers} in the cache of the store;
 * it is read when it is needed. Sections of another content stamp are not used; one that is damaged is told, and then there are none. Safe
 * for all threads.
 */
public final class SavedSections {
	private static final String PREFIX = "pre-aggregates/";

	/** Reads a section. */
	public interface Reader<T> {
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
	public SavedSections(TraceStore store, String stamp, Consumer<String> told) {
		this.store = store;
		this.stamp = stamp;
		this.told = told;
	}

	/** Whether a section was found that is not what was written. */
	public synchronized boolean isDamaged() {
		return damaged;
	}

	/** A section, null when it is not there. */
	public synchronized <T> T get(String name, Reader<T> reader) {
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

	/** Keeps a section that was made, without saving it. */
	public synchronized void keep(String name, Object section) {
		sections.put(name, Optional.of(section));
	}

	/** Saves a section that was made; silently not done when the database cannot be written. */
	public synchronized void put(String name, Object section, SavedNumbers.Out out) throws MemtraceException {
		keep(name, section);
		store.writeCache(PREFIX + name, out.seal());
	}

	/** For the numbers of a section. */
	public SavedNumbers.Out out() {
		return new SavedNumbers.Out(stamp);
	}
}
