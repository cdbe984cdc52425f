// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.memtrace.importer.io.OpenFiles.Inode;
import org.memtrace.importer.io.OpenFiles.Use;
import org.memtrace.model.MemtraceException;

/**
 * Makes calls, instants and requests of the events of the kernel, which come in order of time. A call begins and ends on one thread;
 * what this thread does meanwhile is below it. A request to a device belongs to the call of its thread. Where another thread made it,
 * its sectors tell the file and the place in it (from what file systems say about their blocks), and this tells the call that wrote
 * there. Two passes see the same events: see {@link OpenFiles}. Used by one thread.
 */
final class IoEvents {
	private static final long NONE = Long.MIN_VALUE;
	private static final int CLONE_THREAD = 0x10000;
	private static final int SECTOR_BYTES = 512;
	private static final Set<String> OPENS = Set.of("open", "openat", "openat2", "creat", "open64", "openat64");
	private static final int F_DUPFD = 0;
	private static final int F_DUPFD_CLOEXEC = 1030;
	/** Calls that move no data and are not told: they say which file a descriptor is. */
	private static final Set<String> COPIES = Set.of("dup", "dup2", "dup3", "fcntl");
	private static final Set<String> DATA = Set.of("read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2",
			"pwritev2", "preadv64", "pwritev64", "sendfile64", "copy_file_range", "splice");

	/** What becomes of the events. */
	interface Output {
		/**
		 * Something that began and ended.
		 *
		 * @param nesting how many such things are around it
		 */
		void state(Level level, String operation, int tid, int nesting, int cpu, long startNs, long endNs, Map<String, String> values)
				throws MemtraceException;

		void instant(Level level, String operation, int tid, int cpu, long timeNs, Map<String, String> values) throws MemtraceException;

		/** A request of a device, from when it was given to the driver until it was done. */
		void request(String operation, long device, int cpu, long startNs, long endNs, Map<String, String> values) throws MemtraceException;

		/** Something is not used. */
		void skip(String reason) throws MemtraceException;
	}

	/** A call that has begun. */
	private static final class Frame {
		Level level;
		String operation;
		long number;
		long startNs;
		long bytes = NONE;
		long offset = NONE;
		long unit = 1;
		int fd = -1;
		Use use;
		Inode inode;
		String path = "";
		long above;
		/** Whether it gives a copy of its descriptor. */
		boolean copies;
	}

	/** A thread of the program. */
	private static final class Task {
		int process;
		String name = "";
		final Deque<Frame> frames = new ArrayDeque<>();
	}

	private record Sector(long device, long sector, char kind) {
	}

	private static final class Request {
		long startNs;
		int cpu;
		Map<String, String> values;
		boolean own;
	}

	/** Sectors that belong to a part of a file. */
	private record Extent(long end, Inode inode, long offset) {
	}

	/** Where partitions begin: their device to that of the disk, and the first sector. */
	record Partition(long disk, long start) {
	}

	private final OpenFiles files;
	private final Map<Long, Partition> partitions;
	private final String ownFolder;
	private final int pageBytes;
	private final Map<Integer, Task> tasks = new HashMap<>();
	private final Map<Sector, Request> requests = new HashMap<>();
	private final Map<Long, TreeMap<Long, Extent>> extents = new HashMap<>();
	/** Number of the call that wrote a page of a file last. */
	private final Map<Inode, Map<Long, Long>> writers = new HashMap<>();
	private final Map<Integer, String> names = new HashMap<>();
	private Output out;
	private long numbers;
	private long foreignRequests;
	private long ownCalls;

	/**
	 * @param ownFolder where the recorder writes; what goes there is not of the program
	 * @param pageBytes of the page cache
	 */
	IoEvents(OpenFiles files, Map<Long, Partition> partitions, String ownFolder, int pageBytes) {
		this.files = files;
		this.partitions = partitions;
		this.ownFolder = ownFolder.isEmpty() ? null : ownFolder + "/";
		this.pageBytes = pageBytes;
	}

	/** Begins a pass. The root of all processes is known from the start. */
	void begin(Output to, int pid, boolean isLast) {
		out = to;
		numbers = 0;
		foreignRequests = 0;
		ownCalls = 0;
		tasks.clear();
		requests.clear();
		extents.clear();
		writers.clear();
		task(pid).process = pid;
		if (isLast) {
			files.again();
		}
	}

	private Task task(int tid) {
		return tasks.computeIfAbsent(tid, t -> {
			Task task = new Task();
			task.process = t;
			return task;
		});
	}

