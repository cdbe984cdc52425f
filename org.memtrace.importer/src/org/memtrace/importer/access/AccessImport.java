// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.Json;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.AccessParser;
import org.memtrace.importer.memtrace.CloseLookParser;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.FineParser;
import org.memtrace.importer.memtrace.FirstAccesses;
import org.memtrace.importer.memtrace.InstructionParser;
import org.memtrace.importer.memtrace.TickParser;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.moca.HistoricalContext;
import org.memtrace.importer.moca.MocaFramesocExport;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.rows.CpuSets;
import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.Pipeline;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.importer.rows.RowSorter;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.sharing.SharingEvidence;
import org.memtrace.importer.sharing.SharingStage;
import org.memtrace.importer.sharing.SharingSweep;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.importer.tree.StructureIndex;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.CloseLook;
import org.memtrace.model.CountUnit;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTree;

/**
 * Imports accesses, of a trace directory or of files that tell the same. One object for one import; the calling thread writes, a second
 * one parses. Whatever happens before the end, the store is left as it was. docs/how/import.md describes the rules.
 *
 * <p>First pass: parse, find the page and the structure of each row, find its sharing, keep the row in a compact form. Then the
 * tree of event producers is known, and the second pass writes the rows in order of time.
 */
public final class AccessImport {
	private static final int BATCHES = 6;
	private static final long HEAP_FOR_ROWS = 128L << 20;

	private final String source;
	private final ImportRequest.Target target;
	private final Path mocaFramesoc;
	private final String name;
	private final List<MergeRule> rules;
	private final int fanout;
	private final String incomplete;
	private final Path scratchDirectory;

	private final RowParser.Factory parsers;
	private final SkipCounter skips;
	private final long skippedRows;
	private final TraceDirectory trace;
	private ContextTables context;
	private final CloseLook.Builder closeLook = new CloseLook.Builder();
	private final InstructionCounts.Builder instructions = new InstructionCounts.Builder();
	private final Ticks.Builder ticks = new Ticks.Builder();
	private final FineParser.Builder fine = new FineParser.Builder();
	private final CpuSets cpuSets = new CpuSets();
	private final LongNumbers addresses = new LongNumbers();
	private final List<ImageData> images = new ArrayList<>();
	private ImportCounts counts;
	private MocaFramesocExport export;
	private SharedSegments shared = SharedSegments.NONE;
	/** Threads that are listed, of each image: the first, and the one after the last. */
	private final Map<Integer, int[]> listed = new LinkedHashMap<>();
	/** Of another division of the work, else null. */
	private Division division;

	/** Of the access files of memtrace; @param source the input, for messages */
	AccessImport(TraceDirectory trace, String source, ImportRequest request) {
		this(trace, source, request, AccessParser::new);
	}

	/**
	 * @param source the input, for messages
	 * @param parsers of its files with accesses
	 */
	AccessImport(TraceDirectory trace, String source, ImportRequest request, RowParser.Factory parsers) {
		this(trace, source, request, parsers, new SkipCounter(request.strict()), 0);
	}

	/**
	 * For files of another tool that were made access files.
	 *
	 * @param skips what was skipped before
	 * @param skippedRows how many rows those were
	 */
	public AccessImport(TraceDirectory trace, String source, ImportRequest request, SkipCounter skips, long skippedRows) {
		this(trace, source, request, AccessParser::new, skips, skippedRows);
	}

	private AccessImport(TraceDirectory trace, String source, ImportRequest request, RowParser.Factory parsers, SkipCounter skips,
			long skippedRows) {
		this.parsers = parsers;
		this.skips = skips;
		this.skippedRows = skippedRows;
		this.trace = trace;
		this.source = source;
		this.target = request.target();
		this.mocaFramesoc = request.mocaFramesoc();
		this.name = request.name();
		this.rules = request.rules();
		this.fanout = request.fanout();
		this.incomplete = request.incomplete();
		this.scratchDirectory = request.scratchDirectory();
	}

	private String source() {
		return source;
	}

