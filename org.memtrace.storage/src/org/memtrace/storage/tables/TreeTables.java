// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.dbms.BulkInsert;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.rows.CellMap;

/** The trees, the cells that they are made of, and how they were made: EVENT_PRODUCER, MT_CELL, MT_TREE, MT_AREA, MT_IMAGE, MT_RULE. */
public final class TreeTables {
	private static final int BATCH = 1000;

	private TreeTables() {
	}

	/** Fills the empty tables. Without a layout there are cells of which only the producer is known. */
	public static void write(Connection db, MemoryLayout layout, MemoryTrees trees, Progress progress)
			throws SQLException, MemtraceException {
		writeTrees(db, trees, progress);
		writeCells(db, layout == null ? null : layout.cells(), trees, progress);
		if (layout == null) {
			return;
		}
		try (PreparedStatement areas = db.prepareStatement("INSERT INTO MT_AREA VALUES(?,?,?,?,?)");
				PreparedStatement images = db.prepareStatement("INSERT INTO MT_IMAGE VALUES(?,?)")) {
			for (int i = 0; i < layout.areas().size(); i++) {
				MemoryArea area = layout.areas().get(i);
				areas.setInt(1, i);
				areas.setInt(2, area.image());
				areas.setLong(3, area.start());
				areas.setLong(4, area.end());
				areas.setString(5, area.name());
				areas.addBatch();
			}
			areas.executeBatch();
			for (Map.Entry<Integer, String> image : new TreeMap<>(layout.images()).entrySet()) {
				images.setInt(1, image.getKey());
				images.setString(2, image.getValue());
				images.executeUpdate();
			}
		}
		writeRules(db, layout.rules());
		Sqlite.update(db, "INSERT INTO MT_PROPERTY VALUES('fanout', ?)", Integer.toString(layout.fanout()));
	}

	private static void writeTrees(Connection db, MemoryTrees trees, Progress progress) throws SQLException, MemtraceException {
		ProducerTree tree = trees.virtual();
		int size = tree.size();
		progress.begin("Writing event producers", size);
		String[] kinds = Arrays.stream(ProducerKind.values()).map(k -> k.name().toLowerCase(Locale.ROOT)).toArray(String[]::new);
		int digits = Integer.toString(size - 1).length();
		String zeros = "0".repeat(digits);
		try (BulkInsert names = new BulkInsert(db, "EVENT_PRODUCER", 5)) {
			for (int id = 0; id < size; id++) {
				// texts in the order of ids: the unique index of (TYPE, LOCAL_ID) is then written from front to back
				String number = Integer.toString(id);
				names.add(id, kinds[tree.kind(id).ordinal()], zeros.substring(number.length()) + number,
						tree.name(id).replace('=', ':'), tree.parent(id)); // '=' breaks FrameSoc's colour files
				if (id % BATCH == BATCH - 1 || id == size - 1) {
					progress.worked(id % BATCH + 1);
					progress.check();
				}
			}
			names.finish();
		}
		for (AddressSpace space : AddressSpace.values()) {
			if (trees.tree(space) != null) {
				PackedTree.write(db, space, trees.tree(space), progress);
			}
		}
	}

	private static void writeCells(Connection db, PageCells cells, MemoryTrees trees, Progress progress)
			throws SQLException, MemtraceException {
		int count = trees.virtualLeaf().length;
		progress.begin("Writing pages", count);
		try (BulkInsert insert = new BulkInsert(db, "MT_CELL", 8)) {
			for (int i = 0; i < count; i++) {
				int physical = trees.physicalLeaf() == null ? -1 : trees.physicalLeaf()[i];
				if (cells == null) {
					insert.add(i, -1, 0L, -1, PageCells.NO_FRAME, -1, trees.virtualLeaf()[i], physical);
				} else {
					insert.add(i, cells.image()[i], cells.address()[i], cells.structure()[i], cells.frame()[i], cells.node()[i],
							trees.virtualLeaf()[i], physical);
				}
				if (i % BATCH == BATCH - 1 || i == count - 1) {
					progress.worked(i % BATCH + 1);
					progress.check();
				}
			}
			insert.finish();
		}
	}

