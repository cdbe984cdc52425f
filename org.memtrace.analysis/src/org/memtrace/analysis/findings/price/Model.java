// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.MeasuredMachine;
import org.memtrace.model.memory.MeasuredMachine.Figure;
import org.memtrace.model.memory.Structure;

/** The price of one finding, by the class of its repair. */
final class Model {
	private static final String ONE_NODE = "this machine has one NUMA node, so no page is far";
	private static final String NOT_MEASURED = "what a page on another NUMA node costs is not measured";
	/** What the model of locality was off by, in points: prefetching, loops of other shapes, instructions that come free with vectors. */
	private static final double LOCALITY_ERROR = 0.15;
	/** A load, an operation and its store take so many ns at least. */
	private static final double LEAST_NS = 0.4;
	/** A repaired sharing leaves half of what the line costs, or less. */
	private static final double LEAST_SHARING = 0.5;
	/** Parallel first touches are not free: the kernel takes locks. */
	private static final double FAULTS_IN_PARALLEL = 0.5;
	/** Fewer ticks while another thread ran say nothing about what threads do to each other. */
	private static final int ENOUGH_TOGETHER = 10;
	private static final int COLUMNS_OF_PAGES = 4096;

	private final Priced finding;
	private final TraceFacts facts;
	private final RunTicks ticks;
	private final MeasuredMachine machine;
	/** CPU time of the run without the recorder, in ns: code, system calls, and page faults as they would be alone. */
	private final double runNs;
	private final Set<Integer> structures;
	private final RunTicks.At at;
	/** The program's own code as a part of the run. */
	private final double code;

	Model(Priced finding, TraceFacts facts, RunTicks ticks, MeasuredMachine machine) {
		this.finding = finding;
		this.facts = facts;
		this.ticks = ticks;
		this.machine = machine;
		runNs = Math.max(1, ticks.userNs() + ticks.callNs() + facts.groups().stream().mapToDouble(g -> PageFaults.of(g, facts).alone()).sum()
				* machine.figure("fault").map(Figure::value).orElse(0.0));
		structures = new HashSet<>(finding.structures());
		at = ticks.at(structures);
		code = ticks.userNs() / runNs;
	}

	Price price() {
		return switch (finding.rule()) {
		case "false-sharing" -> sharing();
		case "strided", "column-sweep" -> sweep();
		case "padding" -> padding();
		case "first-touch" -> firstTouch();
		case "imbalance" -> imbalance();
		case "short-lived", "recycled-heap" -> lives();
		case "remote-mapping", "remote-share", "replicate", "page-shared" -> facts.nodes() == 1 ? Price.nothing(ONE_NODE) : bound(NOT_MEASURED);
		case "unused" -> Price.notKnown("it takes memory, not time");
		default -> bound("what its repair takes away of the time there cannot be computed");
		};
	}

	private Figure figure(String name) {
		return machine.figure(name).orElse(null);
	}

	private static Price missing(String name) {
		return Price.notKnown("the figure " + name + " of the machine is not known (memtrace check --measure)");
	}

	private static String percent(double share) {
		return String.format(Locale.ROOT, "%.0f %%", 100 * share);
	}

	/** Not more than the time of what its functions do, beside accesses to other structures, and of its page faults. */
	private Price bound(String why) {
		Figure fault = figure("fault");
		if (fault == null) {
			return missing("fault");
		}
		double faults = finding.groups(facts).stream().mapToDouble(g -> PageFaults.of(g, facts).alone()).sum() * fault.high()
				/ runNs;
		return Price.atMost(Share.of(at.ticks() + at.near(), ticks.count()).high() * code + faults, why);
	}

	/** Lines that go to and fro: only ticks while another thread runs tell. */
	private Price sharing() {
		Figure own = figure("write_own_line");
		Figure shared = figure("write_shared_line");
		if (own == null || shared == null) {
			return missing(own == null ? "write_own_line" : "write_shared_line");
		}
		RunTicks.Shared both = ticks.shared(structures);
		if (both.of() < ENOUGH_TOGETHER) {
			return Price.notKnown("the threads did not run together: " + both.of() + " ticks while another thread ran");
		}
		Share t = Share.of(both.ticks(), both.of()).times(code * both.part());
		double least = Math.max(0, 1 - own.high() / shared.low());
		double part = Math.max(LEAST_SHARING, 1 - own.value() / shared.value());
		return Price.known(t.value() * (part + 1) / 2, t.low() * Math.min(least, part), t.high(), false,
				percent(t.value()) + " of the running time is at lines that two threads use, while both run; an access in a line of its own takes "
						+ percent(own.value() / shared.value()) + " of one in a shared line");
	}

	/** Down the columns: walking along memory instead. */
	private Price sweep() {
		long size = finding.groups(facts).stream().flatMap(g -> g.structures.stream()).map(facts.structures()::get)
				.mapToLong(Structure::sizeBytes).max().orElse(0);
		boolean memory = size > 2 * machine.l2Bytes();
		double row = finding.figures().getOrDefault("row_bytes", finding.figures().getOrDefault("stride_bytes", 0.0));
		String name = !memory ? "sweep_column_l3" : row >= COLUMNS_OF_PAGES && row % COLUMNS_OF_PAGES == 0 ? "sweep_column_16k" : "sweep_column";
		Figure bad = figure(name);
		Figure stream = figure(at.writes() > 0 ? "write_1" : "read_1");
		Figure near = figure("sweep_l2");
		if (bad == null || stream == null || near == null) {
			return missing(bad == null ? name : stream == null ? "read_1 or write_1" : "sweep_l2");
		}
		double bytes = Math.max(1, at.bytes());
		double good = memory ? Math.max(LEAST_NS, bytes * stream.value()) : near.value();
		return locality(1 - good / bad.value(), 1 - (memory ? Math.max(LEAST_NS, bytes * stream.high()) : near.high()) / bad.low(),
				1 - (memory ? Math.max(LEAST_NS, bytes * stream.low()) : near.low()) / bad.high(),
				"an access down a column takes " + String.format(Locale.ROOT, "%.2g ns here, one along memory %.2g ns", bad.value(), good));
	}

