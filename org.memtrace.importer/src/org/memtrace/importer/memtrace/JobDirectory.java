// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import com.google.gson.JsonObject;

import org.memtrace.importer.input.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;

/**
 * The trace directories of the ranks of a parallel job, read as if they were one (docs/howto/jobs.md). Their process images follow each
 * other in order of the ranks. Times are those of the machine of the lowest rank: the clocks of other machines are put beside it by
 * what each recorder wrote of universal time, and how far that can be wrong is said.
 */
public final class JobDirectory {
	private static final long UNKNOWN = Long.MIN_VALUE;

	/** One rank: its directory and what its manifest says of the job. */
	private record Rank(Path path, TraceDirectory trace, long number, long size, String id, boolean idOfNode, String launcher) {
		Json host() {
			return trace.manifest().object("host");
		}

		/** What has one clock and one memory: a machine since it was started. */
		String machine() {
			String boot = host().text("boot_id");
			return boot.isEmpty() ? "host " + host().text("name") : boot;
		}

		Json clock() {
			return trace.manifest().object("clock");
		}
	}

	/**
	 * How the clock of a machine stands to universal time.
	 *
	 * @param offsetNs to be added to get UTC; {@link #UNKNOWN}
	 * @param errorNs how far that can be wrong at most; -1 unknown, because nothing synchronises the machine
	 */
	private record Utc(long offsetNs, long errorNs) {
	}

	/** Objects of a manifest whose {@code text} is a sentence for a person, if they are there. */
	private static final List<String> SENTENCES = List.of("unseen", "late", "unrecorded", "unlisted", "windows", "ticks");

	private JobDirectory() {
	}

