// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.analysis.find.AddressIndex.Block;
import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.find.FindHit.Memory;
import org.memtrace.analysis.find.FindHit.OfThread;
import org.memtrace.analysis.find.FindHit.Place;
import org.memtrace.analysis.source.RecordedCode;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CancelledException;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * What of a trace can be found by what a person types: structures and what else has a name in the tree, addresses, lines and functions of
 * the code that made accesses or allocated, threads. Made once; then a search takes the time of a pass over the names. One search at a
 * time.
 */
public final class TraceIndex {
	private static final int CHECK_EVERY = 0xfff;
	private static final int NONE = -1;

	private final ProducerTree tree;
	private final List<Structure> structures;
	private final List<ThreadInfo> threads;
	/** Producer of each entry of {@link #memory}; behind them come structures without one of their own. */
	private final int[] named;
	/** Blocks that have lived in one place after others of their name: the producer of the place is theirs. */
	private final int[] lived;
	/** The others: those that were never accessed. */
	private final int[] unused;
	/** Of each structure; {@link #NONE} when it was never accessed. */
	private final int[] producerOf;
	private final Lives lives;
	private final boolean severalImages;
	private final NameSearch memory;
	private final NameSearch threadNames;
	private final NameSearch functionNames;
	private final NameSearch lineNames;
	private final NameSearch fileNames;
	private final List<SourcePlace> functions;
	private final List<SourcePlace> lines;
	private final List<String> files;
	private final AddressIndex structureAddresses;
	/** Memory outside of all structures, by producer. */
	private final AddressIndex rangeAddresses;