	/** Process of a thread. */
	int process(int tid) {
		Task task = tasks.get(tid);
		return task == null ? tid : task.process;
	}

	/** Names of threads, as they were last. */
	Map<Integer, String> names() {
		return names;
	}

	/** Requests that were found to be of others. */
	long foreignRequests() {
		return foreignRequests;
	}

	/** Calls by which the recorder itself wrote. */
	long ownCalls() {
		return ownCalls;
	}

	private boolean isOwn(String path) {
		return ownFolder != null && path.startsWith(ownFolder);
	}

	/** The next event. */
	void event(RingFile e, EventFormats.Format f) throws MemtraceException {
		int slash = f.name.indexOf('/');
		String system = slash < 0 ? "" : f.name.substring(0, slash);
		String event = f.name.substring(slash + 1);
		int tid = (int) e.number(f, "common_pid", 0);
		switch (system) {
		case "task" -> taskEvent(e, f, event, tid);
		case "syscalls" -> {
			if (event.startsWith("sys_enter_")) {
				enter(e, f, tid, Level.CALL, event.substring(10));
			} else if (event.startsWith("sys_exit_")) {
				exit(e, f, tid, Level.CALL, event.substring(9));
			}
		}
		case "user" -> {
			if (event.endsWith("_ret")) {
				exit(e, f, tid, Level.USER, event.substring(0, event.length() - 4));
			} else {
				enter(e, f, tid, Level.USER, event);
			}
		}
		case "block" -> block(e, f, event, tid);
		default -> below(e, f, system, event, tid);
		}
	}

	private void taskEvent(RingFile e, EventFormats.Format f, String event, int tid) {
		int pid = (int) e.number(f, "pid", 0);
		if (event.equals("task_newtask")) {
			Task parent = task(tid);
			Task child = new Task();
			boolean thread = (e.number(f, "clone_flags", 0) & CLONE_THREAD) != 0;
			child.process = thread ? parent.process : pid;
			child.name = e.text(f, "comm");
			tasks.put(pid, child);
			names.put(pid, child.name);
			if (!thread) {
				files.inherited(pid, parent.process);
			}
		} else {
			Task task = task(pid);
			task.name = e.text(f, "newcomm");
			names.put(pid, task.name);
		}
	}

	/** What a function does that another one of its level has called is that of the outer one; otherwise a new number. */
	private long numberIn(Task task, Level level) {
		for (Frame other : task.frames) {
			if (other.level == level) {
				return other.number;
			}
		}
		return ++numbers;
	}

	private void enter(RingFile e, EventFormats.Format f, int tid, Level level, String operation) {
		Task task = task(tid);
		Frame frame = new Frame();
		frame.level = level;
		frame.operation = operation;
		frame.number = numberIn(task, level);
		frame.startNs = e.timeNs();
		frame.above = task.frames.isEmpty() ? 0 : task.frames.peek().number;
		frame.fd = f.has("fd") ? (int) e.number(f, "fd", -1) : (int) e.number(f, "in_fd",
				e.number(f, "fd_in", e.number(f, "oldfd", e.number(f, "fildes", -1))));
		frame.offset = e.number(f, "pos", f.has("offset") && !operation.startsWith("sendfile") ? e.number(f, "offset", NONE) : NONE);
		frame.unit = operation.equals("fread") || operation.equals("fwrite") ? e.number(f, "size", 1) : 1;
		frame.copies = !operation.equals("fcntl") || e.number(f, "cmd", -1) == F_DUPFD || e.number(f, "cmd", -1) == F_DUPFD_CLOEXEC;
		frame.path = e.text(f, "path");
		if (frame.fd >= 0) {
			frame.use = files.at(task.process, frame.fd);
		}
		task.frames.push(frame);
	}

	private void exit(RingFile e, EventFormats.Format f, int tid, Level level, String operation) throws MemtraceException {
		Task task = task(tid);
		Frame frame = null;
		int open = 0; // calls inside whose end is missing
		for (Frame each : task.frames) {
			if (each.level == level && each.operation.equals(operation)) {
				frame = each;
				break;
			}
			open++;
		}
		if (frame == null) {
			out.skip("end of a call whose begin is not there");
			return;
		}
		for (int i = 0; i < open; i++) {
			task.frames.pop();
			out.skip("begin of a call whose end is not there");
		}
		task.frames.pop();
		long result = e.number(f, "ret", NONE);
		if (COPIES.contains(operation)) {
			if (result >= 0 && frame.copies && level == Level.CALL) {
				files.copied(task.process, frame.fd, (int) result);
			}
			return;
		}
		if (OPENS.contains(operation) && result >= 0 && level == Level.CALL) {
			files.opened(task.process, (int) result, pathAround(task));
			frame.use = files.at(task.process, (int) result);
		} else if (operation.equals("close") && level == Level.CALL) {
			files.closed(task.process, frame.fd);
		} else if (OPENS.contains(operation) && result >= 0) {
			frame.use = files.at(task.process, (int) result);
		}
		boolean data = DATA.contains(operation) || operation.equals("fread") || operation.equals("fwrite");
		long bytes = data && result > 0 ? result * frame.unit : data && result != NONE ? 0 : NONE;
		boolean insideOfSame = task.frames.stream().anyMatch(other -> other.level == level);
		write(task, frame, tid, e, bytes, insideOfSame);
	}