	/** Padding: what is streamed and not used. */
	private Price padding() {
		double share = finding.figures().getOrDefault("padding_share", Double.NaN);
		if (Double.isNaN(share)) {
			double element = finding.figures().getOrDefault("element_bytes", 0.0);
			share = element > 0 ? 1 - finding.figures().getOrDefault("member_bytes", element) / element : 0;
		}
		return locality(share, share, share, percent(share) + " of each element is not used");
	}

	private Price locality(double part, double low, double high, String why) {
		Share t = Share.of(at.ticks(), ticks.count()).times(code);
		Share more = Share.of(at.ticks() + at.near(), ticks.count()).times(code);
		if (at.near() > at.ticks()) {
			return Price.atMost(more.high() * Math.min(1, Math.max(0, high) + LOCALITY_ERROR), percent(t.value())
					+ " of the running time is at accesses to it, and more at what its functions compute, which may wait for it; " + why);
		}
		return Price.known(t.value() * Math.max(0, part), t.low() * Math.max(0, low - LOCALITY_ERROR),
				more.high() * Math.min(1, Math.max(0, high) + LOCALITY_ERROR), false,
				percent(t.value()) + " of the running time is at accesses to it; " + why);
	}

	/** One thread takes all page faults: others could take their part at the same time. */
	private Price firstTouch() {
		if (facts.nodes() != 1) {
			return bound(NOT_MEASURED);
		}
		Figure fault = figure("fault");
		if (fault == null) {
			return missing("fault");
		}
		List<GroupFacts> groups = finding.groups(facts);
		long pages = groups.stream().mapToLong(g -> g.firstToucher() < 0 ? 0 : g.firstTouched[g.firstToucher()]).sum();
		int team = groups.stream().mapToInt(g -> g.team.length).max().orElse(1);
		int width = Math.max(1, Math.min(team, facts.info().cpus() <= 0 ? team : facts.info().cpus()));
		double less = pages * (1 - 1.0 / width);
		double elapsed = Math.max(1, facts.info().durationNs());
		double shortest = Math.min(elapsed, runNs / width);
		return Price.known(FAULTS_IN_PARALLEL * less * fault.value() / elapsed, 0, less * fault.high() / shortest, true,
				ONE_NODE + "; what is left are " + String.format(Locale.ROOT, "%,d", pages) + " page faults of one thread, which "
						+ (width == 1 ? "no other CPU can share" : width + " CPUs could share"));
	}

	/** The busiest thread does less: the others wait less for it. */
	private Price imbalance() {
		double work = finding.figures().getOrDefault("work_ns", finding.figures().getOrDefault("work_ticks", Double.NaN) * ticks.userNs()
				/ Math.max(1, ticks.count()));
		double busiest = finding.figures().getOrDefault("busiest_share", Double.NaN) * work;
		double threads = finding.figures().getOrDefault("threads", Double.NaN);
		if (Double.isNaN(busiest) || Double.isNaN(threads) || work <= 0) {
			return Price.notKnown("the CPU time of the threads is not known");
		}
		double cpus = Math.max(1, facts.info().cpus() <= 0 ? threads : facts.info().cpus());
		double best = Math.max(work / threads, work / cpus);
		double gain = Math.max(0, busiest - best);
		double serial = Math.max(0, runNs - work);
		double shortest = Math.max(busiest, work / cpus) + serial;
		double elapsed = Math.max(shortest, facts.info().durationNs());
		return Price.known(gain / shortest, gain / elapsed / 2, gain / shortest, true, "the busiest thread needs "
				+ percent(busiest / work) + " of the work; " + (int) cpus + " CPUs can do it in " + percent(best / work) + " of the time of one");
	}

	/** Blocks that come and go: page faults anew, if the allocator gives pages back. */
	private Price lives() {
		Figure fault = figure("fault");
		Figure unmap = figure("unmap_page");
		if (fault == null || unmap == null) {
			return missing(fault == null ? "fault" : "unmap_page");
		}
		if (!facts.property(org.memtrace.model.TraceInfo.PROPERTY_UNLISTED).isEmpty()) {
			return Price.notKnown("not all blocks that lived shortly are listed");
		}
		List<PageFaults> faults = finding.groups(facts).stream().map(g -> PageFaults.of(g, facts)).toList();
		double low = faults.stream().mapToDouble(PageFaults::least).sum();
		double high = faults.stream().mapToDouble(PageFaults::most).sum();
		Figure each = fault.plus(unmap);
		double run = runNs;
		return Price.known((low + high) / 2 * each.value() / run, low * each.low() / run,
				high * each.high() / run + LOCALITY_ERROR * Math.min(1, 2 * low * each.value() / run), false,
				String.format(Locale.ROOT, "%,.0f to %,.0f page faults would not be", low, high) + "; the time in the allocator itself is not in it");
	}

}
