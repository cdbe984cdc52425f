// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.importer.tree.PageOwners;
import org.memtrace.model.CancelledException;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Row;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;

/**
 * The pages that a program touched in its last intervals, by structure and by thread, read from a trace directory while the recorder writes
 * it. The recorder does not know of it. Only whole intervals are told. Memory is bounded by the numbers below, however long the program
 * runs.
 *
 * <p>A page has the structure that lived there when the names were last looked for. Until names of a later time are there, the records of
 * an interval are kept; then the interval is counted again. Safe for several threads, one at a time.
 */
public final class LiveReader implements AutoCloseable {
	/** Intervals that are told when nothing else is asked for. */
	public static final int USUAL_INTERVALS = 60;
	/** Process images that are followed at a time. */
	static final int MOST_IMAGES = 32;
	/** Records that wait for the end of their interval or for names, of all images: 20 bytes each. */
	static final int MOST_RECORDS = 3 << 20;
	/** Cells of all rows and intervals. */
	private static final int MOST_CELLS = 400_000;
	private static final int UNKNOWN_ROW = 0;
	private static final int OTHER_ROW = 1;

	private record Key(int image, String name, String kind, String site) {
	}

	/** Numbers of rows in the order of their appearance. */
	private static final class Keys {
		private final Map<Key, Integer> numbers = new LinkedHashMap<>();

		Keys(String other) {
			numbers.put(new Key(-1, LivePages.UNKNOWN, "", ""), UNKNOWN_ROW);
			numbers.put(new Key(-1, other, "", ""), OTHER_ROW);
		}

		int number(Key key) {
			Integer known = numbers.get(key);
			if (known == null) {
				known = numbers.size() < IntervalRecords.MOST_ROWS ? numbers.size() : OTHER_ROW;
				if (known != OTHER_ROW) {
					numbers.put(key, known);
				}
			}
			return known;
		}
	}

	/** An interval that is told. */
	private static final class Told {
		final LiveImage.Interval interval;
		/** Null when they will not be counted again. */
		IntervalRecords records;
		Map<Integer, Cell> structures = Map.of();
		Map<Integer, Cell> threads = Map.of();

		Told(LiveImage.Interval interval) {
			this.interval = interval;
			records = interval.records();
		}

		int cells() {
			return structures.size() + threads.size();
		}
	}

	/** What is kept of a process image. */
	private static final class Followed {
		final LiveImage image;
		final Deque<Told> told = new ArrayDeque<>();
		LiveNames.Names names;
		PageOwners owners;

		Followed(LiveImage image) {
			this.image = image;
		}

		long endNs() {
			return told.isEmpty() ? Long.MIN_VALUE : told.getLast().interval.endNs();
		}
	}

	private final Path directory;
	private final int last;
	private final LiveNames names;
	private final Map<Path, Followed> images = new TreeMap<>();
	private final Set<Path> left = new HashSet<>();
	private final Keys structures = new Keys("other structures");
	private final Keys threads = new Keys("other threads");
	private int pageShift = -1;
	private long leftRecords;
	private long leftIntervals;
	private long originNs;
	private boolean closed;

	/**
	 * Begins to follow a recording; what was recorded before is told as far as it is in the last megabytes.
	 *
	 * @param directory trace directory; it need not exist yet
	 * @param launcher path of {@code memtrace}, which finds the structures; null when it is not here
	 * @param lastIntervals how many intervals of each process image are told, at least 1
	 */
	public LiveReader(Path directory, Path launcher, int lastIntervals) {
		this(directory, launcher, lastIntervals, System::nanoTime);
	}

	/** @param clockNs tells when names are due again */
	LiveReader(Path directory, Path launcher, int lastIntervals, LongSupplier clockNs) {
		if (lastIntervals < 1) {
			throw new IllegalArgumentException(lastIntervals + " intervals");
		}
		this.directory = directory;
		this.last = lastIntervals;
		this.names = new LiveNames(directory, launcher, clockNs);
	}

