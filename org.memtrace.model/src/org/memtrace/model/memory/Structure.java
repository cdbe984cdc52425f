// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

/**
 * A data structure of the traced program.
 *
 * @param id index in the trace, from 0
 * @param image process image
 * @param kind where it comes from
 * @param name what a person calls it; not necessarily unique
 * @param startAddress first byte
 * @param endAddress byte after the last
 * @param birthNs start of its life, the start of the trace when it was there from the beginning
 * @param deathNs end of its life, {@link Long#MAX_VALUE} when it lived to the end
 * @param taskId allocating thread (for a stack: the thread whose stack it is), -1 unknown
 * @param stack id of the call stack of the allocation, -1 none
 * @param site {@code file:line} of allocation or definition, empty when not known
 * @param typeName its type as it is declared, of a block of memory the elements and their number: {@code double[64][64]},
 *        {@code struct particle[1000]}, {@code real(kind=8)(:,:)}; empty when not known
 * @param members the bytes and the members of an element of its type, for {@link TypeMembers#parse}; empty when not known,
 *            or when an earlier
 *        structure of this type and image has them
 * @param hugeBytes so many of its bytes the program wanted in huge pages, by {@code madvise(MADV_HUGEPAGE)}, at the end of its life; -1 not
 *        known
 * @param noHugeBytes the same of {@code MADV_NOHUGEPAGE}
 */
public record Structure(int id, int image, StructureKind kind, String name, long startAddress, long endAddress,
		long birthNs, long deathNs, long taskId, int stack, String site, String typeName, String members, long hugeBytes, long noHugeBytes) {
	/** A structure of which it is not known what the program advised. */
	public Structure(int id, int image, StructureKind kind, String name, long startAddress, long endAddress, long birthNs, long deathNs,
			long taskId, int stack, String site, String typeName, String members) {
		this(id, image, kind, name, startAddress, endAddress, birthNs, deathNs, taskId, stack, site, typeName, members, -1, -1);
	}

	/** A structure whose members are not known. */
	public Structure(int id, int image, StructureKind kind, String name, long startAddress, long endAddress, long birthNs, long deathNs,
			long taskId, int stack, String site, String typeName) {
		this(id, image, kind, name, startAddress, endAddress, birthNs, deathNs, taskId, stack, site, typeName, "");
	}

	/** A structure whose type is not known. */
	public Structure(int id, int image, StructureKind kind, String name, long startAddress, long endAddress, long birthNs, long deathNs,
			long taskId, int stack, String site) {
		this(id, image, kind, name, startAddress, endAddress, birthNs, deathNs, taskId, stack, site, "");
	}

	/** Its name without the number of a block: {@code grid} of {@code grid #2}. */
	public String plainName() {
		String plain = name.strip();
		return plain.indexOf(" #") < 0 ? plain : plain.replaceFirst(" #\\d+$", "");
	}

	/** Whether it is a heap of the allocator as a whole: a part of one that a single place fills has that place as its site. */
	public boolean isWholeHeap() {
		return kind == StructureKind.BRK && site.isBlank();
	}

	/** Its place in the source without folders, {@code file:line}; empty when not known. */
	public String shortSite() {
		return site.substring(site.lastIndexOf('/') + 1);
	}

	/**
	 * The type of what an array consists of: {@code double} of {@code double[64][64]}, {@code real(kind=8)} of {@code real(kind=8)(:,:)};
	 * empty when not known.
	 */
	public String elementType() {
		return typeName.replaceFirst("(\\[[0-9]*\\])+$", "").replaceFirst("\\([0-9:,-]*\\)$", "").strip();
	}

	public long sizeBytes() {
		return endAddress - startAddress;
	}
}
