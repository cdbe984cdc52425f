// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.TreeSet;

import org.memtrace.analysis.source.Instructions;
import org.memtrace.analysis.source.TickShares;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CloseLook;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.InstructionCounts.Reach;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * A table of what a trace holds beside its accesses, with the same columns in {@code query}, in Parquet folders and in the documentation.
 *
 * @param name name of the table
 * @param meaning what a row is, within a sentence
 * @param source gives the rows; null for a table that a question makes
 */
public record TraceTable(String name, String meaning, List<Column> columns, Source source) {
	/** Gives the rows of a table. */
	@FunctionalInterface
	public interface Source {
		/**
		 * Gives all rows.
		 *
		 * @param query the part of the memory that is wanted, for producers
		 */
		void rows(TraceStore store, AccessQuery query, RowVisitor visitor, Progress progress) throws MemtraceException;
	}

	/** Gets rows. */
	@FunctionalInterface
	public interface RowVisitor {
		/** Gets a row: for each column a {@link Number}, a text, or null for what is not known; an address is a {@link Long}. */
		void row(Object... values) throws MemtraceException;
	}

	/** Data structures, stacks of threads and other pieces of memory with a name. */
	public static final TraceTable STRUCTURES = new TraceTable("structures",
			"a data structure, a stack or another piece of memory with a name",
			List.of(Column.number("id", "Structure number", "number of the structure"),
			Column.number("image", "Image", "number of the process image"),
					Column.text("kind", "Kind", "static, heap, mmap, stack, brk or file"), Column.text("name", "Name", "what a person calls it; of several with one name the tree of memory numbers all but the first"),
					Column.address("start", "Start", "first address"), Column.address("end", "End", "address after the last"),
					Column.number("size_bytes", "Size", "end - start"), Column.number("birth_ns", "Birth", "begin of its life, in the clock of the trace"),
					Column.number("death_ns", "Death", "end of its life; not known: it lived to the end of the trace"),
					Column.number("task", "Task", "thread that allocated it; of a stack the thread whose stack it is"),
					Column.number("stack", "Stack", "where it was allocated, in the table of stacks"),
					Column.text("site", "Site", "source line where it was allocated or defined"),
					Column.text("type_name", "Type", "its type as it is declared; of a block the elements and their number, if the variable to which it was assigned tells"),
					Column.number("huge_bytes", "Huge pages wanted", "bytes that the program wanted in huge pages (MADV_HUGEPAGE) at the end of its life"),
					Column.number("no_huge_bytes", "Huge pages refused", "bytes that it wanted in small pages only (MADV_NOHUGEPAGE)")),
			(store, query, visitor, progress) -> {
				for (Structure s : store.structures()) {
					visitor.row(s.id(), s.image(), lower(s.kind()), known(s.name()), s.startAddress(), s.endAddress(), s.sizeBytes(), s.birthNs(),
							end(s.deathNs()), known(s.taskId()), known(s.stack()), known(s.site()), known(s.typeName()),
							known(s.hugeBytes()), known(s.noHugeBytes()));
				}
			});

	/** The call stacks that structures refer to, innermost frame first. */
	public static final TraceTable STACKS = new TraceTable("stacks", "a frame of a call stack that a structure refers to, the innermost first",
			List.of(Column.number("stack", "Stack", "number of the call stack"), Column.number("depth", "Depth", "0 is the innermost frame"),
					Column.address("ip", "Code", "return address"), Column.text("object", "Object", "file of the code"),
					Column.text("function", "Function", "name of the function"), Column.text("file", "File", "source file"),
					Column.number("line", "Line", "line in the source file")),
			(store, query, visitor, progress) -> {
				TreeSet<Integer> ids = new TreeSet<>();
				store.structures().stream().map(Structure::stack).filter(id -> id >= 0).forEach(ids::add);
				for (int id : ids) {
					int depth = 0;
					for (CallFrame f : store.stack(id)) {
						visitor.row(id, depth++, f.ip() == 0 ? null : f.ip(), known(f.object()), known(f.function()), known(f.file()),
								f.line() == 0 ? null : f.line());
					}
				}
			});

