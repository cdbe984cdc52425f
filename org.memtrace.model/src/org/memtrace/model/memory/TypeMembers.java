// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an element of a structure consists of. Members of structures in it have names with a point and offsets in the whole.
 *
 * @param bytes of one element, at least 1
 * @param members in the order of their declaration; none for a number or a pointer. Those of a union have places in common
 */
public record TypeMembers(long bytes, List<Member> members) {
	/**
	 * @param offset of its first byte in the element
	 * @param bytes number of its bytes
	 * @param name {@code hits}, {@code pos.x}
	 * @param type as it is declared, empty when it has no name
	 */
	public record Member(long offset, long bytes, String name, String type) {
	}

	/**
	 * The members as they stand in structures.csv ({@link Structure#members()}); empty when the text is empty or does not follow the format.
	 */
	public static Optional<TypeMembers> parse(String text) {
		String[] parts = text.split(";");
		try {
			long bytes = Long.parseLong(parts[0]);
			List<Member> members = new ArrayList<>();
			for (int i = 1; i < parts.length; i++) {
				String[] f = parts[i].split(" ", 4);
				members.add(new Member(Long.parseLong(f[0]), Long.parseLong(f[1]), f[2], f.length > 3 ? f[3] : ""));
			}
			return bytes < 1 || members.stream().anyMatch(m -> m.offset() < 0 || m.bytes() < 0) ? Optional.empty()
					: Optional.of(new TypeMembers(bytes, List.copyOf(members)));
		} catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
			return Optional.empty();
		}
	}

	/** The first member that has this byte of the element. */
	public Optional<Member> at(long offset) {
		return members.stream().filter(m -> m.offset() <= offset && offset < m.offset() + m.bytes()).findFirst();
	}
}
