// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.bench;

import java.util.concurrent.TimeUnit;

import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The figures that the engine has to reach: one p, the whole list at 0.001, and the gains before them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgs = "-Xmx2g")
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 2)
public class Figures {
	@Param({"4096:50:4", "1024:100:4", "4096:100:4"})
	public String size;
	private Engine engine;

	@Setup
	public void make() throws CancelledException {
		engine = new Engine(size);
	}

	@Benchmark
	public Partition oneP() {
		return engine.aggregator.partition(engine.p());
	}

	@Benchmark
	public SignificantLevels list() throws CancelledException {
		return SignificantLevels.compute(engine.aggregator, Progress.NONE);
	}

	@Benchmark
	public SpatiotemporalAggregator gains() throws CancelledException {
		return engine.prepare();
	}
}