	/** Threads. */
	public static final TraceTable THREADS = new TraceTable("threads", "a thread",
			List.of(Column.number("index", "Thread number", "number of the thread"), Column.number("image", "Image", "number of the process image"),
					Column.number("task", "Task", "id that the operating system gives the thread"),
					Column.text("name", "Name", "its name, or that of the program"),
					Column.number("birth_ns", "Birth", "its begin, in the clock of the trace"),
					Column.number("death_ns", "Death", "its end; not known: alive at the end of the trace"),
					Column.text("start_routine", "Start routine", "function that it began with"),
					Column.number("main", "Main", "1: main thread of its image; 0: another one"),
					Column.number("cpu_ns", "CPU time", "time that it ran on a CPU, if the recorder could tell")),
			(store, query, visitor, progress) -> {
				ThreadTimes times = store.threadTimes();
				for (ThreadInfo t : store.threads()) {
					visitor.row(t.index(), t.image(), t.taskId(), known(t.name()), t.birthNs(), end(t.deathNs()), known(t.startRoutine()),
							t.main() ? 1 : 0, known(times.total(t.index())));
				}
			});

	/** Monitoring intervals. */
	public static final TraceTable INTERVALS = new TraceTable("intervals", "a monitoring interval of a process image",
			List.of(Column.number("image", "Image", "number of the process image"),
					Column.number("start_ns", "Start", "begin of the monitoring interval, in the clock of the trace"),
					Column.number("end_ns", "End", "its end"), Column.number("target_ns", "Target", "length that was in force"),
					Column.number("faults", "Faults", "accesses seen"), Column.number("lost", "Lost", "accesses known to be lost"),
					Column.number("unattributed", "Unattributed", "pages without a thread"),
					Column.text("event", "Event", "what happened"),
					Column.number("closed_ns", "Closed", "when all pages were closed: what it tells happened before this time"),
					Column.number("subphases", "Subphases", "how often it was looked for further threads and for writes"),
					Column.number("records", "Records", "number of records that were written"),
					Column.number("accesses", "Accesses", "accesses of the program, where all were counted"),
					Column.number("resident_bytes", "Resident", "memory that was resident at its end, as far as the recorder sees it"),
					Column.number("unseen_shared_bytes", "Unseen shared memory", "shared memory that the recorder did not see"),
					Column.number("unseen_file_bytes", "Unseen files",
							"written pages of private file mappings that the recorder did not see"),
					Column.number("program_cpu_ns", "CPU time of program", "CPU time that the program used"),
					Column.number("monitor_cpu_ns", "CPU time of recorder", "CPU time that the recorder used in the process"),
					Column.number("scan_ns", "Scan", "time in which the recorder looked for used pages"),
					Column.number("zap_ns", "Closing", "time in which it closed pages")),
			(store, query, visitor, progress) -> {
				for (Interval i : store.intervals()) {
					Interval.Measured m = i.measured();
					visitor.row(i.image(), i.startNs(), i.endNs(), i.targetNs(), i.faults(), i.lost(), i.unattributed(), known(i.event()),
							known(m.closedNs()), known(m.subphases()), known(m.records()), known(m.accesses()), known(m.residentBytes()),
							known(m.unseenSharedBytes()), known(m.unseenFileBytes()), known(m.programCpuNs()), known(m.monitorCpuNs()),
							known(m.scanNs()), known(m.zapNs()));
				}
			});

	/** Regions of the program. */
	public static final TraceTable REGIONS = new TraceTable("regions", "a time that a thread was in a region that the program named, or in a state of a joined trace",
			List.of(Column.number("image", "Image", "number of the process image"),
					Column.number("task", "Task", "id that the operating system gives the thread"), Column.text("name", "Name", "name of the region"),
					Column.number("start_ns", "Start", "its begin, in the clock of the trace"), Column.number("end_ns", "End", "its end")),
			(store, query, visitor, progress) -> {
				byte[] note = store.readNote(Regions.NOTE).orElse(null);
				for (Regions.Region r : (note == null ? Regions.NONE : Regions.parse(note)).all()) {
					visitor.row(r.image(), r.taskId(), r.name(), r.fromNs(), r.toNs());
				}
			});