	/** The path that a function around a system call has told. */
	private static String pathAround(Task task) {
		for (Frame frame : task.frames) {
			if (!frame.path.isEmpty()) {
				return frame.path;
			}
		}
		return "";
	}

	private void write(Task task, Frame frame, int tid, RingFile e, long bytes, boolean insideOfSame) throws MemtraceException {
		if (frame.use != null && frame.inode != null && frame.level == Level.CALL) {
			files.learn(frame.use, frame.inode);
		}
		if (frame.use != null && frame.use.inode != null) {
			files.touched(frame.use.inode);
		}
		String name = frame.use != null ? files.name(frame.use) : !frame.path.isEmpty() ? frame.path : files.name(frame.inode);
		if (isOwn(name)) {
			ownCalls++;
			return;
		}
		if (insideOfSame) { // a function of the library that another one has called is part of it
			return;
		}
		Map<String, String> values = new LinkedHashMap<>();
		values.put("call", Long.toString(frame.number));
		if (frame.above > 0) {
			values.put("in", Long.toString(frame.above));
		}
		if (bytes != NONE) {
			values.put("bytes", Long.toString(bytes));
		}
		if (frame.offset != NONE && frame.offset >= 0) {
			values.put("offset", Long.toString(frame.offset));
		}
		if (frame.fd >= 0) {
			values.put("fd", Integer.toString(frame.fd));
		}
		if (!name.isEmpty()) {
			values.put("file", name);
		}
		int nesting = (int) task.frames.stream().map(other -> other.level).distinct().count();
		out.state(frame.level, frame.operation, tid, nesting, e.cpu, frame.startNs, Math.max(frame.startNs, e.timeNs()), values);
	}

	/** Page cache and file system. */
	private void below(RingFile e, EventFormats.Format f, String system, String event, int tid) throws MemtraceException {
		long device = e.number(f, "dev", e.number(f, "s_dev", NONE));
		long number = e.number(f, "ino", e.number(f, "i_ino", NONE));
		Inode inode = device == NONE || number == NONE || number == 0 ? null : new Inode(device, number);
		if (event.endsWith("map_blocks_exit") || event.equals("iomap_iter_dstmap")) {
			if (inode != null) {
				extent(e, f, event, inode);
			}
			return;
		}
		Task task = task(tid);
		if (device == NONE && number != NONE) { // that a page becomes dirty is told without the device
			for (Frame frame : task.frames) {
				inode = inode == null && frame.inode != null && frame.inode.number() == number ? frame.inode : inode;
			}
		}
		if (event.equals("ext4_sync_file_enter") || event.equals("ext4_fallocate_enter") || event.equals("ext4_truncate_enter")
				|| event.equals("iomap_dio_rw_begin") || event.equals("ext4_writepages")) {
			begin(e, f, task, inode, fileSystemName(event));
			return;
		}
		if (event.endsWith("_exit") || event.equals("iomap_dio_complete") || event.equals("ext4_writepages_result")) {
			end(e, f, task, tid, inode, fileSystemName(event));
			return;
		}
		instant(e, f, task, tid, inode, system, event);
	}

	/** {@code ext4_sync_file_enter} and {@code _exit} are both {@code sync_file (ext4)}. */
	private static String fileSystemName(String event) {
		String name = event.replaceFirst("_(enter|exit|result)$", "").replaceFirst("^iomap_dio_(rw_begin|complete)$", "iomap_direct");
		int bar = name.indexOf('_');
		return bar < 0 ? name : name.substring(bar + 1) + " (" + name.substring(0, bar) + ")";
	}