	private void begin() {
		counts = new ImportCounts();
		counts.rows = skippedRows;
		counts.skipped = skippedRows;
		context = new ContextTables(skips, traceStartNs());
	}

	/** Reads everything, of which a part does what the division says; this has to be closed. */
	void read(Division what, Progress progress) throws MemtraceException {
		division = what;
		begin();
		firstPass(progress);
	}

	/** What is wrong with a trace without accesses. */
	TraceFormatException empty() {
		return new TraceFormatException(source(), 0, "has no accesses to import" + whyEmpty());
	}

	void close() {
		images.forEach(ImageData::close);
	}

	List<ImageData> images() {
		return images;
	}

	ContextTables context() {
		return context;
	}

	CpuSets cpuSets() {
		return cpuSets;
	}

	LongNumbers addresses() {
		return addresses;
	}

	ImportCounts counts() {
		return counts;
	}

	SharedSegments shared() {
		return shared;
	}

	int pageSizeBytes() {
		return trace.pageSizeBytes();
	}

	Map<Integer, int[]> listed() {
		return listed;
	}

	SkipCounter skips() {
		return skips;
	}

	/** Imports; may be called once. */
	public ImportReport call(Progress progress) throws MemtraceException {
		begin();
		try {
			if (mocaFramesoc != null) {
				export = new MocaFramesocExport(mocaFramesoc, scratchDirectory,
						Integer.numberOfTrailingZeros(trace.pageSizeBytes()),
						(int) trace.manifest().object("host").number("cpus_online", 0));
			}
			firstPass(progress);
			if (counts.imported == 0) {
				throw empty();
			}
			if (export != null) {
				export.write(cpuSets.sets(), progress);
			}
			for (ImageData image : images) {
				if (counts.unsorted.containsKey(image.index()) || shared.images().contains(image)) {
					sort(image, progress);
				} else {
					image.sharing().finish();
				}
			}
			tellThreads();
			ImportReport report = secondPass(this::writeAccesses, progress);
			if (export != null) {
				export.publish();
			}
			return report;
		} finally {
			if (export != null) {
				export.close();
			}
			images.forEach(ImageData::close);
		}
	}

	private ImportedTrace described() {
		return new ImportedTrace(trace, name, fanout, counts, context);
	}

	private long traceStartNs() {
		long start = trace.manifest().object("clock").number("start_ns", Long.MIN_VALUE);
		for (TraceDirectory.Image image : trace.images()) {
			long own = image.json().number("start_ns", Long.MIN_VALUE);
			own = own == Long.MIN_VALUE ? own : own + image.clockShiftNs();
			start = start == Long.MIN_VALUE || own != Long.MIN_VALUE && own < start ? own : start;
		}
		return Math.max(0, start);
	}

	private String whyEmpty() {
		if (skips.total() > 0) {
			return "; all " + counts.rows + " rows were skipped: " + skips.byReason();
		}
		for (TraceDirectory.Image image : trace.images()) {
			if (image.json().text("backend").equals("none")) {
				return "; the collector could not work: " + image.json().text("backend_message");
			}
		}
		return "";
	}

	/** What a trace lacks that was not completed; of a program that still runs there may be the structures of now. */
	private String missing() {
		List<TraceDirectory.Image> unfinished = trace.images().stream().filter(TraceDirectory.Image::unfinished).toList();
		return unfinished.isEmpty() ? "" : unfinished.stream().allMatch(TraceDirectory.Image::hasStructures) ? "call stacks are missing: "
				: "structures, call stacks and threads are missing: ";
	}

