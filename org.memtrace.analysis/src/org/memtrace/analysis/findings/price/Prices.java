// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.source.RecordedCode;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.MeasuredMachine;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.store.TraceStore;

/**
 * What findings cost on the recorded machine: time at the structure by ticks, times the part of it that a repair can take away by what the
 * machine was measured to need. Where something of this is missing the price is not known, and says why. docs/howto/price.md.
 * Immutable.
 */
public final class Prices {
	/** Fewer ticks say nothing about shares. */
	static final int ENOUGH = 100;

	private final RunTicks ticks;
	private final MeasuredMachine machine;
	private final String missing;

	private Prices(RunTicks ticks, MeasuredMachine machine, String missing) {
		this.ticks = ticks;
		this.machine = machine;
		this.missing = missing;
	}

	/** Those of a trace. */
	public static Prices of(TraceStore store) throws MemtraceException {
		TraceInfo info = store.info();
		byte[] note = store.readNote(Ticks.NOTE).orElse(null);
		MeasuredMachine machine = MeasuredMachine.of(info.properties().getOrDefault(TraceInfo.PROPERTY_MEASURED, ""));
		RunTicks ticks = note == null ? null : RunTicks.of(Ticks.of(note), RecordedCode.of(store));
		String missing = ticks == null ? "the recording has no ticks"
				: ticks.count() < ENOUGH ? "the recording has too few ticks"
				: machine.isEmpty() ? "the machine was not measured before it was recorded (memtrace check --measure)" : "";
		return new Prices(ticks, machine, missing);
	}

	/** Why no price is known; empty when some are. */
	public String missing() {
		return missing;
	}

	/** The price of a finding. */
	public Price of(Priced f, TraceFacts facts) {
		return missing.isEmpty() ? new Model(f, facts, ticks, machine).price() : Price.notKnown(missing);
	}
}