	private void begin(RingFile e, EventFormats.Format f, Task task, Inode inode, String operation) {
		Frame frame = new Frame();
		frame.level = Level.FILE_SYSTEM;
		frame.operation = operation;
		frame.number = numberIn(task, Level.FILE_SYSTEM);
		frame.startNs = e.timeNs();
		frame.above = task.frames.isEmpty() ? 0 : task.frames.peek().number;
		frame.inode = inode;
		frame.offset = e.number(f, "pos", e.number(f, "offset", NONE));
		frame.bytes = e.number(f, "count", NONE);
		tell(task, inode);
		task.frames.push(frame);
		if (operation.startsWith("direct") && inode != null && frame.offset != NONE && frame.bytes > 0) {
			wrote(inode, frame.offset, frame.bytes, call(task));
		}
	}

	private void end(RingFile e, EventFormats.Format f, Task task, int tid, Inode inode, String operation) throws MemtraceException {
		Frame frame = task.frames.peek();
		if (frame == null || frame.level != Level.FILE_SYSTEM || !frame.operation.equals(operation)) {
			// of asynchronous direct I/O, another thread may tell the end
			out.skip("end of an operation of a file system whose begin is not there");
			return;
		}
		task.frames.pop();
		long result = e.number(f, "ret", NONE);
		long bytes = operation.startsWith("direct") ? Math.max(0, result == NONE ? frame.bytes : result) : NONE;
		write(task, frame, tid, e, bytes, task.frames.stream().anyMatch(other -> other.level == Level.FILE_SYSTEM));
	}

	/** The calls around now know their file. */
	private void tell(Task task, Inode inode) {
		if (inode == null) {
			return;
		}
		for (Frame frame : task.frames) {
			if (frame.inode == null) {
				frame.inode = inode;
			}
		}
		if (!task.frames.isEmpty()) {
			files.touched(inode);
		}
	}

	/** Number of the system call that a thread is in, 0: none. */
	private static long call(Task task) {
		for (Frame frame : task.frames) {
			if (frame.level == Level.CALL) {
				return frame.number;
			}
		}
		return 0;
	}

	private void wrote(Inode inode, long offset, long bytes, long call) {
		Map<Long, Long> pages = writers.computeIfAbsent(inode, i -> new HashMap<>());
		for (long page = offset / pageBytes; page <= (offset + bytes - 1) / pageBytes && page - offset / pageBytes < 1 << 18; page++) {
			pages.put(page, call);
		}
	}

	private void instant(RingFile e, EventFormats.Format f, Task task, int tid, Inode inode, String system, String event)
			throws MemtraceException {
		boolean cache = system.equals("filemap") || system.equals("writeback");
		String name = switch (event) {
		case "mm_filemap_add_to_page_cache" -> "add pages";
		case "mm_filemap_get_pages" -> "look up pages";
		case "mm_filemap_fault" -> "page fault";
		case "writeback_dirty_folio", "writeback_dirty_page" -> "dirty page";
		default -> fileSystemName(event);
		};
		long index = e.number(f, "index", NONE);
		long offset = e.number(f, "pos", e.number(f, "offset", index == NONE ? NONE : index * pageBytes));
		long bytes = e.number(f, "len", e.number(f, "count", NONE));
		if (event.equals("mm_filemap_add_to_page_cache")) {
			bytes = (long) pageBytes << Math.min(32, e.number(f, "order", 0));
		} else if (f.has("last_index")) {
			bytes = Math.max(0, (e.number(f, "last_index", index) - index + 1) * pageBytes);
		} else if (cache || f.has("index")) {
			bytes = pageBytes;
		}
		tell(task, inode);
		String file = files.name(inode);
		if (isOwn(file)) {
			return;
		}
		if (inode != null && (event.endsWith("write_begin") || event.startsWith("xfs_file_") && event.endsWith("write")) && bytes > 0) {
			wrote(inode, offset, bytes, call(task));
		}
		Map<String, String> values = new LinkedHashMap<>();
		if (!task.frames.isEmpty()) {
			values.put("in", Long.toString(task.frames.peek().number));
		}
		if (bytes != NONE) {
			values.put("bytes", Long.toString(bytes));
		}
		if (offset != NONE && offset >= 0) {
			values.put("offset", Long.toString(offset));
		}
		if (!file.isEmpty()) {
			values.put("file", file);
		}
		out.instant(cache ? Level.CACHE : Level.FILE_SYSTEM, name, tid, e.cpu, e.timeNs(), values);
	}

