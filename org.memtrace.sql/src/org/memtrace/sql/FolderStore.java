// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * A Parquet folder that is divided by memory, as a trace that models are made of: accesses as columns, tree, threads, structures, sets of
 * CPUs. It cannot be written, has no events and no notes, does not give accesses one by one, and nothing is saved with it. All threads.
 */
public final class FolderStore implements TraceStore {
	private final String folder;
	private final TraceInfo info;
	private final ProducerTree producers;
	private final List<ThreadInfo> threads = new ArrayList<>();
	private final List<Structure> structures = new ArrayList<>();
	private final List<BitSet> cpuSets = new ArrayList<>();
	private final FolderAccesses accesses;

	/**
	 * Opens a folder.
	 *
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param cache folder for what DuckDB needs
	 * @param folder path of the folder, or its address in {@link ObjectStorage}
	 * @param info what its {@code meta.json} says
	 */
	public FolderStore(Path driver, Path cache, String folder, TraceInfo info, Progress progress) throws MemtraceException {
		this.folder = folder;
		this.info = info;
		Map<String, Integer> sets = new HashMap<>();
		try (SqlSession session = new SqlSession(driver, folder, null, List.of(), 1L << 30, 1, cache)) {
			session.query("SELECT \"index\", image, task, name, birth_ns, death_ns, start_routine, main FROM " + table("threads") + " ORDER BY 1",
					row(r -> threads.add(new ThreadInfo((int) number(r[0], -1), (int) number(r[1], 0), number(r[2], -1), text(r[3]),
							number(r[4], info.startNs()), number(r[5], Long.MAX_VALUE), text(r[6]), number(r[7], 0) == 1))),
					progress);
			session.query("SELECT id, image, kind, name, start, \"end\", birth_ns, death_ns, task, stack, site, type_name FROM "
					+ table("structures") + " ORDER BY 1",
					row(r -> structures.add(new Structure((int) number(r[0], -1), (int) number(r[1], 0),
							StructureKind.valueOf(text(r[2]).toUpperCase(Locale.ROOT)), text(r[3]), number(r[4], 0), number(r[5], 0),
							number(r[6], info.startNs()), number(r[7], Long.MAX_VALUE), number(r[8], -1), (int) number(r[9], -1), text(r[10]),
							text(r[11])))),
					progress);
			session.query("SELECT DISTINCT cpu FROM read_parquet(" + SqlText.files(folder + SqlText.ACCESSES)
					+ ", hive_partitioning = false) WHERE cpu IS NOT NULL ORDER BY 1", row(r -> {
						sets.put(text(r[0]), cpuSets.size());
						BitSet set = new BitSet();
						for (String cpu : text(r[0]).split(" ")) {
							set.set(Integer.parseInt(cpu));
						}
						cpuSets.add(set);
					}), progress);
			producers = producers(session, progress);
		} catch (IllegalArgumentException | IllegalStateException e) {
			throw new StoreException(folder + ": its tables do not fit together: " + e.getMessage(), e);
		}
		accesses = new FolderAccesses(driver, cache, folder, sets, info.pageSizeBytes());
	}

	private String table(String name) {
		return "read_parquet(" + SqlText.files(folder + "/" + name + ".parquet") + ")";
	}

	/** Takes a row. */
	private interface Row {
		void take(Object[] values);
	}

	private static SqlRows row(Row row) {
		return new SqlRows() {
			@Override
			public void columns(List<Column> columns) {
				// those that were asked for
			}

			@Override
			public boolean row(Object[] values) {
				row.take(values);
				return true;
			}
		};
	}

	private static long number(Object value, long unknown) {
		return switch (value) {
		case null -> unknown;
		case BigInteger big -> big.longValue();
		case Number n -> n.longValue();
		default -> throw new IllegalArgumentException(value + " is no number");
		};
	}

	private static String text(Object value) {
		return value == null ? "" : value.toString();
	}

