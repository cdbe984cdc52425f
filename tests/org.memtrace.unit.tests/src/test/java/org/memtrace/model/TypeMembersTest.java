// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.model.memory.TypeMembers;

/** Members of a type, from their text. */
class TypeMembersTest {
	@Test
	void offsetsHaveMembers() {
		TypeMembers t = TypeMembers.parse("24;0 8 pos.x double;16 4 next struct cell *;16 8 u long").orElseThrow();
		assertEquals(24, t.bytes());
		assertEquals(new TypeMembers.Member(16, 4, "next", "struct cell *"), t.members().get(1));
		assertEquals(List.of("pos.x", "pos.x", "", "next", "u", ""), List.of(0, 7, 8, 16, 20, 24).stream()
				.map(at -> t.at(at).map(TypeMembers.Member::name).orElse("")).toList());
		assertEquals(new TypeMembers(8, List.of()), TypeMembers.parse("8").orElseThrow());
		assertTrue(TypeMembers.parse("8;0 8 call ").orElseThrow().members().get(0).type().isEmpty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ";", "0", "-8", "x", "8;", "8;0", "8;0 8", "8;-1 8 a int",
			"8;0 -1 a int", "8;a 8 b int", "8;0 8 a int;", "99999999999999999999" })
	void whatDoesNotFollowTheFormatIsNotKnown(String text) {
		assertEquals(text.equals("8;") || text.equals("8;0 8 a int;"), TypeMembers.parse(text).isPresent(), text);
		assertEquals(Optional.empty(), TypeMembers.parse(text).flatMap(t -> t.at(9)));
	}
}
