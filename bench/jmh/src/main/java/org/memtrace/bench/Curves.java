// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.bench;

import java.util.concurrent.TimeUnit;

import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.model.CancelledException;
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

/** Cost against leaves, slices and types. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgs = "-Xmx2g")
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class Curves {
	@Param({"256:50:4", "512:50:4", "1024:50:4", "2048:50:4", "4096:50:4", "8192:50:4", "1024:10:4", "1024:20:4",
		"1024:40:4", "1024:80:4", "1024:160:4", "1024:50:1", "1024:50:2", "1024:50:8"})
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
	public SpatiotemporalAggregator gains() throws CancelledException {
		return engine.prepare();
	}
}
