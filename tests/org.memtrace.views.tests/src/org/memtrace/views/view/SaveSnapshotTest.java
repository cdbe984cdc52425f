// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.views.view.SaveSnapshot.Item;

class SaveSnapshotTest {
	/** A view behind others may never have been laid out: pictures of 100 x 100 pixels were proposed when it was the first. */
	@Test
	void sizeOfTheLargestViewIsProposed() {
		Item behind = item(0, 0);
		Item seen = item(900, 600);
		Item low = item(1200, 90);
		assertSame(seen, SnapshotDialog.largest(List.of(behind, seen, low)));
		assertSame(behind, SnapshotDialog.largest(List.of(behind)));
	}

	private static Item item(int width, int height) {
		return new Item(new Snapshot("view", null, null, Map.of()), width, height);
	}
}
