// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.memtrace.analysis.machine.GivenMachine;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.model.MemtraceException;

/** Topologies through the native library: what is in them, and what is said of broken ones. The build needs libhwloc anyway. */
class HwlocTest {
	private static final Path MACHINES = Path.of(System.getProperty("memtrace.root"), "testdata/machines");

	private static byte[] xml(String name) throws IOException {
		return Files.readAllBytes(MACHINES.resolve(name));
	}

	private static long count(MachineTopology t, Type type) {
		return t.objects().stream().filter(o -> o.type() == type).count();
	}

	@Test
	void aMachineThatIsGivenIsAFileOrADescription() throws Exception {
		Hwloc hwloc = Hwloc.load();
		String file = MACHINES.resolve("two-packages.xml").toString();
		MachineTopology read = hwloc.of(GivenMachine.of(file));
		assertEquals("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs", read.summary());
		assertEquals("The machine is not that of the recording: it is " + file + ".", read.notes().get(0));
		assertTrue(GivenMachine.of(file).xml().length > 1000);
		GivenMachine description = GivenMachine.of("pack:8 [numa] core:64 pu:2");
		assertEquals(null, description.xml());
		assertEquals("8 packages, 8 NUMA nodes, 512 cores, 1,024 CPUs", hwloc.of(description).summary());
		assertTrue(hwloc.of(description).isGiven());
		assertEquals("there is no file missing.xml",
				assertThrows(MemtraceException.class, () -> GivenMachine.of("missing.xml")).getMessage());
		GivenMachine nothing = GivenMachine.of("nothing of that");
		assertEquals("'nothing of that' describes no machine.", assertThrows(MemtraceException.class, () -> hwloc.of(nothing)).getMessage());
	}

	@Test
	void twoPackages() throws Exception {
		MachineTopology t = Hwloc.load().read(xml("two-packages.xml"), "two-packages.xml");
		assertEquals("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs", t.summary());
		assertTrue(t.isRecorded());
		assertEquals("two-packages.xml", t.origin());
		assertEquals(Type.MACHINE, t.root().type());
		assertEquals(16, t.root().cpuCount());
		MachineObject second = t.root().children().get(1);
		assertEquals("Package 1", second.label());
		assertEquals(1, second.memory().size());
		assertEquals("NUMA node 1 (1.0 GiB)", second.memory().get(0).label());
		MachineObject l3 = second.children().get(0);
		assertEquals(Type.CACHE, l3.type());
		assertEquals("L3 1 (16.0 MiB)", l3.label());
		MachineObject core = l3.children().get(3);
		assertEquals("Core 7", core.label());
		assertEquals("{14, 15}", core.cpus().toString());
		assertEquals("CPU 15", core.children().get(1).label());
		assertTrue(t.isLocal(0, 0));
		assertTrue(t.isLocal(15, 1));
		assertFalse(t.isLocal(15, 0));
		assertFalse(t.isLocal(16, 0), "no such CPU");
		assertFalse(t.isLocal(0, -1), "no node is near to nothing");
	}

	@Test
	void severalMemoriesOfAPackageAreNear() throws Exception {
		MachineTopology t = Hwloc.load().read(xml("two-memories.xml"), "x");
		assertEquals(4, t.nodes().size());
		assertEquals(64L << 30, t.nodes().get(0).sizeBytes());
		assertEquals(16L << 30, t.nodes().get(1).sizeBytes());
		for (int cpu = 0; cpu < 6; cpu++) {
			for (int node = 0; node < 4; node++) {
				assertEquals(cpu / 3 == node / 2, t.isLocal(cpu, node), "CPU " + cpu + ", node " + node);
			}
		}
	}

	@Test
	void largeMachine() throws Exception {
		MachineTopology t = Hwloc.load().synthetic("pack:4 [numa] die:2 l3:2 l2:8 core:1 pu:2");
		assertEquals(256, count(t, Type.PU));
		assertEquals(8, count(t, Type.DIE));
		assertEquals(16 + 128, count(t, Type.CACHE));
		assertEquals(256, t.root().cpuCount());
	}

