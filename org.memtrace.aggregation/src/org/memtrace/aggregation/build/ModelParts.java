// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.Losses;

/** All parts of a model: each range of pages once. Immutable. */
public final class ModelParts {
	private final ModelPart.Plan plan;
	/** In the order of their ranges. */
	private final List<ModelPart> parts;

	private final String origin;

	private ModelParts(ModelPart.Plan plan, String origin, List<ModelPart> parts) {
		this.plan = plan;
		this.origin = origin;
		this.parts = parts;
	}

	/**
	 * Parts in any order.
	 *
	 * @param given at least one
	 * @throws StoreException when they are not the parts of one model, or some are missing or there twice
	 */
	public static ModelParts of(List<ModelPart> given) throws StoreException {
		ModelPart first = given.getFirst();
		for (ModelPart part : given) {
			mustFit(first, part);
		}
		List<ModelPart> parts = new ArrayList<>(given);
		parts.removeIf(p -> p.runFrom() == p.runTo());
		parts.sort(Comparator.comparingInt(ModelPart::runFrom).thenComparing(ModelPart::name));
		int next = 0;
		String missing = "";
		for (int i = 0; i < parts.size(); i++) {
			ModelPart part = parts.get(i);
			if (part.runFrom() < next) {
				ModelPart before = parts.get(i - 1);
				throw new StoreException(part.name() + " and " + before.name() + " have the same pages: " + part.ranges() + " and " + before.ranges());
			}
			if (part.runFrom() > next) {
				missing += (missing.isEmpty() ? "" : ", ") + numbers(next, part.runFrom());
			}
			next = part.runTo();
		}
		int all = first.plan().runs();
		if (next < all) {
			missing += (missing.isEmpty() ? "" : ", ") + numbers(next, all);
		}
		if (!missing.isEmpty()) {
			throw new StoreException("parts are missing: of the " + all + " ranges of pages of " + first.plan().trace() + " no part has " + missing);
		}
		return new ModelParts(first.plan(), first.origin(), parts);
	}

	private static String numbers(int from, int to) {
		return to - from == 1 ? Integer.toString(to) : from + 1 + " to " + to;
	}

	private static void mustFit(ModelPart first, ModelPart part) throws StoreException {
		ModelPart.Plan a = first.plan();
		ModelPart.Plan b = part.plan();
		if (a.fingerprint() != b.fingerprint() || !a.trace().equals(b.trace())) {
			throw new StoreException(part.name() + " is a part of " + b.trace() + ", " + first.name() + " of "
					+ (a.trace().equals(b.trace()) ? "another trace, or of another state, of this name" : a.trace()));
		}
		if (!a.question().equals(b.question())) {
			List<String> one = new ArrayList<>(a.question());
			List<String> other = new ArrayList<>(b.question());
			one.removeAll(b.question());
			other.removeAll(a.question());
			throw new StoreException(part.name() + " was made with " + words(other) + ", " + first.name() + " with " + words(one));
		}
		if (!a.equals(b)) {
			throw new StoreException(part.name() + " and " + first.name() + " have other slices, types or pages: they were made by different"
					+ " versions of memtrace, or with different extensions");
		}
	}

	private static String words(List<String> options) {
		return options.isEmpty() ? "the defaults" : String.join(" ", options);
	}

	/** Whether they have values of groups of pages, as far as the trace has many pages; else of single pages. */
	public boolean isGrouped() {
		return plan.mostSingle() > 0;
	}

	/** Where the trace is, as who made the first part found it. */
	public String origin() {
		return origin;
	}

	/** What was asked, as who made the parts wrote it. */
	public List<String> question() {
		return plan.question();
	}

	/** What was damaged, in all of them. */
	public Losses losses() {
		Losses all = Losses.NONE;
		for (ModelPart part : parts) {
			all = all.plus(part.losses());
		}
		return all;
	}

	/**
	 * The model, which is the one that {@link AccessModels#model} makes of all accesses. No accesses are read.
	 *
	 * @param table of the trace
	 * @param request the one that the parts were made for
	 * @throws StoreException when the parts are of another trace
	 */
	public MicroscopicModel model(AccessTable table, ModelRequest request, Progress progress) throws MemtraceException {
		if (ModelPart.fingerprint(table) != plan.fingerprint()) {
			throw new StoreException("the parts are of another trace than " + table.info().alias() + ", or of another state of it: make them again");
		}
		ModelBuilder.Cells[] cells = new ModelBuilder.Cells[plan.runs()];
		for (ModelPart part : parts) {
			for (int run = part.runFrom(); run < part.runTo(); run++) {
				cells[run] = part.run(run);
			}
		}
		Hierarchy hierarchy = plan.hierarchy(table.producers());
		long leaves = 0;
		for (ModelBuilder.Cells run : cells) {
			leaves += run.cells().from.length - 1;
			if (hierarchy.isGrouped() && run.cells().count() > 0 && run.cells().information == null) {
				throw new StoreException("the parts of " + plan.trace() + " do not say what is lost in groups of pages: make them again");
			}
		}
		if (leaves != hierarchy.leafCount()) {
			throw new StoreException("the parts of " + plan.trace() + " have " + leaves + " pages, the trace has " + hierarchy.leafCount());
		}
		return plan.shape(request.metric(), request.viewpoint()).join(hierarchy, cells, progress);
	}
}