	/** The trace directories of ranks in a folder that has no manifest itself, in order of their names; empty if there are none. */
	public static List<Path> ranks(Path folder) throws MemtraceException {
		List<Path> found = new ArrayList<>();
		if (!Files.isDirectory(folder) || Files.exists(folder.resolve("manifest.json"))) {
			return found;
		}
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Files::isDirectory)) {
			for (Path entry : entries) {
				if (isRank(entry)) {
					found.add(entry);
				}
			}
		} catch (IOException e) {
			throw new TraceFormatException(folder.toString(), 0, "cannot be read: " + e.getMessage());
		}
		found.sort(null);
		return found;
	}

	private static boolean isRank(Path directory) throws MemtraceException {
		Path manifest = directory.resolve("manifest.json");
		return Files.isRegularFile(manifest) && Json.read(manifest, manifest.toString()).object("job").number("rank", -1) >= 0;
	}

	/**
	 * What several given folders are: trace directories of ranks, or folders with such. Empty when one of them is neither.
	 *
	 * @throws MemtraceException when they are trace directories, but not of ranks
	 */
	public static List<Path> ranks(List<Path> given) throws MemtraceException {
		List<Path> all = new ArrayList<>();
		for (Path path : given) {
			if (Files.isRegularFile(path.resolve("manifest.json"))) {
				if (!isRank(path)) {
					throw new TraceFormatException(path.toString(), 0,
							"is a trace of its own and no rank of a parallel job; give it alone");
				}
				all.add(path);
			} else {
				List<Path> inside = ranks(path);
				if (inside.isEmpty()) {
					return List.of();
				}
				all.addAll(inside);
			}
		}
		return all;
	}

	/**
	 * Opens ranks as one trace.
	 *
	 * @param shown what the user gave: the path of the trace
	 * @param directories at least one, from {@link #ranks}
	 * @throws MemtraceException one sentence, when they are not of one job
	 */
	public static TraceDirectory open(Path shown, List<Path> directories) throws MemtraceException {
		List<Rank> ranks = new ArrayList<>();
		for (Path directory : directories) {
			TraceDirectory trace = TraceDirectory.open(directory);
			Json job = trace.manifest().object("job");
			ranks.add(new Rank(directory, trace, job.number("rank", 0), job.number("size", -1), job.text("id"),
					job.text("id_scope").equals("node"), job.text("launcher")));
		}
		ranks.sort(Comparator.comparingLong(Rank::number));
		List<String> notes = new ArrayList<>();
		check(ranks, notes);
		Map<String, Long> shifts = shifts(ranks, notes);
		Map<String, String> hosts = hostNames(ranks);
		List<TraceDirectory.Image> images = new ArrayList<>();
		for (Rank rank : ranks) {
			for (TraceDirectory.Image image : rank.trace.images()) {
				images.add(new TraceDirectory.Image(images.size(), image.directory(), image.json(), image.chunks(), image.context(),
						new TraceDirectory.Rank((int) rank.number, hosts.get(rank.machine()), rank.machine(), shifts.get(rank.machine()))));
			}
		}
		return new TraceDirectory(shown.toAbsolutePath().normalize(), manifest(shown, ranks, shifts, hosts, notes), images,
				ranks.get(0).trace.pageSizeBytes(), notes, ranks.stream().map(r -> r.trace.path()).toList(), hosts.size() == 1);
	}

	private static void check(List<Rank> ranks, List<String> notes) throws MemtraceException {
		Rank first = ranks.get(0);
		long size = ranks.stream().mapToLong(Rank::size).max().orElse(-1);
		Map<Long, Rank> byNumber = new TreeMap<>();
		for (Rank rank : ranks) {
			Rank same = byNumber.putIfAbsent(rank.number, rank);
			if (same != null) {
				throw new TraceFormatException(rank.path.toString(), 0,
						"is rank " + rank.number + ", and so is " + same.path + ": they are of two runs");
			}
			boolean ids = rank.id.equals(first.id) || rank.idOfNode && first.idOfNode && !rank.machine().equals(first.machine());
			if (!ids || !rank.launcher.equals(first.launcher) || rank.size != first.size) {
				throw new TraceFormatException(rank.path.toString(), 0, "is of job " + rank.id + " (" + rank.launcher + ", " + rank.size
						+ " ranks), and " + first.path + " of job " + first.id + " (" + first.launcher + ", " + first.size + " ranks)");
			}
			if (rank.trace.pageSizeBytes() != first.trace.pageSizeBytes()) {
				throw new TraceFormatException(rank.path.toString(), 0, "has pages of " + rank.trace.pageSizeBytes()
						+ " bytes, and other ranks of " + first.trace.pageSizeBytes());
			}
		}
		if (size > ranks.size()) {
			List<String> missing = new ArrayList<>();
			for (long r = 0; r < size && missing.size() <= 8; r++) {
				if (!byNumber.containsKey(r)) {
					missing.add(missing.size() == 8 ? "…" : Long.toString(r));
				}
			}
			notes.add("of " + size + " ranks " + (size - ranks.size()) + " are not here: " + String.join(", ", missing));
		}
		String backend = first.trace.manifest().object("backend").text("name");
		for (Rank rank : ranks) {
			String other = rank.trace.manifest().object("backend").text("name");
			if (!other.equals(backend)) {
				notes.add("rank " + rank.number + " was recorded by the backend " + other + ", rank " + first.number + " by " + backend
						+ ": their numbers do not mean the same");
				break;
			}
		}
	}

	/** A name for each machine, unique. */
	private static Map<String, String> hostNames(List<Rank> ranks) {
		Map<String, String> names = new LinkedHashMap<>();
		Set<String> used = new LinkedHashSet<>();
		for (Rank rank : ranks) {
			if (!names.containsKey(rank.machine())) {
				String name = rank.host().text("name").isEmpty() ? "machine" : rank.host().text("name");
				String unique = name;
				for (int n = 2; !used.add(unique); n++) {
					unique = name + " (" + n + ")"; // containers, or started again in between
				}
				names.put(rank.machine(), unique);
			}
		}
		return names;
	}

	/** What to add to the times of each machine. */
	private static Map<String, Long> shifts(List<Rank> ranks, List<String> notes) throws MemtraceException {
		Map<String, List<Rank>> byMachine = ranks.stream()
				.collect(Collectors.groupingBy(Rank::machine, LinkedHashMap::new, Collectors.toList()));
		Map<String, Long> shifts = new LinkedHashMap<>();
		Utc reference = null;
		String referenceName = null;
		for (Map.Entry<String, List<Rank>> machine : byMachine.entrySet()) {
			if (byMachine.size() == 1) {
				shifts.put(machine.getKey(), 0L);
				return shifts;
			}
			Rank rank = machine.getValue().get(0);
			String name = rank.host().text("name");
			Utc utc = utc(machine.getValue());
			if (utc.offsetNs == UNKNOWN) {
				throw new TraceFormatException(rank.path.toString(), 0, "does not say how its clock stands to universal time; without"
						+ " that the ranks of several machines cannot be put together (was it recorded by an older memtrace?)");
			}
			if (reference == null) {
				reference = utc;
				referenceName = name;
				shifts.put(machine.getKey(), 0L);
				continue;
			}
			shifts.put(machine.getKey(), utc.offsetNs - reference.offsetNs);
			notes.add(utc.errorNs < 0 || reference.errorNs < 0
					? "the clock of " + name + " was put beside that of " + referenceName + " by universal time, but "
							+ (utc.errorNs < 0 ? name : referenceName) + " was not synchronised (NTP, PTP): how far it is wrong is not known"
					: String.format(Locale.ROOT, "the clock of %s was put beside that of %s by universal time; it may be wrong by %.3f ms",
							name, referenceName, (utc.errorNs + reference.errorNs) / 1e6));
		}
		return shifts;
	}

	/** From the readings of all ranks of one machine: the mean, and as its error the greatest of them and half of what they differ by. */
	private static Utc utc(List<Rank> ranks) {
		long least = Long.MAX_VALUE;
		long most = Long.MIN_VALUE;
		long error = 0;
		for (Rank rank : ranks) {
			for (String key : List.of("realtime", "realtime_end")) {
				Json reading = rank.clock().object(key);
				long offset = reading.number("offset_ns", UNKNOWN);
				if (offset == UNKNOWN) {
					continue;
				}
				least = Math.min(least, offset);
				most = Math.max(most, offset);
				long bound = reading.number("max_error_ns", -1);
				error = bound < 0 || error < 0 ? -1 : Math.max(error, bound + Math.max(0, reading.number("read_error_ns", 0)));
			}
		}
		long half = (most - least) / 2;
		return most == Long.MIN_VALUE ? new Utc(UNKNOWN, -1) : new Utc(least + half, error < 0 ? -1 : error + half);
	}

	/** What the manifests of the ranks say together. */
	private static final class Together {
		long lost;
		final Map<String, Long> lostByReason = new TreeMap<>();
		long startNs = Long.MAX_VALUE;
		long endNs = Long.MIN_VALUE;
		final Set<String> states = new TreeSet<>();
		final Set<String> incomplete = new LinkedHashSet<>();
		final Set<String> commands = new LinkedHashSet<>();
		final Map<String, Set<String>> sentences = new TreeMap<>();
		long exit;
		String signal = "";

		/** @param shiftNs of the clock of its machine */
		void add(Rank rank, long shiftNs) {
			Json m = rank.trace.manifest();
			lost += m.object("losses").number("total", 0);
			m.object("losses").object("by_reason").numbers().forEach((reason, n) -> lostByReason.merge(reason, n, Long::sum));
			startNs = Math.min(startNs, rank.clock().number("start_ns", Long.MAX_VALUE - Math.max(0, shiftNs)) + shiftNs);
			long ended = rank.clock().number("end_ns", -1);
			endNs = ended > 0 ? Math.max(endNs, ended + shiftNs) : endNs;
			Json status = m.object("status");
			states.add(status.text("state"));
			exit = exit != 0 ? exit : status.number("exit_code", 0);
			signal = signal.isEmpty() ? status.text("signal") : signal;
			if (!status.text("incomplete").isEmpty()) {
				incomplete.add("rank " + rank.number + ": " + status.text("incomplete"));
			}
			commands.add(String.join(" ", m.texts("command")));
			for (String key : SENTENCES) {
				if (!m.object(key).text("text").isEmpty()) {
					sentences.computeIfAbsent(key, k -> new LinkedHashSet<>()).add("rank " + rank.number + ": " + m.object(key).text("text"));
				}
			}
		}

		JsonObject losses() {
			JsonObject losses = new JsonObject();
			losses.addProperty("total", lost);
			JsonObject reasons = new JsonObject();
			lostByReason.forEach(reasons::addProperty);
			losses.add("by_reason", reasons);
			return losses;
		}

		void clock(JsonObject clock) {
			if (startNs != Long.MAX_VALUE) {
				clock.addProperty("start_ns", startNs);
			}
			if (endNs != Long.MIN_VALUE) {
				clock.addProperty("end_ns", endNs);
			}
		}

		void status(JsonObject status) {
			status.addProperty("state", states.contains("running") ? "running" : states.contains("aborted") ? "aborted" : "complete");
			if (signal.isEmpty()) {
				status.addProperty("exit_code", exit);
			} else {
				status.addProperty("signal", signal);
			}
			status.remove("incomplete");
			if (!incomplete.isEmpty()) {
				status.addProperty("incomplete", String.join("; ", incomplete));
			}
		}
	}

	/** The manifest of the lowest rank, with what is different for all of them. */
	private static Json manifest(Path shown, List<Rank> ranks, Map<String, Long> shifts, Map<String, String> hosts, List<String> notes) {
		Rank first = ranks.get(0);
		JsonObject all = first.trace.manifest().object().deepCopy();
		Together together = new Together();
		ranks.forEach(rank -> together.add(rank, shifts.get(rank.machine())));
		if (together.commands.size() > 1) {
			notes.add("the ranks have " + together.commands.size() + " different commands; that of rank " + first.number + " is shown");
		}
		all.add("losses", together.losses());
		together.clock(part(all, "clock"));
		together.status(part(all, "status"));
		for (String key : SENTENCES) {
			all.remove(key);
			if (together.sentences.containsKey(key)) {
				all.add(key, sentences(key, together.sentences.get(key), ranks));
			}
		}
		if (all.has("host") && all.get("host").isJsonObject()) {
			all.getAsJsonObject("host").addProperty("name", String.join(", ", hosts.values()));
		}
		JsonObject job = all.getAsJsonObject("job");
		job.addProperty("ranks", ranks.size());
		job.addProperty("machines", hosts.size());
		job.addProperty("clocks", hosts.size() == 1 ? "all ranks ran on one machine, with one clock"
				: notes.stream().filter(note -> note.contains("clock")).collect(Collectors.joining("; ")));
		if (!commonName(ranks)) {
			all.addProperty("name", shown.toAbsolutePath().normalize().getFileName().toString());
		}
		return new Json(all);
	}

	/** An object of the manifest, which gets it when it has none. */
	private static JsonObject part(JsonObject all, String key) {
		JsonObject part = all.has(key) && all.get(key).isJsonObject() ? all.getAsJsonObject(key) : new JsonObject();
		all.add(key, part);
		return part;
	}

	private static JsonObject sentences(String key, Set<String> sentences, List<Rank> ranks) {
		JsonObject text = new JsonObject();
		text.addProperty("text", String.join("; ", sentences));
		if (key.equals("unseen")) {
			unseen(ranks, text);
		} else if (key.equals("unrecorded")) {
			text.addProperty("unreached", ranks.stream().mapToLong(r -> r.trace.manifest().object("unrecorded").number("unreached", 0)).sum());
		}
		return text;
	}

	/** All is seen where each rank says so; then one sentence is enough. The bytes are the sum. */
	private static void unseen(List<Rank> ranks, JsonObject to) {
		boolean all = true;
		long bytes = 0;
		for (Rank rank : ranks) {
			Json unseen = rank.trace.manifest().object("unseen");
			all &= unseen.text("state").equals("all");
			bytes += unseen.number("bytes", 0);
		}
		to.addProperty("state", all ? "all" : "some");
		to.addProperty("bytes", bytes);
	}

	private static boolean commonName(List<Rank> ranks) {
		return ranks.stream().map(r -> r.trace.manifest().text("name")).distinct().count() == 1;
	}
}