	private void firstPass(Progress progress) throws MemtraceException {
		progress.beginBytes("Reading accesses", totalBytes());
		RowSpill.Budget budget = new RowSpill.Budget(HEAP_FOR_ROWS);
		int pageShift = Integer.numberOfTrailingZeros(trace.pageSizeBytes());
		if (incomplete != null) {
			skips.warn(source() + ": " + missing() + incomplete);
		}
		List<ImageData> read = new ArrayList<>();
		for (TraceDirectory.Image image : trace.images()) {
			if (incomplete == null && image.unfinished()) {
				String what = image.hasStructures() ? "call stacks are missing, and structures are those of now, because the program still runs"
						: "structures are not resolved, because the recorder was killed or still runs";
				skips.warn(source() + ": " + what + "; run \"memtrace finish " + source() + "\" first");
			}
			int firstThread = context.threads().size();
			List<Structure> structures = image.directory() != null ? context.read(image)
					: HistoricalContext.read(image, trace.pageSizeBytes(), skips, context);
			listed.put(image.index(), new int[] { firstThread, context.threads().size() });
			if (image.directory() != null && (division == null || division.completes())) {
				new CloseLookParser().read(image, closeLook, skips, progress);
				InstructionParser.read(image, instructions, skips);
				TickParser.read(image, new StructureIndex(structures)::find, ticks, skips, progress);
				FineParser.read(image, fine, skips, progress);
			}
			List<ThreadInfo> lives = image.hasStructures() ? context.threads().subList(firstThread, context.threads().size()) : List.of();
			ImageData data = new ImageData(image, pageShift, structures, new RowSpill(scratchDirectory, budget),
					SharingEvidence.of(unit(), allThreads(), lives));
			images.add(data);
			read.add(data);
			if (!trace.isJob()) {
				readRows(data, progress);
			}
		}
		if (trace.isJob()) { // which memory the ranks share is known when all of them have told their mappings
			int next = trace.images().stream().mapToInt(TraceDirectory.Image::index).max().orElse(-1) + 1;
			shared = SharedSegments.of(trace, context, next, () -> new RowSpill(scratchDirectory, budget),
					SharingEvidence.ofAllProcesses(unit(), allThreads()));
			images.addAll(shared.images());
			for (ImageData data : read) {
				readRows(data, progress);
			}
			for (ImageData data : shared.images()) {
				if (division != null) {
					division.readShared(data);
				}
				data.rows().finish();
				data.leaves().freeCandidates();
			}
		}
	}

	/** Which threads the images have is known when all of their rows were read. */
	void tellThreads() throws MemtraceException {
		Map<Integer, List<ThreadInfo>> threads = context.threads().stream().collect(Collectors.groupingBy(ThreadInfo::image));
		for (ImageData image : images) {
			List<ThreadInfo> own = threads.getOrDefault(image.index(), List.of());
			image.sharing().threads(own.stream().map(ThreadInfo::index).toList());
			image.panel(own);
		}
	}

	private CountUnit unit() throws MemtraceException {
		Map<String, String> guarantee = new TreeMap<>();
		trace.manifest().object("backend").object("guarantee").primitives().forEach((key, value) -> guarantee.put("guarantee_" + key, value));
		return CountUnit.of(trace.manifest().text("trace_type"), guarantee);
	}

	/** Whether the recorder promises that no thread on a page is missing. */
	private boolean allThreads() throws MemtraceException {
		Json guarantee = trace.manifest().object("backend").object("guarantee");
		return guarantee.text("threads").equals("all") && guarantee.text("pages").equals("complete");
	}

	private void readRows(ImageData data, Progress progress) throws MemtraceException {
		if (division == null || !division.read(data)) {
			readImage(data, progress);
		}
		data.rows().finish();
		data.leaves().freeCandidates();
	}

	private long totalBytes() {
		long bytes = 0;
		for (TraceDirectory.Image image : trace.images()) {
			for (TraceDirectory.AccessFile chunk : image.chunks()) {
				bytes += chunk.input().size();
			}
		}
		return bytes;
	}

	private void readImage(ImageData data, Progress progress) throws MemtraceException {
		try (Pipeline<RowBatch> pipeline = new Pipeline<>("memtrace-parser", BATCHES, RowBatch::new,
				own -> parse(data.image(), division == null ? skips : division.skips(data.index()), own));
				SharingStage sharing = new SharingStage(data.sharing(), BATCHES, batch -> {
					batch.bytes = 0;
					batch.count = 0;
					pipeline.release(batch);
				})) {
			int pageShift = Integer.numberOfTrailingZeros(trace.pageSizeBytes());
			FirstPass pass = new FirstPass(data, shared, context, addresses, counts, pageShift,
					FirstAccesses.read(data.image(), pageShift, skips));
			for (RowBatch batch = pipeline.take(progress); batch != null; batch = pipeline.take(progress)) {
				pass.add(batch);
				if (export != null) {
					export.add(batch, data.index());
				}
				progress.worked(batch.bytes);
				if (division != null) { // it is found where all rows of a page are
					batch.sorted = 0;
				}
				sharing.add(batch, progress);
			}
			pass.end();
			sharing.finish(progress);
		}
	}

