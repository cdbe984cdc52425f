// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;

class PostgresStoreTest extends StoreContract {
	private CataloguePlace place;

	/** Nobody has to quote it in SQL. */
	@Override
	String file(String databaseName) {
		return databaseName.toLowerCase(java.util.Locale.ROOT);
	}

	@Override
	TraceCatalogue openCatalogue() throws Exception {
		if (place == null) {
			place = PostgresServer.get().newDatabase();
		}
		return Stores.openCatalogue(place, DatabaseKind.SQLITE, notice -> {
			throw new AssertionError(notice);
		});
	}
}