	/** What record --zoom saw. */
	public static final TraceTable LINES = new TraceTable("lines", "what a thread did in four bytes of a cache line that `record --zoom` looked at",
			List.of(Column.number("image", "Image", "number of the process image"),
					Column.address("line", "Line", "first byte of the cache line"),
					Column.number("offset", "Offset", "of the four bytes in the line"),
					Column.number("task", "Task", "id that the operating system gives the thread"),
					Column.number("reads", "Reads", "samples that read"), Column.number("writes", "Writes", "samples that wrote"),
					Column.number("line_samples", "Samples of line", "samples of the whole line"),
					Column.number("line_handovers", "Hand-overs", "samples of the line that follow one of another thread, where one of the two wrote"),
					Column.number("start_ns", "Start", "first sample of the line, in the clock of the trace"),
					Column.number("end_ns", "End", "last sample of the line")),
			(store, query, visitor, progress) -> {
				byte[] note = store.readNote(CloseLook.NOTE).orElse(null);
				for (CloseLook.Line l : (note == null ? CloseLook.NONE : CloseLook.parse(note)).lines()) {
					for (CloseLook.Use u : l.uses()) {
						visitor.row(l.image(), l.address(), u.offset(), u.taskId(), u.reads(), u.writes(), l.samples(), l.handOvers(), l.fromNs(),
								l.toNs());
					}
				}
			});

	/** What record --instructions counted. */
	public static final TraceTable INSTRUCTIONS = new TraceTable("instructions",
			"what an instruction did in one direction, in all threads, as `record --instructions` counted it",
			ofInstructions(Column.number("threads", "Threads", "number of threads that ran it")), (store, query, visitor, progress) -> {
				for (Instructions.Row r : Instructions.of(store, false)) {
					visitor.row(instruction(r, r.threads()));
				}
			});

	/** The same by thread. */
	public static final TraceTable THREAD_INSTRUCTIONS = new TraceTable("thread_instructions",
			"what an instruction did in one direction in a thread, as `record --instructions` counted it",
			ofInstructions(Column.number("task", "Task", "id that the operating system gives the thread")), (store, query, visitor, progress) -> {
				for (Instructions.Row r : Instructions.of(store, true)) {
					visitor.row(instruction(r, r.use().taskId()));
				}
			});

	/** Where the CPU time goes. */
	public static final TraceTable TICKS = new TraceTable("ticks",
			"ticks of the CPU clock of a thread at a source line that access one structure in one way",
			List.of(Column.number("image", "Image", "number of the process image"),
					Column.number("task", "Task", "id that the operating system gives the thread"),
					Column.text("mode", "Mode", "user: code of the program; fault: the kernel served a fault; call: a system call"),
					Column.text("function", "Function", "name of the function"), Column.text("file", "File", "source file"),
					Column.number("line", "Line", "line in the source file"), Column.text("object", "Object", "file of the code"),
					Column.text("structure", "Structure", "what is accessed; not known: nothing, or the address is not known"),
					Column.number("structure_id", "Structure number", "its number in the table of structures; of several blocks of one name and place that of the first"),
					Column.text("access", "Access", "read, write, both, access (in an unknown direction) or none; not known: the instruction is not"),
					Column.number("width_bytes", "Width", "bytes of an access"),
					Column.number("address_known", "Address known", "1: the address is known; 0: it is not, or there is none"),
					Column.number("ticks", "Ticks", "how many"), Column.number("cpu_ns", "CPU time", "CPU time that they stand for"),
					Column.number("share_ppm", "Share", "of the CPU time of all ticks, in millionths"),
					Column.number("first_ns", "First", "time of the first of them, in the clock of the trace"),
					Column.number("last_ns", "Last", "time of the last of them")),
			(store, query, visitor, progress) -> {
				TickShares shares = TickShares.of(store);
				for (TickShares.Row r : shares.rows()) {
					CallFrame f = r.frame();
					visitor.row(r.place().image(), r.place().taskId(), r.place().mode().id(), known(f.function()), known(f.file()),
							f.line() == 0 ? null : f.line(), known(f.object()), r.structure() == null ? null : known(r.structure().name()),
							r.structure() == null ? null : r.structure().id(), known(r.place().access().id()),
							r.place().bytes() == 0 ? null : r.place().bytes(), r.place().addressKnown() ? 1 : 0, r.ticks(), r.cpuNs(),
							Math.round(1e6 * r.cpuNs() / shares.totalNs()), r.firstNs(), r.lastNs());
				}
			});