	/**
	 * Reads what is new. Takes milliseconds, more when the program touches very many pages.
	 *
	 * @throws MemtraceException when the directory is there and is no trace directory of a known version, or a file has another header
	 */
	public synchronized LivePages read() throws MemtraceException, InterruptedException {
		if (closed) {
			throw new CancelledException();
		}
		if (!Files.exists(directory.resolve("manifest.json"))) {
			return pages(LivePages.State.WAITING);
		}
		boolean ended = hasEnded();	// asked before the files are read: then nothing is missed
		if (pageShift < 0) {
			pageShift = Integer.numberOfTrailingZeros(TraceDirectory.open(directory).pageSizeBytes());
		}
		findImages();
		for (Followed f : images.values()) {
			for (LiveImage.Interval interval : f.image.read(MOST_RECORDS / images.size())) {
				if (interval.records().count() == 0 && interval.told() > 0) {
					leftIntervals++;
					continue;
				}
				leftRecords += Math.max(0, interval.told() - interval.records().count());
				Told t = new Told(interval);
				f.told.add(t);
				count(f, t);
				if (f.told.size() > last) {
					f.told.removeFirst();
				}
			}
		}
		rename();
		forget();
		ask();
		if (ended && images.values().stream().noneMatch(f -> f.image.isBehind())) {
			return pages(LivePages.State.ENDED);
		}
		return pages(anyTold() ? LivePages.State.RUNNING : LivePages.State.WAITING);
	}

	/** Waits until names that are looked for now are there; they are in the result of the next {@link #read}. */
	public void awaitNames() throws InterruptedException {
		names.await();
	}

	private boolean anyTold() {
		return images.values().stream().anyMatch(f -> !f.told.isEmpty());
	}

