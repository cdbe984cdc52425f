// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.topology;

import java.util.List;

import com.sun.jna.IntegerType;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.PointerByReference;

/** The functions of libhwloc 2 that are used, as declared in hwloc.h. Names are those of the library. */
interface HwlocLibrary extends Library {
	/** HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED: also what a control group hides. */
	long INCLUDE_DISALLOWED = 1;

	/** {@code struct hwloc_obj} of hwloc 2.0 and newer up to what is read; members may only be added behind it in that series. */
	final class Obj extends Structure {
		public int type;
		public Pointer subtype;
		public int osIndex;
		public Pointer name;
		public long totalMemory;
		public Pointer attr;
		public int depth;
		public int logicalIndex;
		public Pointer nextCousin;
		public Pointer prevCousin;
		public Pointer parent;
		public int siblingRank;
		public Pointer nextSibling;
		public Pointer prevSibling;
		public int arity;
		public Pointer children;
		public Pointer firstChild;
		public Pointer lastChild;
		public int symmetricSubtree;
		public int memoryArity;
		public Pointer memoryFirstChild;
		public int ioArity;
		public Pointer ioFirstChild;
		public int miscArity;
		public Pointer miscFirstChild;
		public Pointer cpuset;

		Obj(Pointer at) {
			super(at);
			read();
		}

		@Override
		protected List<String> getFieldOrder() {
			return List.of("type", "subtype", "osIndex", "name", "totalMemory", "attr", "depth", "logicalIndex", "nextCousin",
					"prevCousin", "parent", "siblingRank", "nextSibling", "prevSibling", "arity", "children", "firstChild",
					"lastChild", "symmetricSubtree", "memoryArity", "memoryFirstChild", "ioArity", "ioFirstChild", "miscArity",
					"miscFirstChild", "cpuset");
		}
	}


	/** {@code size_t}. */
	final class SizeT extends IntegerType {
		private static final long serialVersionUID = 1L;

		/** JNA needs it. */
		public SizeT() {
			this(0);
		}

		SizeT(long value) {
			super(Native.SIZE_T_SIZE, value, true);
		}
	}

	int hwloc_get_api_version();

	int hwloc_topology_init(PointerByReference topology);

	int hwloc_topology_set_flags(Pointer topology, NativeLong flags);

	int hwloc_topology_set_xmlbuffer(Pointer topology, byte[] buffer, int size);

	int hwloc_topology_set_synthetic(Pointer topology, String description);

	int hwloc_topology_load(Pointer topology);

	void hwloc_topology_destroy(Pointer topology);

	Pointer hwloc_get_obj_by_depth(Pointer topology, int depth, int index);

	String hwloc_obj_type_string(int type);

	int hwloc_obj_type_snprintf(byte[] text, SizeT size, Pointer object, int verbose);

	int hwloc_bitmap_next(Pointer bitmap, int previous);
}
