// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

/** Which property of an access is its type, and so its colour. */
public enum Viewpoint {
	/** Private or shared, read or write: four types. */
	SHARING("sharing"),
	/** The thread that made the access. */
	THREAD("thread"),
	/** Read or write. */
	READ_WRITE("rw"),
	/** The CPU; an access record that saw several CPUs is divided equally among them. */
	CPU("cpu"),
	/** The NUMA node of the page. */
	NODE("node"),
	/** The event type: traces of any origin, from an {@link EventTable}. */
	TYPE("type");

	private final String id;

	Viewpoint(String id) {
		this.id = id;
	}

	/** Name on the command line. */
	public String id() {
		return id;
	}

	/** Viewpoint by name, or null. */
	public static Viewpoint byId(String id) {
		for (Viewpoint v : values()) {
			if (v.id.equals(id)) {
				return v;
			}
		}
		return null;
	}
}
