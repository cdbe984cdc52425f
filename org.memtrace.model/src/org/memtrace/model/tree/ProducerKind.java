// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.tree;

/** What an event producer of a memory trace stands for; the ordinal is stored, so only append. */
public enum ProducerKind {
	/** The root of everything. */
	ROOT,
	/** A process image (only in traces with several). */
	IMAGE,
	/** A data structure of the program: static, heap or mapped. */
	STRUCTURE,
	/** A thread stack. */
	STACK,
	/** A contiguous range of pages outside of all structures. */
	RANGE,
	/** A part of one of the above, made by recursive division. */
	PART,
	/** A page, or the part of a page that belongs to one structure: always a leaf. */
	PAGE,
	/**
	 * Several blocks. With a structure: all blocks of one name and place ({@code Lives}), or some of them; its structure is that which begins
	 * at the lowest address. Without: a group of small siblings, made so that a person can read the tree.
	 */
	GROUP,
	/** A producer of a trace that is not a memory trace. */
	OTHER,
	/** A NUMA node of the machine. */
	NODE,
	/** A contiguous range of page frames; its addresses are physical, and so are those of its parts and pages. */
	FRAMES
}
