// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.memory;

/** Whose addresses a tree of event producers is about; the ordinal is stored, so only append. */
public enum AddressSpace {
	/** Structures, stacks and ranges of the addresses that the program sees. */
	VIRTUAL("virtual"),
	/** NUMA nodes and the page frames of the machine. */
	PHYSICAL("physical");

	private final String id;

	AddressSpace(String id) {
		this.id = id;
	}

	/** Name on the command line. */
	public String id() {
		return id;
	}

	/** Address space by name, or null. */
	public static AddressSpace byId(String id) {
		for (AddressSpace space : values()) {
			if (space.id.equals(id)) {
				return space;
			}
		}
		return null;
	}
}