	private TraceIndex(ProducerTree tree, List<Structure> structures, List<ThreadInfo> threads, CodePlaces code,
			Map<Integer, List<CallFrame>> stacks, Progress progress) throws CancelledException {
		this.tree = tree;
		this.structures = structures;
		this.threads = threads;
		producerOf = new int[structures.size()];
		Arrays.fill(producerOf, NONE);
		int[] ids = new int[16];
		int n = 0;
		List<Block> ranges = new ArrayList<>();
		for (int id = 0; id < tree.size(); id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
			}
			ProducerKind kind = tree.kind(id);
			if (!isNamed(id)) {
				continue;
			}
			if (n == ids.length) {
				ids = Arrays.copyOf(ids, 2 * n);
			}
			ids[n++] = id;
			int s = tree.structure(id);
			if (s >= 0 && s < producerOf.length && producerOf[s] == NONE && kind != ProducerKind.GROUP) {
				producerOf[s] = id;
			} else if (s < 0 && (kind == ProducerKind.RANGE || kind == ProducerKind.STACK)) {
				ranges.add(new Block(tree.startAddress(id), tree.endAddress(id), id));
			}
		}
		named = Arrays.copyOf(ids, n);
		lives = Lives.of(structures);
		lived = lived();
		unused = IntStream.range(0, producerOf.length).filter(s -> producerOf[s] == NONE).toArray();
		severalImages = structures.stream().mapToInt(Structure::image).distinct().limit(2).count() > 1;
		memory = new NameSearch(NameIndex.of(named.length + lived.length + unused.length, this::memoryName, progress), this::sizeBytes);
		threadNames = new NameSearch(NameIndex.of(threads.size(), i -> threadName(i) + " " + threadDetail(i), progress), i -> -i);
		structureAddresses = new AddressIndex(structures.stream().map(s -> new Block(s.startAddress(), s.endAddress(), s.id())).toList());
		rangeAddresses = new AddressIndex(ranges);
		Map<String, SourcePlace> everyFunction = new LinkedHashMap<>();
		Map<String, SourcePlace> everyLine = new LinkedHashMap<>();
		Map<String, Integer> frames = new HashMap<>();
		code.frames().forEach(f -> add(f, everyFunction, everyLine, frames));
		stacks.values().forEach(stack -> stack.forEach(f -> add(f, everyFunction, everyLine, frames)));
		sites(structures, stacks, everyLine, progress);
		functions = List.copyOf(everyFunction.values());
		lines = List.copyOf(everyLine.values());
		files = everyLine.values().stream().map(SourcePlace::file).distinct().toList();
		functionNames = new NameSearch(NameIndex.of(functions.size(), i -> functions.get(i).what(), progress),
				i -> frames.getOrDefault(key(functions.get(i).what(), functions.get(i).file()), 0));
		lineNames = new NameSearch(NameIndex.of(lines.size(), i -> lines.get(i).at() + " " + lines.get(i).file() + ":" + lines.get(i).line(),
				progress), i -> -i);
		fileNames = new NameSearch(NameIndex.of(files.size(), i -> fileName(i) + " " + files.get(i), progress), i -> -i);
	}

	/**
	 * Reads what is needed: of the store of virtual addresses, whose code and stacks they are.
	 *
	 * @param tree the tree that is shown, of this trace
	 */
	public static TraceIndex of(TraceStore store, ProducerTree tree, Progress progress) throws MemtraceException {
		List<Structure> structures = store.structures();
		progress.begin("Reading call stacks", structures.size());
		Map<Integer, List<CallFrame>> stacks = new HashMap<>();
		for (Structure s : structures) {
			if (s.stack() >= 0 && !stacks.containsKey(s.stack())) {
				progress.check();
				stacks.put(s.stack(), store.stack(s.stack()));
			}
			progress.worked(1);
		}
		return of(tree, structures, store.threads(), RecordedCode.of(store), stacks, progress);
	}

	/** @param stacks call stacks of the structures by their numbers, innermost frame first */
	static TraceIndex of(ProducerTree tree, List<Structure> structures, List<ThreadInfo> threads, CodePlaces code,
			Map<Integer, List<CallFrame>> stacks, Progress progress) throws CancelledException {
		return new TraceIndex(tree, structures, threads, code, stacks, progress);
	}

	private static String key(String function, String file) {
		return function + '\n' + file;
	}

	/** A function begins at the least of its lines that is known. */
	private static void add(CallFrame f, Map<String, SourcePlace> functions, Map<String, SourcePlace> lines,
			Map<String, Integer> frames) {
		if (!f.function().isEmpty()) {
			String key = key(f.function(), f.file());
			frames.merge(key, 1, Integer::sum);
			functions.merge(key, new SourcePlace(f.function(), f.file(), f.line()),
					(a, b) -> a.line() == 0 || b.line() > 0 && b.line() < a.line() ? b : a);
		}
		if (!f.file().isEmpty() && f.line() > 0) {
			lines.putIfAbsent(f.file() + ":" + f.line(), new SourcePlace(f.function(), f.file(), f.line()));
		}
	}

	/** The lines where structures are made, with the whole path where a frame of the allocation or any other of that file has it. */
	private static void sites(List<Structure> structures, Map<Integer, List<CallFrame>> stacks, Map<String, SourcePlace> lines,
			Progress progress) throws CancelledException {
		Map<String, String> paths = new HashMap<>();
		lines.values().forEach(p -> paths.putIfAbsent(p.fileName(), p.file()));
		Map<String, List<Structure>> bySite = new LinkedHashMap<>();
		for (Structure s : structures) {
			if ((s.id() & CHECK_EVERY) == 0) {
				progress.check();
			}
			if (!s.site().isEmpty()) {
				bySite.computeIfAbsent(s.site(), k -> new ArrayList<>(1)).add(s);
			}
		}
		for (List<Structure> made : bySite.values()) {
			Structure s = made.get(0);
			List<SourcePlace> places = SourcePlace.of(s, stacks.getOrDefault(s.stack(), List.of()), CodePlaces.NONE);
			if (!places.isEmpty()) {
				SourcePlace p = places.get(0);
				String path = p.file().indexOf('/') >= 0 ? p.file() : paths.getOrDefault(p.file(), p.file());
				String what = made.size() == 1 ? "makes " + s.name() : "makes " + Units.plural(made.size(), "structure");
				lines.merge(path + ":" + p.line(), new SourcePlace(what, path, p.line()),
						(known, one) -> new SourcePlace(known.what().isEmpty() ? what : known.what() + ", " + what, path, p.line()));
			}
		}
	}

	/** Gives blocks that have no producer of their own that of the place where they lived. */
	private int[] lived() {
		Map<Integer, List<Integer>> places = new HashMap<>();
		for (int id : named) {
			int s = tree.structure(id);
			if (s >= 0 && s < structures.size() && tree.kind(id) == ProducerKind.GROUP && (tree.isLeaf(id) || !isNamed(tree.firstChild(id)))) {
				places.computeIfAbsent(lives.first(s), k -> new ArrayList<>(1)).add(id);
			}
		}
		int[] found = new int[structures.size()];
		int n = 0;
		for (Structure s : structures) {
			for (int id : producerOf[s.id()] == NONE ? places.getOrDefault(lives.first(s.id()), List.of()) : List.<Integer>of()) {
				if (Long.compareUnsigned(tree.startAddress(id), s.startAddress()) <= 0
						&& Long.compareUnsigned(s.endAddress() - 1, tree.endAddress(id) - 1) <= 0) {
					producerOf[s.id()] = id;
					found[n++] = s.id();
					break;
				}
			}
		}
		return Arrays.copyOf(found, n);
	}

	private boolean isNamed(int producer) {
		return tree.kind(producer) != ProducerKind.PAGE && tree.kind(producer) != ProducerKind.PART;
	}

	private boolean isLife(int entry) {
		return entry >= named.length && entry < named.length + lived.length;
	}

	/** Of an entry without a producer of its own. */
	private int block(int entry) {
		return isLife(entry) ? lived[entry - named.length] : unused[entry - named.length - lived.length];
	}

	private boolean isBlocks(int entry) {
		return entry < named.length && tree.kind(named[entry]) == ProducerKind.GROUP;
	}

	private Structure structureOf(int entry) {
		int s = entry < named.length ? tree.structure(named[entry]) : block(entry);
		return s < 0 || s >= structures.size() ? null : isBlocks(entry) ? lives.asOne(s) : structures.get(s);
	}

	private String memoryName(int entry) {
		return entry < named.length ? tree.name(named[entry]) : blockName(block(entry));
	}

	/** Of a block: with its number, if there are several. */
	private String blockName(int structure) {
		Structure s = structures.get(structure);
		return lives.count(structure) > 1 ? s.plainName() + " #" + lives.number(structure) : s.name();
	}

	private double sizeBytes(int entry) {
		Structure s = structureOf(entry);
		if (isLife(entry)) {
			return 0; // behind the place where it lived
		}
		if (s != null) {
			return s.sizeBytes();
		}
		int id = named[entry];
		return tree.endAddress(id) - tree.startAddress(id);
	}

	private String threadName(int index) {
		return ModelText.thread(threads, index);
	}

	private String threadDetail(int index) {
		ThreadInfo t = threads.get(index);
		return "task " + t.taskId() + (t.startRoutine().isEmpty() ? "" : ", " + t.startRoutine()) + (t.main() ? ", main thread" : "");
	}

	private String fileName(int index) {
		return new SourcePlace("", files.get(index), 0).fileName();
	}

	/**
	 * Looks for what was typed.
	 *
	 * @param most hits of a kind at most; how many there are is told
	 */
	public Found find(FindQuery query, int most, Progress progress) throws CancelledException {
		if (query.isEmpty()) {
			return Found.NOTHING;
		}
		List<FindHit> hits = new ArrayList<>();
		Map<Kind, Integer> totals = new EnumMap<>(Kind.class);
		if (query.hasAddress()) {
			List<FindHit> at = at(query, most);
			hits.addAll(at);
			if (!at.isEmpty()) {
				totals.put(Kind.ADDRESS, at.size());
			}
		}
		if (!query.isAddress()) {
			add(memory.find(query.words(), most, progress), Kind.STRUCTURE, this::memoryHit, hits, totals);
			add(functionNames.find(query.words(), most, progress), Kind.FUNCTION, this::functionHit, hits, totals);
			add(lineNames.find(query.words(), most, progress), Kind.LINE, m -> lineHit(query.words(), m), hits, totals);
			if (query.file() != null) {
				otherLines(query, most, hits, totals, progress);
			}
			add(threadNames.find(query.words(), most, progress), Kind.THREAD, m -> threadHit(query.words(), m), hits, totals);
		}
		return new Found(hits, totals);
	}

	/** Makes a hit of a match. */
	private interface Maker {
		FindHit hit(NameSearch.Match match);
	}

	private static void add(NameSearch.Result result, Kind kind, Maker maker, List<FindHit> hits, Map<Kind, Integer> totals) {
		result.best().forEach(m -> hits.add(maker.hit(m)));
		if (result.total() > 0) {
			totals.merge(kind, result.total(), Integer::sum);
		}
	}

	private FindHit memoryHit(NameSearch.Match m) {
		Structure s = structureOf(m.index());
		boolean life = isLife(m.index());
		boolean used = life || m.index() < named.length;
		int producer = life ? producerOf[block(m.index())] : used ? named[m.index()] : NONE;
		return new FindHit(Kind.STRUCTURE, memoryName(m.index()), s != null ? detail(s, used) : detail(producer), m.rank(), m.weight(),
				new Memory(producer, producer, s == null || isBlocks(m.index()) ? NONE : s.id(), life));
	}

	private String detail(Structure s, boolean used) {
		List<String> parts = new ArrayList<>(List.of(s.kind().name().toLowerCase(Locale.ROOT), Units.bytes(s.sizeBytes())));
		if (!s.typeName().isEmpty()) {
			parts.add(s.typeName());
		}
		if (!s.site().isEmpty()) {
			parts.add(s.shortSite());
		}
		if (severalImages) {
			parts.add("process " + s.image());
		}
		if (!used && unused.length < structures.size()) { // else it is a tree without structures
			parts.add("no access was seen");
		}
		return String.join(", ", parts);
	}

	private String detail(int producer) {
		long bytes = tree.endAddress(producer) - tree.startAddress(producer);
		String kind = switch (tree.kind(producer)) {
		case RANGE -> "outside of all structures";
		case OTHER -> "event producer";
		default -> tree.kind(producer).name().toLowerCase(Locale.ROOT);
		};
		return tree.kind(producer) == ProducerKind.GROUP || bytes <= 0 ? kind : kind + ", " + Units.bytes(bytes);
	}

	private FindHit functionHit(NameSearch.Match m) {
		SourcePlace p = functions.get(m.index());
		return new FindHit(Kind.FUNCTION, p.what(), p.file().isEmpty() ? "no source is known" : p.at(), m.rank(), m.weight(), new Place(p));
	}

	private FindHit lineHit(List<String> words, NameSearch.Match m) {
		SourcePlace p = lines.get(m.index());
		return new FindHit(Kind.LINE, p.at(), p.what().isEmpty() ? p.file() : p.what() + ", " + p.file(), NameSearch.rank(p.at(), words, m),
				m.weight(), new Place(p));
	}

	private FindHit threadHit(List<String> words, NameSearch.Match m) {
		return new FindHit(Kind.THREAD, threadName(m.index()), threadDetail(m.index()), NameSearch.rank(threadName(m.index()), words, m),
				m.weight(), new OfThread(m.index()));
	}

	/** The line in files of that name of which nothing else is known. */
	private void otherLines(FindQuery query, int most, List<FindHit> hits, Map<Kind, Integer> totals, Progress progress)
			throws CancelledException {
		NameSearch.Result result = fileNames.find(List.of(query.file()), most, progress);
		for (NameSearch.Match m : result.best()) {
			String file = files.get(m.index());
			// a line that is known is there already
			if (lines.stream().noneMatch(p -> p.line() == query.line() && p.file().equals(file))) {
				SourcePlace p = new SourcePlace("", file, query.line());
				hits.add(new FindHit(Kind.LINE, p.at(), "no access or allocation of this line is known, " + file, NameIndex.PART, m.weight(),
						new Place(p)));
				totals.merge(Kind.LINE, 1, Integer::sum);
			}
		}
	}

	/** What is at an address, or the structures beside it. */
	private List<FindHit> at(FindQuery query, int most) {
		long address = query.address();
		int rank = query.isAddress() ? NameIndex.WHOLE : NameIndex.BEGINNING;
		List<FindHit> hits = new ArrayList<>();
		List<Block> in = structureAddresses.at(address);
		for (Block b : in) {
			Structure s = structures.get(b.id());
			int producer = producerOf[s.id()];
			int page = producer < 0 ? NONE : page(producer, address);
			String name = producer < 0 || tree.kind(producer) == ProducerKind.GROUP ? blockName(s.id()) : tree.name(producer);
			String where = String.format(Locale.ROOT, "%s + 0x%x", name, address - s.startAddress());
			String on = page < 0 || page == producer ? "" : tree.name(page) + ", ";
			hits.add(new FindHit(Kind.ADDRESS, where, on + detail(s, producer >= 0), rank, -hits.size(), new Memory(producer, page, s.id())));
		}
		for (Block b : rangeAddresses.at(address)) {
			hits.add(new FindHit(Kind.ADDRESS, String.format(Locale.ROOT, "%s + 0x%x", tree.name(b.id()), address - b.start()), detail(b.id()), rank,
					-hits.size(), new Memory(b.id(), page(b.id(), address), NONE)));
		}
		if (in.isEmpty()) {
			beside(structureAddresses.before(address), address, rank, hits);
			beside(structureAddresses.after(address), address, rank, hits);
		}
		return hits.subList(0, Math.min(most, hits.size()));
	}

	private void beside(Block b, long address, int rank, List<FindHit> hits) {
		if (b == null) {
			return;
		}
		Structure s = structures.get(b.id());
		boolean before = Long.compareUnsigned(b.start(), address) < 0;
		long gap = before ? address - b.end() : b.start() - address;
		int producer = producerOf[s.id()];
		String name = producer < 0 || tree.kind(producer) == ProducerKind.GROUP ? blockName(s.id()) : tree.name(producer);
		String where = before ? "between structures: " + name + " ends " + (gap == 0 ? "here" : Units.bytes(gap) + " before")
				: "between structures: " + name + " begins " + Units.bytes(gap) + " behind";
		hits.add(new FindHit(Kind.ADDRESS, where, detail(s, producer >= 0), rank, -hits.size(), new Memory(producer, producer, s.id())));
	}

	/** The smallest part of a producer that has an address. */
	private int page(int producer, long address) {
		int id = producer;
		for (int child = tree.firstChild(id); child >= 0;) {
			boolean in = Long.compareUnsigned(tree.startAddress(child), address) <= 0 && Long.compareUnsigned(address, tree.endAddress(child)) < 0;
			if (in) {
				id = child;
				child = tree.firstChild(id);
			} else {
				int next = tree.subtreeEnd(child);
				child = next < tree.subtreeEnd(id) ? next : NONE;
			}
		}
		return id;
	}
}