	private ProducerTree producers(SqlSession session, Progress progress) throws MemtraceException {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(info.pageSizeBytes());
		List<Long> open = new ArrayList<>();
		session.query("SELECT id, kind, CASE WHEN kind IN ('page', 'part') THEN NULL ELSE name END, start, \"end\", structure_id, subtree_end FROM "
				+ table("producers") + " ORDER BY 1", row(r -> {
					long id = number(r[0], -1);
					if (id != builder.size()) {
						throw new IllegalStateException("producer " + builder.size() + " is missing");
					}
					close(builder, open, id);
					ProducerKind kind = ProducerKind.valueOf(text(r[1]).toUpperCase(Locale.ROOT));
					String name = (String) r[2];
					if (number(r[6], -1) == id + 1) {
						builder.leaf(kind, name, number(r[3], 0), number(r[4], 0), (int) number(r[5], -1));
					} else {
						builder.begin(kind, name, number(r[3], 0), number(r[4], 0), (int) number(r[5], -1));
						open.add(number(r[6], -1));
					}
				}), progress);
		close(builder, open, builder.size());
		return builder.build();
	}

	private static void close(ProducerTreeBuilder builder, List<Long> open, long id) {
		while (!open.isEmpty() && open.getLast() == id) {
			builder.end();
			open.removeLast();
		}
	}

	@Override
	public TraceInfo info() {
		return info;
	}

	@Override
	public ProducerTree producers() {
		return producers;
	}

	@Override
	public Set<AddressSpace> addressSpaces() {
		return Set.of(AddressSpace.VIRTUAL);
	}

	@Override
	public TraceStore in(AddressSpace space) throws MemtraceException {
		if (space != AddressSpace.VIRTUAL) {
			throw new StoreException(folder + " has one tree, that with which it was exported");
		}
		return this;
	}

	@Override
	public Optional<MemoryLayout> layout() {
		return Optional.empty();
	}

	@Override
	public int[] producersOfCells() {
		return new int[0];
	}

	private StoreException no(String what) {
		return new StoreException(folder + " is a Parquet folder, which " + what + "; use the trace itself, or 'memtrace sql'");
	}

	@Override
	public void replaceTrees(MemoryTrees trees, List<String> rules, Progress progress) throws MemtraceException {
		throw no("cannot be changed");
	}

	@Override
	public List<EventType> eventTypes() {
		return List.of();
	}

	@Override
	public List<ThreadInfo> threads() {
		return threads;
	}

	@Override
	public List<Structure> structures() {
		return structures;
	}

	@Override
	public List<CallFrame> stack(int stackId) {
		return List.of();
	}

	@Override
	public List<BitSet> cpuSets() {
		return cpuSets;
	}

	@Override
	public List<Interval> intervals() {
		return List.of();
	}

	@Override
	public ThreadTimes threadTimes() {
		return ThreadTimes.NONE;
	}

	@Override
	public Optional<String> importReport() {
		return Optional.empty();
	}

	@Override
	public long accessCount() {
		return accesses.rows();
	}

	@Override
	public AccessSource accessSource(Progress progress) {
		return accesses;
	}

	@Override
	public void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException {
		throw no("is not read in the order of time");
	}

	@Override
	public void visitAccesses(AccessQuery query, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor, Progress progress)
			throws MemtraceException {
		throw no("is not read in the order of time");
	}

	@Override
	public void readAccesses(int[] ids, AccessVisitor visitor) throws MemtraceException {
		throw no("is not read in the order of time");
	}

	@Override
	public void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException {
		throw no("has no events");
	}

	@Override
	public void visitEvents(AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor, Progress progress)
			throws MemtraceException {
		throw no("has no events");
	}

	@Override
	public void readEvents(long[] ids, EventVisitor visitor) throws MemtraceException {
		throw no("has no events");
	}

	@Override
	public List<String> eventParameters(long[] ids) throws MemtraceException {
		throw no("has no events");
	}

	/** Empty: a folder is not told apart from another one in its place. */
	@Override
	public String contentStamp() {
		return "";
	}

	@Override
	public Optional<byte[]> readCache(String key) {
		return Optional.empty();
	}

	@Override
	public void writeCache(String key, byte[] value) {
		// nothing is saved with a folder
	}

	@Override
	public Optional<byte[]> readNote(String key) {
		return Optional.empty();
	}

	@Override
	public void writeNote(String key, byte[] value) throws MemtraceException {
		throw no("cannot be changed");
	}

	@Override
	public void close() {
		accesses.close();
	}
}