	/** The tree of memory. */
	public static final TraceTable PRODUCERS = new TraceTable("producers", "a part of the tree of memory, or a producer of events",
			List.of(Column.number("id", "Producer", "number in the tree; that of a child is larger"),
					Column.number("parent", "Parent", "what it is a part of; not known: the root"),
					Column.text("kind", "Kind", "root, image, structure, page and so on"), Column.text("name", "Name", "its name in pictures"),
					Column.address("start", "Start", "first address"), Column.address("end", "End", "address after the last"),
					Column.number("structure_id", "Structure number", "its number in the table of structures"),
					Column.number("subtree_end", "End of subtree", "id after the last one below it")),
			(store, query, visitor, progress) -> {
				ProducerTree tree = store.producers();
				for (int id = query.producerFrom(); id < Math.min(tree.size(), query.producerTo()); id++) {
					if ((id & 0xfff) == 0) {
						progress.check();
					}
					visitor.row(id, known(tree.parent(id)), lower(tree.kind(id)), known(tree.name(id)), tree.startAddress(id), tree.endAddress(id),
							known(tree.structure(id)), tree.subtreeEnd(id));
				}
			});

	/** Types of events. */
	public static final TraceTable TYPES = new TraceTable("types", "a type of accesses or events",
			List.of(Column.number("id", "Type number", "number of the type"),
					Column.text("category", "Category", "punctual, state, link or variable"), Column.text("name", "Name", "name of the type")),
			(store, query, visitor, progress) -> {
				for (EventType t : store.eventTypes()) {
					visitor.row(t.id(), lower(t.category()), known(t.name()));
				}
			});

	/** What the recorder and the importer say of the trace. */
	public static final TraceTable PROPERTIES = new TraceTable("properties", "something that the recorder or the importer says of the trace",
			List.of(Column.text("name", "Name", "name of the property"), Column.text("value", "Value", "its value")),
			(store, query, visitor, progress) -> {
				for (var p : new TreeMap<>(store.info().properties()).entrySet()) {
					visitor.row(p.getKey(), p.getValue());
				}
			});

	/** Events of traces without accesses. */
	public static final TraceTable EVENTS = new TraceTable("events", "an event of a trace without accesses",
			List.of(Column.number("id", "Event number", "number of the event"), Column.text("type", "Type", "type of the event"),
					Column.text("producer", "Producer", "what the event comes from"),
					Column.number("start_ns", "Start", "begin, in the clock of the trace"),
					Column.number("end_ns", "End", "end, in the clock of the trace"),
					Column.number("value", "Value", "value of a variable, nesting of a state, end of a link"),
					Column.number("cpu", "CPU", "CPU of the event")),
			(store, query, visitor, progress) -> {
				TreeMap<Integer, String> types = new TreeMap<>();
				store.eventTypes().forEach(t -> types.put(t.id(), t.name()));
				ProducerTree tree = store.producers();
				store.visitEvents(query, b -> {
					for (int i = 0; i < b.count; i++) {
						visitor.row(b.id[i], types.getOrDefault(b.type[i], "?"), known(tree.name(b.producer[i])), b.startNs[i], b.endNs[i], b.value[i],
								known(b.cpu[i]));
					}
				}, progress);
			});

	/** Who used which page. */
	public static final TraceTable PAGES = new TraceTable("pages", "a page, with who used it",
			List.of(Column.of(AccessColumns.find("producer")), Column.of(AccessColumns.find("page_start")), Column.of(AccessColumns.find("page")),
					Column.number("first_ns", "First access", "time of the first access; where it is not known the begin of its interval"),
					Column.text("first_thread", "First thread", "thread that made the first access"),
					Column.number("first_write_ns", "First write", "time of the first write; where it is not known a time that it is not before"),
					Column.text("first_writer", "First writer", "thread that made the first write"),
					Column.number("threads", "Threads", "number of threads that used it"), Column.number("records", "Records", "number of records"),
					Column.of(AccessColumns.find("reads")), Column.of(AccessColumns.find("writes")),
					Column.number("sharing", "Sharing", "largest number of threads that used it at the same time; missing: not known whether there was ever more than one"),
					Column.number("first_known", "First access known", "1: first_ns is the time of the access; 0: begin of its interval"),
					Column.number("first_write_known", "First write known",
							"1: first_write_ns is the time of the write; 0: begin of its interval, or of a record that also reads")),
			null);