	private void parse(TraceDirectory.Image image, SkipCounter rowSkips, Pipeline<RowBatch> pipeline)
			throws MemtraceException, InterruptedException {
		RowParser parser = parsers.create(new RowParser.Context(cpuSets, rowSkips, Integer.numberOfTrailingZeros(trace.pageSizeBytes()),
				image.clockShiftNs(), pipeline::exchange));
		for (TraceDirectory.AccessFile chunk : image.chunks()) {
			try (CountedInput in = chunk.input().open()) {
				parser.parse(in.stream(), chunk.input().name(), chunk.format(), in::bytes);
			} catch (IOException e) {
				rowSkips.problem(chunk.input().name(), "cannot be read: " + e.getMessage());
			}
		}
		counts.files += image.chunks().size();
		counts.rows += parser.rows();
		counts.skipped += parser.skipped();
		counts.merged += parser.merged();
		if (parser.pagesRepeated()) {
			rowSkips.warn("the rows are not grouped by page; a segment that continues an earlier one may count again");
		}
		parser.finish();
	}

	/** Brings the rows of an image into the order of time, and finds their sharing anew. */
	void sort(ImageData data, Progress progress) throws MemtraceException {
		RowSpill sorted = new RowSorter(scratchDirectory, new RowSpill.Budget(HEAP_FOR_ROWS)).sort(data.rows(), progress);
		SharingSweep sharing = data.sorted(sorted);
		RowSpill.Cursor rows = sorted.read();
		for (long n = 0; rows.next(); n++) {
			sharing.add(data.leaves().sharingPage(rows.row.leaf), rows.row.thread, rows.row.startNs, rows.row.endNs, rows.row.reads,
					rows.row.writes, rows.row.flags);
			if (n % 8192 == 0) {
				progress.check();
			}
		}
		sharing.finish();
	}

	/** Writes all accesses. */
	interface Accesses {
		void write(TraceWriter writer, Progress progress) throws MemtraceException;
	}

	/** The trees, and the cells of all leaves. */
	CellOrder order(Progress progress) throws MemtraceException {
		long used = images.stream().filter(i -> i.rowCount() > 0).count();
		Map<Integer, String> labels = new TreeMap<>();
		List<MemoryArea> areas = new ArrayList<>();
		for (ImageData image : images) {
			if (image.rowCount() > 0) {
				areas.addAll(image.map().areas(image.index()));
				if (used > 1 || trace.isJob()) {
					labels.put(image.index(), imageLabel(image.image()));
				}
			}
		}
		return CellOrder.of(images, new MemoryLayout(PageCells.NONE, areas, labels, trace.pageSizeBytes(), fanout,
				rules.stream().map(MergeRule::toString).toList()), context, progress);
	}

	private ImportReport secondPass(Accesses accesses, Progress progress) throws MemtraceException {
		return write(order(progress), accesses, progress);
	}