	private void findImages() {
		List<Path> found = new ArrayList<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "p[0-9]*")) {
			for (Path entry : entries) {
				if (TraceFolders.isImageName(entry.getFileName().toString()) && !images.containsKey(entry) && !left.contains(entry)) {
					found.add(entry);
				}
			}
		} catch (IOException e) {
			return; // removed, because the program could not be started
		}
		found.sort(null);
		for (Path image : found) {
			images.put(image, new Followed(new LiveImage(image, pageShift)));
			if (images.size() > MOST_IMAGES) {	// the one that was silent for the longest time
				Followed oldest = images.values().stream().filter(f -> !f.image.directory().equals(image))
						.min(Comparator.comparingLong(Followed::endNs)).orElseThrow();
				oldest.image.close();
				images.remove(oldest.image.directory());
				left.add(oldest.image.directory());
			}
		}
	}

	private void ask() {
		Map<Path, Long> known = new HashMap<>();
		long since = Long.MAX_VALUE;
		for (Followed f : images.values()) {
			if (!f.told.isEmpty()) {
				known.put(f.image.directory(), f.endNs());
				since = Math.min(since, f.told.getFirst().interval.startNs());
			}
		}
		names.ask(new LiveNames.Question(known, since));
	}

	/** Takes new names, and counts with them what has waited. */
	private void rename() {
		for (Map.Entry<Path, LiveNames.Names> known : names.names().entrySet()) {
			Followed f = images.get(known.getKey());
			if (f == null || f.names == known.getValue()) {
				continue;
			}
			if (f.names == null || f.names.structures() != known.getValue().structures()) {
				f.owners = new PageOwners(known.getValue().structures(), pageShift);
			}
			f.names = known.getValue();
			for (Told t : f.told) {
				if (t.records != null) {
					count(f, t);
					if (t.interval.endNs() <= f.names.untilNs()) {
						t.records = null;
					}
				}
			}
		}
	}

	/** Keeps to the bounds: the oldest intervals are no longer counted again, or no longer told. */
	private void forget() {
		long records = 0;
		long cells = 0;
		List<Told> all = new ArrayList<>();
		for (Followed f : images.values()) {
			all.addAll(f.told);
		}
		all.sort(Comparator.comparingLong(t -> -t.interval.startNs()));
		for (Told t : all) {
			records += t.records == null ? 0 : t.records.count();
			if (records > MOST_RECORDS) {
				t.records = null;
			}
			cells += t.cells();
			if (cells > MOST_CELLS) {
				t.structures = Map.of();
				t.threads = Map.of();
			}
		}
	}

	private void count(Followed f, Told t) {
		IntervalRecords records = t.records;
		LiveImage.Interval i = t.interval;
		IntUnaryOperator structure = k -> {
			Structure s = f.owners == null ? null : f.owners.find(records.address(k), i.startNs(), i.endNs(), records.firstNs(k));
			return s == null ? UNKNOWN_ROW
					: structures.number(new Key(f.image.index(), s.name(), s.kind().name().toLowerCase(Locale.ROOT), s.site()));
		};
		t.structures = records.byStructure(structure, pageShift, i.startNs(), i.endNs());
		t.threads = records.byThread(k -> records.thread(k) < 0 ? UNKNOWN_ROW
				: threads.number(new Key(f.image.index(), Long.toString(f.image.taskId(records.thread(k))), "", "")), pageShift, i.startNs(),
				i.endNs());
	}

	private LivePages pages(LivePages.State state) {
		long start = Long.MAX_VALUE;
		long end = Long.MIN_VALUE;
		long count = 0;
		boolean named = !images.isEmpty();
		for (Followed f : images.values()) {
			count = Math.max(count, f.image.lineCount());
			if (!f.told.isEmpty()) {
				start = Math.min(start, f.told.getFirst().interval.startNs());
				end = Math.max(end, f.endNs());
				named &= f.names != null;
			}
		}
		return new LivePages(state, originNs, Math.min(start, end == Long.MIN_VALUE ? 0 : end), Math.max(0, end), count, images.size(),
				rows(structures, true), rows(threads, false), named && end != Long.MIN_VALUE,
				new LivePages.Left(leftRecords, leftIntervals, left.size(), names.problem()));
	}

	/** Those that have cells. */
	private List<Row> rows(Keys keys, boolean ofStructures) {
		Map<Integer, List<Cell>> cells = new HashMap<>();
		Map<Integer, Cell> newest = new HashMap<>();
		for (Followed f : images.values()) {
			for (Told t : f.told) {
				(ofStructures ? t.structures : t.threads).forEach((row, cell) -> cells.computeIfAbsent(row, r -> new ArrayList<>()).add(cell));
			}
			if (!f.told.isEmpty()) {
				newest.putAll(ofStructures ? f.told.getLast().structures : f.told.getLast().threads);
			}
		}
		List<Row> rows = new ArrayList<>();
		keys.numbers.forEach((key, number) -> {
			List<Cell> of = cells.get(number);
			if (of != null) {
				of.sort(Comparator.comparingLong(Cell::startNs));
				rows.add(new Row(ofStructures ? key.name() : thread(key, number), key.kind(), key.site(), key.image(), List.copyOf(of),
						newest.get(number)));
			}
		});
		return rows;
	}

	private String thread(Key key, int number) {
		if (number == UNKNOWN_ROW) {
			return "no thread (kernel)";
		}
		if (number == OTHER_ROW) {
			return key.name();
		}
		ThreadInfo info = images.values().stream().filter(f -> f.image.index() == key.image() && f.names != null)
				.map(f -> f.names.threads().get(Long.parseLong(key.name()))).filter(t -> t != null).findFirst().orElse(null);
		String routine = info == null ? "" : info.main() ? "main thread" : info.startRoutine();
		return "thread " + key.name() + (routine.isEmpty() ? "" : " (" + routine + ")");
	}

	/** Whether the recorder has completed the trace, or neither it nor the program is there any more. */
	private boolean hasEnded() throws MemtraceException {
		Json manifest = Json.read(directory.resolve("manifest.json"), directory + "/manifest.json");
		originNs = manifest.object("clock").number("start_ns", 0);
		if (!manifest.object("status").text("state").equals("running")) {
			return true;
		}
		String boot = manifest.object("host").text("boot_id");
		long recorder = manifest.object("recorder").number("pid", -1);
		if (recorder <= 0 || !boot.equals(thisBoot()) || isAlive(recorder)) {
			return false;	// of another machine it is not known
		}
		for (Followed f : images.values()) {
			Path json = f.image.directory().resolve("image.json");
			if (Files.exists(json) && isAlive(Json.read(json, json.toString()).number("pid", -1))) {
				return false;	// the recorder was killed, the program goes on
			}
		}
		return !images.isEmpty();
	}

	private static boolean isAlive(long pid) {
		return pid > 0 && ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
	}

	private static String thisBoot() {
		try {
			return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
		} catch (IOException e) {
			return "";
		}
	}

	/** Ends it; a look that is under way comes to its end. Afterwards nothing new is read. */
	@Override
	public synchronized void close() {
		closed = true;
		names.close();
		images.values().forEach(f -> f.image.close());
	}
}
