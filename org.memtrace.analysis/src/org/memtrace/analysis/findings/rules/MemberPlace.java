// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.TypeMembers;

/**
 * What the program calls a byte of a structure.
 *
 * @param element number of the element in its array, from 0, in the order of memory
 * @param offset of the byte in the element
 * @param member of the element; null for an element without members
 * @param expression {@code counters[3].hits}, {@code grid[1][44]}; in Fortran without an index, since bounds need not begin at 1:
 *            {@code cells%k}
 */
record MemberPlace(long element, long offset, TypeMembers.Member member, String expression) {
	private static final Pattern DIMENSIONS = Pattern.compile("(?:\\[\\d+\\])+$");
	private static final Pattern LAST_DIMENSION = Pattern.compile("\\[(\\d+)\\]$");

	/** Empty when the type is not known, or when the blocks of the group that had this address began at different ones. */
	static Optional<MemberPlace> of(GroupFacts g, TraceFacts t, long address) {
		List<Structure> there = g.structures.stream().map(t.structures()::get)
				.filter(s -> Long.compareUnsigned(s.startAddress(), address) <= 0 && Long.compareUnsigned(address, s.endAddress()) < 0).toList();
		if (g.members == null || there.isEmpty() || there.stream().anyMatch(s -> s.startAddress() != there.get(0).startAddress())) {
			return Optional.empty();
		}
		long at = address - there.get(0).startAddress();
		long element = at / g.members.bytes();
		long offset = at % g.members.bytes();
		TypeMembers.Member member = g.members.at(offset).orElse(null);
		String type = there.get(0).typeName();
		boolean fortran = type.endsWith(")");
		String index = fortran ? "" : index(type, element);
		if (index == null || member == null && (fortran || index.isEmpty() || !g.members.members().isEmpty())) {
			return Optional.empty();	// padding, or a name that says no more than that of the structure
		}
		String of = member == null ? "" : (fortran ? "%" : ".") + member.name() + within(member, offset - member.offset());
		return Optional.of(new MemberPlace(element, offset, member, g.name + index + of));
	}

	/** "[1][44]" for an element of "double[512][256]"; null: it is behind the end. */
	private static String index(String type, long element) {
		Matcher m = DIMENSIONS.matcher(type);
		if (!m.find()) {
			return element == 0 ? "" : null;
		}
		String[] dimensions = m.group().substring(1, m.group().length() - 1).split("\\]\\[");
		StringBuilder text = new StringBuilder();
		long rest = element;
		for (int d = dimensions.length - 1; d >= 0; d--) {
			long n = Long.parseLong(dimensions[d]);
			if (n == 0) {
				return null;
			}
			text.insert(0, "[" + rest % n + "]");
			rest /= n;
		}
		return rest == 0 ? text.toString() : null;
	}

	/** "[2]" for a member that is an array with one dimension. */
	private static String within(TypeMembers.Member member, long offset) {
		Matcher m = LAST_DIMENSION.matcher(member.type());
		long n = m.find() && member.type().indexOf('[') == m.start() ? Long.parseLong(m.group(1)) : 0;
		return n > 0 && member.bytes() % n == 0 && member.bytes() > 0 ? "[" + offset / (member.bytes() / n) + "]" : "";
	}
}