	/** Writes the trace. */
	ImportReport write(CellOrder order, Accesses accesses, Progress progress) throws MemtraceException {
		ProducerTree tree = order.trees().virtual();
		try (TraceWriter writer = target.create(described().displayName())) {
			writer.threads(context.threads());
			writer.structures(context.structures());
			for (int stack = 0; stack < context.stacks().size(); stack++) {
				writer.stack(stack, context.stacks().get(stack));
			}
			writer.cpuSets(cpuSets.sets());
			writer.trees(order.layout(), order.trees());
			writer.intervals(context.intervals());
			writer.threadTimes(context.threadTimes());
			byte[] topology = trace.topology();
			if (topology != null) {
				writer.note(TraceStore.NOTE_TOPOLOGY, topology);
			}
			CodePlaces code = context.code();
			if (!code.isEmpty()) {
				writer.note(TraceStore.NOTE_CODE, code.toBytes());
			}
			if (division == null) {
				writer.expect(counts.imported);
			}
			Regions regions = context.regions(Math.max(counts.lastNs, trace.manifest().object("clock").number("end_ns", counts.lastNs)));
			if (!regions.isEmpty()) {
				writer.note(Regions.NOTE, regions.toBytes());
			}
			CloseLook look = closeLook.build();
			if (!look.isEmpty()) {
				writer.note(CloseLook.NOTE, look.toBytes());
			}
			InstructionCounts counted = instructions.build();
			if (!counted.isEmpty()) {
				writer.note(InstructionCounts.NOTE, counted.toBytes());
			}
			Ticks clock = ticks.build();
			if (!clock.isEmpty()) {
				writer.note(Ticks.NOTE, clock.toBytes());
			}
			FineCounts bins = fine.build();
			if (!bins.isEmpty()) {
				writer.note(FineCounts.NOTE, bins.toBytes());
			}
			accesses.write(writer, progress);
			if (counts.writtenReads != counts.reads || counts.writtenWrites != counts.writes
					|| counts.written != counts.imported) {
				throw new StoreException(String.format(Locale.ROOT,
						"import of %s went wrong: %d rows with %d reads and %d writes were read, but %d with %d and %d"
								+ " were written; please report this",
						source(), counts.imported, counts.reads, counts.writes, counts.written, counts.writtenReads,
						counts.writtenWrites));
			}
			TraceInfo described = described().info();
			ImportReport report = AccessReport.of(trace, context, skips, counts, tree, order.layout().cells(),
					shared.count() > 0 ? sharedText() : "", described.counts());
			TraceInfo info = writer.commit(described, report.toJson(), progress);
			return report.stored(info);
		}
	}

	private void writeAccesses(TraceWriter writer, Progress progress) throws MemtraceException {
		progress.begin("Writing accesses", counts.imported);
		List<ImageData> withRows = images.stream().filter(i -> i.rows().rows() > 0).toList();
		try (Pipeline<AccessBatch> pipeline = new Pipeline<>("memtrace-merge", BATCHES,
				() -> new AccessBatch(RowBatch.CAPACITY), own -> new RowMerge(addresses, counts, own).run(withRows))) {
			for (AccessBatch batch = pipeline.take(progress); batch != null; batch = pipeline.take(progress)) {
				writer.accesses(batch);
				counts.written(batch);
				progress.worked(batch.count);
				batch.count = 0;
				pipeline.release(batch);
			}
		}
	}

	/** What of the memory that ranks share is one memory here. */
	private String sharedText() {
		long rows = shared.images().stream().mapToLong(ImageData::rowCount).sum();
		return String.format(Locale.ROOT, "%,d %s of shared memory, mapped by several processes of a machine, %s one memory here; %,d records"
				+ " are of it", shared.count(), shared.count() == 1 ? "segment" : "segments", shared.count() == 1 ? "is" : "are", rows);
	}

	/** The levels above the memory of an image, as {@link MemoryLayout#images()} has them. */
	private String imageLabel(TraceDirectory.Image image) {
		if (image.rank() != null && image.rank().number() < 0) {
			return "node " + image.rank().host() + MemoryLayout.LEVEL + "shared memory of " + image.rank().host();
		} else if (image.rank() != null) {
			return "node " + image.rank().host() + MemoryLayout.LEVEL + "rank " + image.rank().number() + MemoryLayout.LEVEL
					+ processLabel(image);
		}
		return processLabel(image);
	}

	private String processLabel(TraceDirectory.Image image) {
		String executable = image.json().text("executable");
		long pid = image.json().number("pid", -1);
		return String.format(Locale.ROOT, "p%04d %s%s", image.index(),
				executable.substring(executable.lastIndexOf('/') + 1), pid >= 0 ? " (process " + pid + ")" : "").strip();
	}
}
