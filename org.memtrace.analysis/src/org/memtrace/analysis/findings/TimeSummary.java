// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.analysis.source.TickShares;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Ticks.Mode;
import org.memtrace.model.tree.RankNames;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Where the CPU time of a program goes, in words and as JSON: which structures it waits for, and what the kernel does for it. */
final class TimeSummary {
	private static final int ROWS = 6;
	private static final double SMALLEST = 0.01;

	private final TickShares shares;
	private final TraceInfo info;
	private final RankNames names;

	TimeSummary(TickShares shares, TraceInfo info, RankNames names) {
		this.shares = shares;
		this.info = info;
		this.names = names;
	}

	/** Lines that begin with {@code Time}; without ticks why there are none, if the recorder told it. */
	String text() {
		String told = info.properties().getOrDefault(TraceInfo.PROPERTY_TICKS, "");
		if (shares.isEmpty()) {
			return told.isEmpty() ? "" : "Time       " + told + "\n";
		}
		StringBuilder b = new StringBuilder("Time       ");
		b.append(Units.duration(info, shares.userNs())).append(" of CPU time in the program's own code");
		if (shares.userTicks() < TickShares.ENOUGH) {
			b.append(": ").append(Units.plural(shares.userTicks(), "tick")).append(", too few to say where");
		} else {
			b.append(told.isEmpty() ? "" : " (" + told + ")").append(":\n");
			for (TickShares.Share s : shares.structures().stream().filter(this::isLarge).limit(ROWS).toList()) {
				b.append("           ").append(shares.share(s.ticks(), s.cpuNs())).append(" at accesses to ").append(names.shown(s.structure()))
						.append(s.hottest() == null ? "" : ", most in " + s.hottest().where()).append('\n');
			}
			String rest = rest();
			b.append(rest.isEmpty() ? "" : "           " + rest);
		}
		b.append(b.charAt(b.length() - 1) == '\n' ? "" : "\n");
		return b.append(kernel()).toString();
	}

	private boolean isLarge(TickShares.Share s) {
		return s.cpuNs() > SMALLEST * shares.userNs();
	}

	/** What is not at one of the structures above. */
	private String rest() {
		List<TickShares.Share> all = shares.structures();
		long small = all.stream().mapToLong(TickShares.Share::cpuNs).sum()
				- all.stream().filter(this::isLarge).limit(ROWS).mapToLong(TickShares.Share::cpuNs).sum();
		return java.util.stream.Stream.of(part(shares.withoutMemoryNs(), "at instructions without memory"),
				part(small, "at other structures"), part(shares.elsewhereNs(), "at memory without a name"),
				part(shares.unknownNs(), "not known")).filter(t -> !t.isEmpty()).collect(Collectors.joining(", "));
	}

	private String part(long ns, String what) {
		return ns <= 0 ? "" : Units.percent(100.0 * ns / Math.max(1, shares.userNs())) + " " + what;
	}

	/** Time in the kernel, which is no part of the shares: the recorder's own faults are in it. */
	private String kernel() {
		long faults = shares.kernelNs(Mode.FAULT);
		long calls = shares.kernelNs(Mode.CALL);
		if (faults + calls == 0) {
			return "";
		}
		String of = shares.structures().stream().filter(s -> s.faultNs() > SMALLEST * faults)
				.sorted((a, b) -> Long.compare(b.faultNs(), a.faultNs())).limit(ROWS / 2)
				.map(s -> Units.duration(info, s.faultNs()) + " of " + names.shown(s.structure())).collect(Collectors.joining(", "));
		return "           beside it in the kernel: " + Units.duration(info, faults) + " in page faults" + (of.isEmpty() ? "" : " (" + of + ")")
				+ ", which recording makes more of; " + Units.duration(info, calls) + " in system calls\n";
	}

	/** Null without ticks. */
	JsonObject toJson() {
		if (shares.isEmpty()) {
			return null;
		}
		JsonObject o = new JsonObject();
		o.addProperty("period_ns", shares.periodNs());
		o.addProperty("ticks", shares.userTicks());
		o.addProperty("user_ns", shares.userNs());
		o.addProperty("without_memory_ns", shares.withoutMemoryNs());
		o.addProperty("without_structure_ns", shares.elsewhereNs());
		o.addProperty("unknown_ns", shares.unknownNs());
		o.addProperty("fault_ns", shares.kernelNs(Mode.FAULT));
		o.addProperty("call_ns", shares.kernelNs(Mode.CALL));
		o.addProperty("recorder_ns", shares.ownNs());
		JsonArray list = new JsonArray();
		for (TickShares.Share s : shares.structures()) {
			JsonObject j = new JsonObject();
			j.addProperty("structure_id", s.structure().id());
			j.addProperty("name", names.shown(s.structure()));
			j.addProperty("site", s.structure().site());
			j.addProperty("ticks", s.ticks());
			j.addProperty("user_ns", s.cpuNs());
			j.addProperty("share_percent", 100.0 * s.cpuNs() / Math.max(1, shares.userNs()));
			j.addProperty("share_error_percent", shares.userTicks() == 0 ? null : TickShares.halfWidthPercent(s.ticks(), shares.userTicks()));
			j.addProperty("fault_ns", s.faultNs());
			j.addProperty("hottest", s.hottest() == null ? null : s.hottest().where());
			list.add(j);
		}
		o.add("structures", list);
		return o;
	}
}