	private void extent(RingFile e, EventFormats.Format f, String event, Inode inode) {
		long device = inode.device();
		long first;
		long offset;
		long bytes;
		if (event.equals("iomap_iter_dstmap")) {
			long address = e.number(f, "addr", -1);
			if (address < 0) {
				return; // a hole
			}
			device = e.number(f, "bdev", device);
			first = address / SECTOR_BYTES;
			offset = e.number(f, "offset", 0);
			bytes = e.number(f, "length", 0);
		} else {
			if (e.number(f, "ret", 0) <= 0 || e.number(f, "pblk", 0) <= 0) {
				return;
			}
			long block = files.blockBytes(inode);
			first = e.number(f, "pblk", 0) * (block / SECTOR_BYTES);
			offset = e.number(f, "lblk", 0) * block;
			bytes = e.number(f, "len", 0) * block;
		}
		Partition partition = partitions.get(device);
		if (partition != null) {
			device = partition.disk();
			first += partition.start();
		}
		if (bytes <= 0 || first < 0) {
			return;
		}
		extents.computeIfAbsent(device, d -> new TreeMap<>()).put(first, new Extent(first + (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES, inode,
				offset));
	}

	private static String requestName(String flags) {
		String name = flags.contains("D") ? "discard" : flags.contains("W") ? "write" : flags.contains("R") ? "read" : "flush";
		return flags.contains("M") ? name + " metadata" : name;
	}

	private void block(RingFile e, EventFormats.Format f, String event, int tid) throws MemtraceException {
		String flags = e.text(f, "rwbs");
		String operation = requestName(flags);
		long device = e.number(f, "dev", 0);
		long sector = e.number(f, "sector", 0);
		Sector key = new Sector(device, sector, operation.charAt(0));
		if (event.equals("block_rq_complete")) {
			Request request = requests.remove(key);
			if (request != null && request.own) {
				out.request(operation, device, request.cpu, request.startNs, Math.max(request.startNs, e.timeNs()), request.values);
			} else if (request != null) {
				foreignRequests++;
			}
			return;
		}
		if (!event.equals("block_rq_issue")) {
			return;
		}
		long bytes = e.number(f, "bytes", e.number(f, "nr_sector", 0) * SECTOR_BYTES);
		Request request = new Request();
		request.startNs = e.timeNs();
		request.cpu = e.cpu;
		request.values = new LinkedHashMap<>();
		Task task = tasks.get(tid);
		Frame around = task == null ? null : task.frames.peek();
		Map.Entry<Long, Extent> at = extents.getOrDefault(device, new TreeMap<>()).floorEntry(sector);
		Extent extent = at != null && sector < at.getValue().end() ? at.getValue() : null;
		String file = extent == null ? "" : files.name(extent.inode());
		long call = around == null ? 0 : around.number;
		String how = around == null ? "" : "thread";
		long offset = extent == null ? NONE : extent.offset() + (sector - at.getKey()) * SECTOR_BYTES;
		if (call == 0 && extent != null && !requestName(flags).startsWith("read")) {
			call = writer(extent.inode(), offset, bytes);
			how = call == 0 ? "" : "sector";
		}
		boolean touched = extent != null && files.isTouched(extent.inode());
		if (how.isEmpty() && touched) {
			how = "inode";
		}
		request.own = (around != null || touched) && !isOwn(file);
		if (call > 0) {
			request.values.put("in", Long.toString(call));
		}
		request.values.put("bytes", Long.toString(bytes));
		if (offset != NONE) {
			request.values.put("offset", Long.toString(offset));
		}
		request.values.put("sector", Long.toString(sector));
		if (!how.isEmpty()) {
			request.values.put("by", how);
		}
		request.values.put("thread", e.text(f, "comm") + " " + tid);
		if (!file.isEmpty()) {
			request.values.put("file", file);
		}
		requests.put(key, request);
	}

	/** The call that wrote last into a part of a file, 0: none that is known. */
	private long writer(Inode inode, long offset, long bytes) {
		Map<Long, Long> pages = writers.get(inode);
		long last = 0;
		for (long page = offset / pageBytes; pages != null && page * pageBytes < offset + bytes; page++) {
			last = Math.max(last, pages.getOrDefault(page, 0L));
		}
		return last;
	}

	/** No more events: what has begun and not ended is counted. */
	void end() throws MemtraceException {
		for (Task task : tasks.values()) {
			for (Iterator<Frame> i = task.frames.iterator(); i.hasNext(); i.next()) {
				out.skip("call that had not ended at the end of the recording");
			}
		}
		List<Request> rest = new ArrayList<>(requests.values());
		for (Request request : rest) {
			if (request.own) {
				out.skip("request that was not done at the end of the recording");
			}
		}
	}
}