	/** As the recorder writes it. */
	@Test
	void recordedTopology() throws Exception {
		Path file = MACHINES.resolve("../traces/matmul-naive/topology.xml");
		assertEquals("1 package, 1 NUMA node, 2 cores, 2 CPUs", Hwloc.load().read(Files.readAllBytes(file), "x").summary());
	}

	@Test
	void thisMachine() throws Exception {
		MachineTopology t = Hwloc.load().live();
		assertTrue(t.pus().size() >= Runtime.getRuntime().availableProcessors(), t.summary());
		assertFalse(t.nodes().isEmpty());
		assertFalse(t.isRecorded());
		assertEquals("this machine", t.origin());
	}

	private static String error(byte[] xml) {
		return assertThrows(MemtraceException.class, () -> Hwloc.load().read(xml, "topology.xml")).getMessage();
	}

	@Test
	void brokenFilesAreToldWithTheirPlace() throws Exception {
		byte[] good = xml("two-packages.xml");
		String cut = error(Arrays.copyOf(good, good.length / 2));
		assertTrue(cut.matches("topology.xml, line \\d+: is no complete XML: .+"), cut);
		assertTrue(error(new byte[0]).startsWith("topology.xml, line 1: is no complete XML"), error(new byte[0]));
		assertTrue(error("\0\1\2".getBytes(StandardCharsets.UTF_8)).startsWith("topology.xml, line 1: is no complete XML"));
		assertEquals("topology.xml, line 2: is no topology: its first element is html",
				error("<?xml version='1.0'?>\n<html/>".getBytes(StandardCharsets.UTF_8)));
		assertEquals("topology.xml, line 1: is a topology without a machine",
				error("<topology version='2.0'/>".getBytes(StandardCharsets.UTF_8)));
		assertEquals("topology.xml, line 1: is a topology of version 9.0, only version 2 can be read",
				error("<topology version='9.0'><object type='Universe'/></topology>".getBytes(StandardCharsets.UTF_8)));
		String xml = new String(good, StandardCharsets.UTF_8);
		assertEquals("topology.xml, line 9: has an object without cpuset",
				error(xml.replaceFirst("(type=.Package. os_index=.0. )cpuset=", "$1set=").getBytes(StandardCharsets.UTF_8)));
		assertEquals("topology.xml, line 15: has a PU whose cpuset is not its os_index",
				error(xml.replaceFirst("(type=.PU. os_index=.)0", "$11").getBytes(StandardCharsets.UTF_8)));
		String bomb = "<!DOCTYPE topology [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><topology>&b;</topology>";
		assertTrue(error(bomb.getBytes(StandardCharsets.UTF_8)).startsWith("topology.xml"), "entities are not expanded");
		assertThrows(MemtraceException.class, () -> Hwloc.load().synthetic("pack:x"));
	}

	/** Every cut and many a changed byte: a sentence or a topology, and the process lives. */
	@Test
	void damagedFilesAreSurvived() throws Exception {
		byte[] good = xml("two-packages.xml");
		Hwloc hwloc = Hwloc.load();
		long seed = 20261120;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		int read = 0;
		int refused = 0;
		for (int i = 0; i < 400; i++) {
			byte[] bad = good.clone();
			for (int k = random.nextInt(3); k >= 0; k--) {
				bad[random.nextInt(bad.length)] = (byte) "0123456789\"<>/ axf".charAt(random.nextInt(18));
			}
			try {
				hwloc.read(bad, "bad.xml");
				read++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().startsWith("bad.xml"), e.getMessage());
				refused++;
			}
		}
		assertTrue(read > 20 && refused > 20, read + " read, " + refused + " refused");
	}

	@Test
	@ResourceLock(Hwloc.LIBRARY_PROPERTY)
	void missingLibraryIsToldWithItsPackage() {
		System.setProperty(Hwloc.LIBRARY_PROPERTY, "libhwloc-that-nobody-has.so");
		try {
			String message = assertThrows(MemtraceException.class, Hwloc::load).getMessage();
			assertEquals("The library hwloc 2, which reads topologies of machines, is not installed (Debian and Ubuntu: libhwloc15; "
					+ "Fedora: hwloc-libs; looked for libhwloc-that-nobody-has.so).", message);
		} finally {
			System.clearProperty(Hwloc.LIBRARY_PROPERTY);
		}
	}
}