	private static void writeRules(Connection db, List<String> rules) throws SQLException {
		for (int i = 0; i < rules.size(); i++) {
			Sqlite.update(db, "INSERT INTO MT_RULE VALUES(?, ?)", i, rules.get(i));
		}
	}

	/** Replaces trees in a transaction of the caller. The cells stay the same but for where they are in the trees. */
	public static void replace(Connection db, MemoryTrees trees, List<String> rules, Progress progress)
			throws SQLException, MemtraceException {
		Sqlite.execute(db, "DELETE FROM EVENT_PRODUCER", "DELETE FROM MT_TREE", "DELETE FROM MT_RULE", "DELETE FROM MT_CACHE");
		writeTrees(db, trees, progress);
		writeRules(db, rules);
		int count = trees.virtualLeaf().length;
		progress.begin("Writing pages", count);
		try (PreparedStatement update = db.prepareStatement("UPDATE MT_CELL SET PRODUCER = ?, PHYSICAL = ? WHERE ID = ?")) {
			for (int i = 0; i < count; i++) {
				update.setInt(1, trees.virtualLeaf()[i]);
				update.setInt(2, trees.physicalLeaf() == null ? -1 : trees.physicalLeaf()[i]);
				update.setInt(3, i);
				update.addBatch();
				if (i % BATCH == BATCH - 1 || i == count - 1) {
					update.executeBatch();
					progress.worked(i % BATCH + 1);
					progress.check();
				}
			}
		}
		Sqlite.update(db, "UPDATE MT_PROPERTY SET VALUE = ? WHERE NAME = 'producers'",
				Integer.toString(trees.virtual().size()));
	}

	/** Where the cells are in a tree. */
	public static CellMap cells(Connection db, AddressSpace space) throws SQLException {
		int[] producers = new int[(int) Sqlite.number(db, -1, "SELECT MAX(ID) FROM MT_CELL") + 1];
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(
				"SELECT ID, " + (space == AddressSpace.VIRTUAL ? "PRODUCER" : "PHYSICAL") + " FROM MT_CELL ORDER BY ID")) {
			while (rows.next()) {
				producers[rows.getInt(1)] = rows.getInt(2);
			}
		}
		return new CellMap(producers);
	}

	/** What the trees are made from; null when it is not known. */
	public static MemoryLayout layout(Connection db, Map<String, String> properties, int pageSizeBytes) throws SQLException {
		int fanout = (int) InfoProperties.number(properties, "fanout");
		int count = (int) Sqlite.number(db, -1, "SELECT MAX(ID) FROM MT_CELL") + 1;
		if (fanout < 2 || count == 0) {
			return null;
		}
		PageCells cells = PageCells.of(count);
		List<MemoryArea> areas = new ArrayList<>();
		Map<Integer, String> images = new TreeMap<>();
		List<String> rules = new ArrayList<>();
		try (Statement statement = db.createStatement()) {
			try (ResultSet rows = statement.executeQuery("SELECT ID, IMAGE, ADDRESS, STRUCTURE, FRAME, NODE FROM MT_CELL")) {
				while (rows.next()) {
					cells.set(rows.getInt(1), rows.getInt(2), rows.getLong(3), rows.getInt(4), rows.getLong(5), rows.getInt(6));
				}
			}
			try (ResultSet rows = statement
					.executeQuery("SELECT IMAGE, START_ADDRESS, END_ADDRESS, NAME FROM MT_AREA ORDER BY ID")) {
				while (rows.next()) {
					areas.add(new MemoryArea(rows.getInt(1), rows.getLong(2), rows.getLong(3), rows.getString(4)));
				}
			}
			try (ResultSet rows = statement.executeQuery("SELECT ID, NAME FROM MT_IMAGE")) {
				while (rows.next()) {
					images.put(rows.getInt(1), rows.getString(2));
				}
			}
			try (ResultSet rows = statement.executeQuery("SELECT RULE FROM MT_RULE ORDER BY ID")) {
				while (rows.next()) {
					rules.add(rows.getString(1));
				}
			}
		}
		return new MemoryLayout(cells, areas, images, pageSizeBytes, fanout, rules);
	}
}