	/** How much of the structures is touched. */
	public static final TraceTable FOOTPRINTS = new TraceTable("footprints",
			"a structure of which more or less had been touched at the end of a monitoring interval than at the end of the one before",
			List.of(Column.number("image", "Image", "number of the process image"),
					Column.number("end_ns", "End", "end of the monitoring interval, in the clock of the trace"),
					Column.number("structure_id", "Structure number", "number of the structure; of several blocks of one name and place that of the first"),
					Column.text("structure", "Structure", "its name"),
					Column.number("touched_bytes", "Touched",
							"memory of its pages that had been touched until then, which is what it has resident at most; 0: it has died"),
					Column.number("resident_bytes", "Resident",
							"memory of the whole process that was resident then, as far as the recorder sees it")),
			null);

	/** What a fine clock tells of structures. */
	public static final TraceTable FINE = new TraceTable("fine",
			"a structure in a bin of a fine clock: how many of its pages were used, estimated from a sample. Nothing may be added over time: a page"
					+ " that is used in ten bins is one page",
			List.of(Column.number("image", "Image", "number of the process image"), Column.number("bin", "Bin", "number of the bin"),
					Column.number("start_ns", "Start", "begin of the bin, in the clock of the trace"), Column.number("end_ns", "End", "its end"),
					Column.number("structure_id", "Structure number", "number of the structure; missing: memory without one"),
					Column.text("structure", "Structure", "its name"), Column.text("state", "State", "exact, estimated or not known"),
					Column.number("pages", "Pages", "pages that were used; missing: not known"),
					Column.number("pages_low", "Pages, at least", "lower end of the interval of 95 %"),
					Column.number("pages_high", "Pages, at most", "upper end of it"),
					Column.number("written", "Written", "pages that were written; missing: not known"),
					Column.number("written_low", "Written, at least", "lower end of the interval of 95 %"),
					Column.number("written_high", "Written, at most", "upper end of it"),
					Column.number("known_percent", "Known", "share of the pages that were looked at or are known exactly")),
			(store, query, visitor, progress) -> FineRows.visit(store, visitor::row, progress));

	/** What is wrong, as {@code memtrace advise} finds it. */
	public static final TraceTable FINDINGS = new TraceTable("findings", "a finding of `memtrace advise`",
			List.of(Column.number("id", "Finding number", "number of the finding, the most important one is 0"),
					Column.text("rule", "Rule", "id of the rule that found it"), Column.text("title", "Title", "what it is, in two or three words"),
					Column.text("severity", "Severity", "how much it may cost: low, medium or high"),
					Column.number("cost_ppm", "Cost", "what a repair should gain of the run here, in millionths; missing: not known"),
					Column.number("cost_low_ppm", "Cost, at least", "lower end of its interval"),
					Column.number("cost_high_ppm", "Cost, at most", "upper end of it"),
					Column.text("confidence", "Confidence", "how sure it is: low, medium or high"),
					Column.number("weight_ppm", "Weight", "share of all accesses or pages that it concerns, in millionths"),
					Column.text("structures", "Structures", "names of the structures, separated by commas"),
					Column.text("structure_ids", "Structure numbers", "numbers of the structures, separated by commas"),
					Column.text("threads", "Thread numbers", "numbers of the threads that are named, separated by commas"),
					Column.number("from_ns", "From", "begin of the time in which it holds, in the clock of the trace"),
					Column.number("to_ns", "To", "end of that time"),
					Column.number("producer_from", "First producer", "first page that it is about"),
					Column.number("producer_to", "End of producers", "page after the last"),
					Column.text("evidence", "Evidence", "what was seen"), Column.text("advice", "Advice", "what to do"),
					Column.text("fix", "Fix", "what to change: whole sentences"),
					Column.text("command", "Command", "a shell line that tries it"), Column.text("code", "Code", "text to paste"),
					Column.text("check", "Check", "how to see that it worked"),
					Column.text("view", "View", "picture that shows it: thread, sharing or rw")),
			null);

