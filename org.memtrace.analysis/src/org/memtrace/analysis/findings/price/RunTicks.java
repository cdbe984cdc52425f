// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.source.TickShares;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.memory.Ticks.Access;
import org.memtrace.model.memory.Ticks.Mode;
import org.memtrace.model.memory.Ticks.Place;
import org.memtrace.model.memory.Ticks.Tick;

/** The ticks of a run as prices need them: those of the program's own code, without the recorder. Immutable. */
final class RunTicks {
	private static final long LINE = 64;
	/** A tick of another thread within so many periods: both run. */
	private static final double NEAR = 1.2;

	/** A tick of the program's own code. */
	private record Own(Tick tick, String function, boolean together) {
		boolean writes() {
			return tick.place().access() == Access.WRITE || tick.place().access() == Access.BOTH || tick.place().access() == Access.ANY;
		}
	}

	/**
	 * Ticks of a structure.
	 *
	 * @param ticks at accesses to it
	 * @param near at what its functions do beside accesses to other structures: where waiting for stores shows
	 * @param bytes mean width of an access
	 * @param writes share of the ticks that write
	 */
	record At(int ticks, int near, double bytes, double writes) {
	}

	/**
	 * Ticks of lines that two threads use, one of them to write.
	 *
	 * @param ticks in these lines while another thread ran on another CPU
	 * @param of all ticks while another thread ran
	 * @param part of all ticks those from the first to the last in such a line, 0 to 1
	 */
	record Shared(int ticks, int of, double part) {
	}

	private final List<Own> user;
	private final long userNs;
	private final long callNs;

	private RunTicks(List<Own> user, long userNs, long callNs) {
		this.user = user;
		this.userNs = userNs;
		this.callNs = callNs;
	}

	static RunTicks of(Ticks ticks, CodePlaces code) {
		Map<Place, CallFrame> frames = new HashMap<>();
		List<Tick> own = new ArrayList<>();
		long call = 0;
		long user = 0;
		long period = Long.MAX_VALUE;
		for (Tick t : ticks.all()) {
			CallFrame f = frames.computeIfAbsent(t.place(), p -> {
				int n = code.of(p.image(), p.ip());
				return n < 0 ? TickShares.NOWHERE : code.frames().get(n);
			});
			if (TickShares.isRecorder(f)) {
				continue;
			}
			period = Math.min(period, t.cpuNs());
			if (t.place().mode() == Mode.USER) {
				own.add(t);
				user += t.cpuNs();
			} else if (t.place().mode() == Mode.CALL) {
				call += t.cpuNs();
			}
		}
		List<Own> all = new ArrayList<>();
		for (int i = 0; i < own.size(); i++) {
			CallFrame f = frames.get(own.get(i).place());
			all.add(new Own(own.get(i), f.object() + " " + (f.function().isEmpty() ? f.file() : f.function()),
					isTogether(own, i, (long) (NEAR * period))));
		}
		return new RunTicks(List.copyOf(all), user, call);
	}

	private static boolean isTogether(List<Tick> all, int i, long nearNs) {
		Tick t = all.get(i);
		for (int step = -1; step <= 1; step += 2) {
			for (int k = i + step; k >= 0 && k < all.size() && Math.abs(all.get(k).timeNs() - t.timeNs()) < nearNs; k += step) {
				if (all.get(k).place().taskId() != t.place().taskId() && all.get(k).cpu() != t.cpu()) {
					return true;
				}
			}
		}
		return false;
	}

	/** Number of ticks. */
	int count() {
		return user.size();
	}

	/** CPU time of them. */
	long userNs() {
		return userNs;
	}

	/** CPU time in system calls of the program. */
	long callNs() {
		return callNs;
	}

	At at(Set<Integer> structures) {
		Set<String> functions = new HashSet<>();
		int ticks = 0;
		int writes = 0;
		long bytes = 0;
		for (Own o : user) {
			if (structures.contains(o.tick.place().structure())) {
				functions.add(o.function);
				ticks++;
				bytes += o.tick.place().bytes();
				writes += o.writes() ? 1 : 0;
			}
		}
		int near = (int) user.stream().filter(o -> !o.tick.place().addressKnown() && functions.contains(o.function)).count();
		return new At(ticks, near, ticks == 0 ? 0 : (double) bytes / ticks, ticks == 0 ? 0 : (double) writes / ticks);
	}

	Shared shared(Set<Integer> structures) {
		Map<Long, Set<Long>> users = new HashMap<>();
		Set<Long> written = new HashSet<>();
		for (Own o : user) {
			if (structures.contains(o.tick.place().structure())) {
				long line = o.tick.address() / LINE;
				users.computeIfAbsent(line, k -> new HashSet<>()).add(o.tick.place().taskId());
				if (o.writes()) {
					written.add(line);
				}
			}
		}
		int ticks = 0;
		int of = 0;
		int first = -1;
		int last = -1;
		for (int i = 0; i < user.size(); i++) {
			Own o = user.get(i);
			long line = o.tick.address() / LINE;
			boolean here = structures.contains(o.tick.place().structure()) && written.contains(line) && users.get(line).size() > 1;
			first = here && first < 0 ? i : first;
			last = here ? i : last;
			of += o.together ? 1 : 0;
			ticks += here && o.together ? 1 : 0;
		}
		return new Shared(ticks, of, first < 0 ? 0 : (last - first + 1.0) / user.size());
	}
}
