// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.memtrace.FineParser;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.importer.sharing.PanelEvidence;
import org.memtrace.importer.sharing.SharingEvidence;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.importer.tree.StructureIndex;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;

/** What the panel of an image says of its rows, see {@link PanelEvidence}. */
final class PanelSharing {
	private final LeafTable leaves;
	private final StructureIndex structures;
	private final SharingEvidence evidence;
	private final PanelEvidence panel;
	private final Map<List<String>, Integer> groups;
	/** Group of each structure that was asked for. */
	private final Map<Integer, Integer> groupOf = new HashMap<>();

	private PanelSharing(LeafTable leaves, StructureIndex structures, SharingEvidence evidence, List<FineCounts.Stay> stays,
			List<ThreadInfo> threads) {
		this.leaves = leaves;
		this.structures = structures;
		this.evidence = evidence;
		this.groups = new HashMap<>();
		Map<Long, List<ThreadInfo>> byTask = new HashMap<>();
		threads.forEach(t -> byTask.computeIfAbsent(t.taskId(), k -> new ArrayList<>()).add(t));
		List<PanelEvidence.Stay> known = new ArrayList<>();
		for (FineCounts.Stay s : stays) {
			if (s.active() > 0) {
				known.add(stay(s, byTask));
			}
		}
		panel = new PanelEvidence(known);
	}

	/**
	 * @param threads all of the image
	 * @param evidence what the records say of themselves
	 */
	static PanelSharing of(TraceDirectory.Image image, LeafTable leaves, StructureIndex structures, List<ThreadInfo> threads,
			SharingEvidence evidence) throws MemtraceException {
		return new PanelSharing(leaves, structures, evidence, FineParser.stays(image), threads);
	}

	private PanelEvidence.Stay stay(FineCounts.Stay s, Map<Long, List<ThreadInfo>> byTask) {
		Map<Long, Long> looks = s.looksByTask();
		long most = looks.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
		int users = looks.size() == 1 && most < 0 ? 2 : looks.size(); // all others are several
		return new PanelEvidence.Stay(leaves.pageIndexOf(s.address()), group(structures.find(s.address(), s.startNs(), s.endNs())),
				s.startNs(), s.endNs(), (int) Math.min(Integer.MAX_VALUE, s.active()), users, thread(byTask.getOrDefault(most, List.of()), s));
	}

	/** The one of a number that lived in most of a stay. */
	private static int thread(List<ThreadInfo> same, FineCounts.Stay s) {
		int best = AccessBatch.NO_THREAD;
		long most = Long.MIN_VALUE;
		for (ThreadInfo t : same) {
			long overlap = Math.min(s.endNs(), t.deathNs()) - Math.max(s.startNs(), t.birthNs());
			if (overlap > most) {
				most = overlap;
				best = t.index();
			}
		}
		return best;
	}

	/** Structures of one name and place are likely to be used alike: those of an array of rows, those that live one after the other. */
	private int group(int structure) {
		if (structure < 0) {
			return PanelEvidence.NO_GROUP;
		}
		return groupOf.computeIfAbsent(structure, id -> {
			Structure s = structures.structure(id);
			return groups.computeIfAbsent(List.of(s.kind().name(), s.plainName(), s.site()), k -> groups.size());
		});
	}

	/**
	 * Sharing of a row, or {@link AccessBatch#SHARING_NOT_KNOWN}.
	 *
	 * @param looks one after the other that found its thread
	 */
	int sharing(SpilledRow row, int looks) {
		if (panel.isEmpty() || !evidence.ofOwnMemory(row.flags)) {
			return AccessBatch.SHARING_NOT_KNOWN;
		}
		return panel.sharing(leaves.pageIndex(row.leaf), group(leaves.structure(row.leaf)), row.thread, row.startNs, row.endNs, looks);
	}
}
