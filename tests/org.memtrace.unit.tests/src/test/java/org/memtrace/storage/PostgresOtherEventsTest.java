// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;

import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.dbms.Sqlite;

class PostgresOtherEventsTest extends OtherEventsContract {
	private CataloguePlace place;

	@Override
	TraceCatalogue openCatalogue() throws Exception {
		place = PostgresServer.get().newDatabase();
		return Stores.openCatalogue(place, DatabaseKind.SQLITE, notice -> {
			throw new AssertionError(notice);
		});
	}

	@Override
	void nothingIsLeft() throws Exception {
		try (Connection db = PostgresServer.get().connect(place.database())) {
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'mt%'"));
		}
	}
}
