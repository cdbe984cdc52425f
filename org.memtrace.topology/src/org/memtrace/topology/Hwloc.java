// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.topology;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

import org.memtrace.analysis.machine.GivenMachine;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.UnavailableException;
import org.memtrace.model.store.TraceStore;

import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/**
 * Reads topologies with libhwloc 2. Safe for all threads: every call works on a topology of its own. All methods fail with a
 * sentence for a person where the library is missing.
 */
public final class Hwloc {
	/** Name or path of another library than the installed one. */
	public static final String LIBRARY_PROPERTY = "memtrace.hwloc";
	private static final int MAX_DEPTH = 200;

	private final HwlocLibrary library;

	private Hwloc(HwlocLibrary library) {
		this.library = library;
	}

	/** Loads the library. */
	public static Hwloc load() throws UnavailableException {
		String other = System.getProperty(LIBRARY_PROPERTY, "");
		List<String> names = other.isEmpty() ? List.of("hwloc", "libhwloc.so.15", "libhwloc-15") : List.of(other);
		StringBuilder why = new StringBuilder();
		for (String name : names) {
			try {
				HwlocLibrary library = Native.load(name, HwlocLibrary.class);
				int version = library.hwloc_get_api_version();
				if (version >>> 16 == 2) {
					return new Hwloc(library);
				}
				why.append(" It has version ").append(version >>> 16).append('.').append(version >>> 8 & 0xff).append('.');
			} catch (LinkageError e) {
				// tried under its other names
			}
		}
		throw new UnavailableException("The library hwloc 2, which reads topologies of machines, "
				+ (why.isEmpty() ? "is not installed" : "is needed") + " (Debian and Ubuntu: libhwloc15; Fedora: hwloc-libs"
				+ (other.isEmpty() ? "" : "; looked for " + other) + ")." + why);
	}

	/** Such as {@code 2.9}: the interface of the library that was loaded. */
	public String version() {
		int v = library.hwloc_get_api_version();
		return (v >>> 16) + "." + (v >>> 8 & 0xff);
	}

	/** The machine on which a trace was recorded; where the trace does not tell, the machine we run on. */
	public MachineTopology of(TraceStore store) throws MemtraceException {
		Optional<byte[]> xml = store.readNote(TraceStore.NOTE_TOPOLOGY);
		return xml.isPresent() ? read(xml.get(), TraceStore.NOTE_TOPOLOGY + " of " + store.info().alias()) : live();
	}

	/** The machine we run on. */
	public MachineTopology live() throws MemtraceException {
		return read("this machine", false, "The topology of this machine cannot be read: hwloc finds none", t -> 0);
	}

	/**
	 * A topology as hwloc writes it.
	 *
	 * @param xml the contents of the file
	 * @param file its name, for messages
	 */
	public MachineTopology read(byte[] xml, String file) throws MemtraceException {
		byte[] checked = TopologyXml.checked(xml, file);
		// the library wants the terminating 0
		byte[] buffer = Arrays.copyOf(checked, checked.length + 1);
		return read(file, true, file + " is a topology, but none that hwloc " + version() + " can read",
				t -> library.hwloc_topology_set_xmlbuffer(t, buffer, buffer.length));
	}

	/** A machine that does not exist, for tests and demonstrations, described as for {@code lstopo --input}. */
	public MachineTopology synthetic(String description) throws MemtraceException {
		return read("synthetic: " + description, true, "'" + description + "' describes no machine",
				t -> library.hwloc_topology_set_synthetic(t, description));
	}

	/** A machine that somebody gave; see {@link MachineTopology#isGiven()}. */
	public MachineTopology of(GivenMachine given) throws MemtraceException {
		return (given.xml() != null ? read(given.xml(), given.text()) : synthetic(given.text())).given();
	}

	/** Sets what a topology is to be read from. */
	@FunctionalInterface
	private interface Source {
		int set(Pointer topology);
	}

	private MachineTopology read(String origin, boolean recorded, String error, Source source) throws MemtraceException {
		PointerByReference made = new PointerByReference();
		if (library.hwloc_topology_init(made) != 0) {
			throw new MemtraceException("hwloc does not start: not enough memory");
		}
		Pointer topology = made.getValue();
		try {
			if (source.set(topology) != 0 || library.hwloc_topology_set_flags(topology,
					new NativeLong(HwlocLibrary.INCLUDE_DISALLOWED)) != 0 || library.hwloc_topology_load(topology) != 0) {
				throw new MemtraceException(error + ".");
			}
			Pointer root = library.hwloc_get_obj_by_depth(topology, 0, 0);
			if (root == null) {
				throw new MemtraceException(error + ".");
			}
			return new MachineTopology(object(root, 0), origin, recorded);
		} finally {
			library.hwloc_topology_destroy(topology);
		}
	}

	private MachineObject object(Pointer at, int depth) throws MemtraceException {
		if (depth > MAX_DEPTH) {
			throw new MemtraceException("The topology is deeper than " + MAX_DEPTH + " levels.");
		}
		HwlocLibrary.Obj o = new HwlocLibrary.Obj(at);
		Type type = type(library.hwloc_obj_type_string(o.type));
		long size = o.attr != null && (type == Type.CACHE || type == Type.NODE || type == Type.MEMORY_CACHE) ? o.attr.getLong(0) : 0;
		BitSet cpus = new BitSet();
		if (o.cpuset != null) {
			for (int cpu = library.hwloc_bitmap_next(o.cpuset, -1); cpu >= 0; cpu = library.hwloc_bitmap_next(o.cpuset, cpu)) {
				cpus.set(cpu);
			}
		}
		return new MachineObject(type, name(type, at), o.osIndex, o.logicalIndex, Math.max(0, size), cpus,
				list(o.memoryFirstChild, depth), list(o.firstChild, depth));
	}

	private List<MachineObject> list(Pointer first, int depth) throws MemtraceException {
		List<MachineObject> list = new ArrayList<>();
		for (Pointer p = first; p != null; p = new HwlocLibrary.Obj(p).nextSibling) {
			list.add(object(p, depth + 1));
		}
		return list;
	}

	private String name(Type type, Pointer at) {
		if (type != Type.CACHE && type != Type.GROUP && type != Type.OTHER) {
			return type.word();
		}
		byte[] text = new byte[64];
		library.hwloc_obj_type_snprintf(text, new HwlocLibrary.SizeT(text.length), at, 0);
		return Native.toString(text, StandardCharsets.UTF_8.name());
	}

	private static Type type(String name) {
		return switch (name) {
		case "Machine" -> Type.MACHINE;
		case "Package" -> Type.PACKAGE;
		case "Die" -> Type.DIE;
		case "Group" -> Type.GROUP;
		case "Core" -> Type.CORE;
		case "PU" -> Type.PU;
		case "NUMANode" -> Type.NODE;
		case "MemCache" -> Type.MEMORY_CACHE;
		default -> name.matches("L[1-5]i?(Cache)?") ? Type.CACHE : Type.OTHER;
		};
	}
}
