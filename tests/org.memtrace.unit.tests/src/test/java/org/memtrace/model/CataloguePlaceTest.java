// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.model.store.CataloguePlace;

class CataloguePlaceTest {
	@Test
	void partsOfAnAddress() throws Exception {
		CataloguePlace place = CataloguePlace.parse("postgres://anna%40lab@node7:5433/team%20a?sslmode=verify-full&service=x%26y");
		assertEquals(List.of("anna@lab", "node7", 5433, "team a"), List.of(place.user(), place.host(), place.port(), place.database()));
		assertEquals(Map.of("sslmode", "verify-full", "service", "x&y"), place.parameters());
		assertTrue(place.isServer());
		assertEquals("postgresql://anna%40lab@node7:5433/team%20a?service=x%26y&sslmode=verify-full", place.toString());
	}

	@Test
	void whatIsWrittenIsReadAgain() throws Exception {
		for (String text : List.of("postgresql:///", "postgresql:///team", "postgresql://node/team", "postgresql://anna@/team",
				"postgresql://my_node/t", "postgresql://u@[::1]:7/t?sslmode=require",
				"postgresql:///team?service=s")) {
			CataloguePlace place = CataloguePlace.parse(text);
			assertEquals(text, place.toString());
			assertEquals(place, CataloguePlace.parse(place.toString()));
			CataloguePlace.Trace trace = CataloguePlace.parseTrace(place.trace("my_app"));
			assertEquals(place, trace.place(), text);
			assertEquals("my_app", trace.name(), text);
			assertEquals("", CataloguePlace.parseTrace(text).name());
		}
		assertEquals(List.of("", "", -1, ""), List.of(CataloguePlace.parse("postgresql://").user(), CataloguePlace.parse("postgresql://").host(),
				CataloguePlace.parse("postgresql://").port(), CataloguePlace.parse("postgresql://").database()));
		assertEquals("::1", CataloguePlace.parse("postgresql://[::1]/x").host());
	}

	@Test
	void aDirectory() throws Exception {
		CataloguePlace place = CataloguePlace.parse("/home/anna/traces");
		assertFalse(place.isServer());
		assertEquals(Path.of("/home/anna/traces"), place.directory());
		assertEquals("/home/anna/traces/app", place.trace("app"));
		assertFalse(CataloguePlace.isServer("postgresql"));
	}

	@Test
	void noPasswordsAndNothingForTheDriver() {
		for (String text : List.of("postgresql://anna:secret@node/team", "postgresql://node/team?password=secret")) {
			String message = assertThrows(StoreException.class, () -> CataloguePlace.parse(text)).getMessage();
			assertTrue(message.contains("must not have a password"), message);
			assertFalse(message.contains("secret"), message);
		}
		String odd = assertThrows(StoreException.class, () -> CataloguePlace.parse("postgresql://node/team?socketFactory=evil.Class"))
				.getMessage();
		assertTrue(odd.contains("cannot have the parameter socketFactory"), odd);
		String trace = assertThrows(StoreException.class, () -> CataloguePlace.parse("postgresql://node/team/app")).getMessage();
		assertTrue(trace.contains("a trace of"), trace);
		String bad = assertThrows(StoreException.class, () -> CataloguePlace.parse("postgresql://anna:sec ret@node/")).getMessage();
		assertFalse(bad.contains("sec"), bad);
		assertThrows(StoreException.class, () -> CataloguePlace.parse("postgresql://a_b|c/"));
	}
}