	/** Tables that are parts of the trace, those of a Parquet folder first. */
	public static final List<TraceTable> ALL = List.of(STRUCTURES, THREADS, INTERVALS, REGIONS, LINES, INSTRUCTIONS, THREAD_INSTRUCTIONS,
			TICKS, STACKS, PRODUCERS, TYPES, PROPERTIES, EVENTS, PAGES, FOOTPRINTS, FINE, FINDINGS);
	/** Tables that a Parquet folder has beside the accesses. */
	public static final List<TraceTable> IN_FOLDERS = List.of(STRUCTURES, THREADS, INTERVALS, STACKS, PRODUCERS, PAGES, FOOTPRINTS,
			FINDINGS);

	/** The table with a name, or null. */
	public static TraceTable find(String name) {
		return ALL.stream().filter(t -> t.name.equals(name)).findFirst().orElse(null);
	}

	/** @param who the column that tells whose the numbers are */
	private static List<Column> ofInstructions(Column who) {
		return List.of(Column.number("image", "Image", "number of the process image"),
				Column.address("code", "Code", "address of the instruction; with hooks that of the call that counts"),
				Column.text("function", "Function", "name of the function"), Column.text("file", "File", "source file"),
				Column.number("line", "Line", "line in the source file"), Column.text("object", "Object", "file of the code"),
				Column.text("structure", "Structure", "structure of the first access; with an ellipsis where the last one was to another"),
				Column.number("structure_id", "Structure number", "its number in the table of structures"),
				Column.text("access", "Access", "read or write"), Column.number("width_bytes", "Width", "bytes of an access"),
				Column.number("accesses", "Accesses", "how many"), who,
				Column.number("stride_bytes", "Stride", "the distance from one access to the next that most of them have"),
				Column.number("stride_ppm", "Share of stride", "share of the accesses that have it, in millionths"),
				Column.number("same", "Same place", "accesses at the address of the one before"),
				Column.number("element", "One after the other", "accesses as far from the one before as they are wide"),
				Column.number("in_line", "Line", "other accesses up to 64 bytes from the one before"),
				Column.number("in_page", "Page", "those up to 4 KiB from it"), Column.number("near", "Near", "those up to 2 MiB from it"),
				Column.number("far", "Far", "those farther from it"),
				Column.text("strides", "Strides", "all of them, as instructions.csv of the trace directory has them"));
	}

	private static Object[] instruction(Instructions.Row r, long who) {
		InstructionCounts.Use u = r.use();
		InstructionCounts.Stride s = u.dominant();
		CallFrame f = r.place() == null ? new CallFrame(0, "", "", "", 0) : r.place();
		return new Object[] {u.image(), u.ip(), known(f.function()), known(f.file()), f.line() == 0 ? null : f.line(), known(f.object()),
				known(r.structureName()),
				r.structure() == null ? null : r.structure().id(), u.write() ? "write" : "read", u.bytes(), u.accesses(), who,
				s == null ? null : s.value(), Math.round(1e6 * r.dominantShare()), u.count(Reach.SAME), u.count(Reach.ELEMENT),
				u.count(Reach.LINE), u.count(Reach.PAGE), u.count(Reach.NEAR), u.count(Reach.FAR), known(InstructionCounts.text(u.strides()))};
	}

	/** Ids of columns. */
	public static List<String> ids(Collection<Column> columns) {
		return columns.stream().map(Column::id).toList();
	}

	private static String lower(Enum<?> e) {
		return e.name().toLowerCase(Locale.ROOT);
	}

	private static String known(String text) {
		return text == null || text.isEmpty() ? null : text;
	}

	private static Object known(long number) {
		return number < 0 ? null : (Object) number;
	}

	private static Object end(long ns) {
		return ns == Long.MAX_VALUE ? null : (Object) ns;
	}
}
