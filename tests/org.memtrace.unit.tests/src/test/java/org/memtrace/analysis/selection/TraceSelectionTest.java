// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** The selection model by itself; root 0, A 1 with pages 2 and 3, B 4 with pages 5 and 6. */
class TraceSelectionTest {
	private static final int A = 1;
	private static final int B = 4;

	private final TraceSelection selection = new TraceSelection(tree(), 1_000_000, 2_000_000);

	private static ProducerTree tree() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "root", 0, 0, -1);
		for (int s = 0; s < 2; s++) {
			long start = 0x10000 + s * 0x2000;
			String name = s == 0 ? "A" : "B";
			b.begin(ProducerKind.STRUCTURE, name, start, start + 0x2000, s);
			b.leaf(ProducerKind.PAGE, name + " [page 0]", start, start + 0x1000, s);
			b.leaf(ProducerKind.PAGE, name + " [page 1]", start + 0x1000, start + 0x2000, s);
			b.end();
		}
		b.end();
		return b.build();
	}

	/** Linked selections mark what has the same name, or what somebody says belongs together. */
	@Test
	void whatBelongsTogetherIsMarkedInBothWhateverItsName() {
		TraceSelection other = new TraceSelection(tree(), 0, 1_000_000);
		try (SelectionLink link = new SelectionLink(selection, other, SelectionLink.Time.SCALED)) {
			selection.mark(A);
			assertEquals(A, other.mark());
			link.mark(other, new int[] {B}, new int[] {A});
			assertEquals(B, other.mark());
			assertEquals(A, selection.mark());
			link.mark(selection, new int[] {B}, new int[0]);
			assertEquals(B, selection.mark());
			assertEquals(TraceSelection.NO_MARK, other.mark());
			selection.mark(A);
			assertEquals(A, other.mark(), "names count again");
		}
	}

	/** All who look with the same selection or a copy of it see where somebody points; it has no history. */
	@Test
	void oneTimeIsPointedAt() {
		List<String> told = new ArrayList<>();
		PointedTime time = selection.pointed();
		time.addListener((by, ns) -> told.add(by + " " + ns));
		selection.copy().pointed().point("gantt", 1_500_000);
		time.point("gantt", 1_500_000);
		time.point("density", 1_600_000);
		time.leave("gantt");
		assertEquals(1_600_000, time.timeNs(), "another one points by now");
		time.leave("density");
		time.leave("density");
		assertEquals(List.of("gantt 1500000", "density 1600000", "null " + PointedTime.NONE), told);
		assertFalse(selection.canGoBack());
	}

	@Test
	void linkedTracesArePointedAtTheSameTime() {
		TraceSelection other = new TraceSelection(tree(), 0, 500_000);
		try (SelectionLink link = new SelectionLink(selection, other, SelectionLink.Time.SCALED)) {
			selection.pointed().point(this, 1_500_000);
			assertEquals(250_000, other.pointed().timeNs());
			assertEquals(this, selection.pointed().by(), "it does not come back");
			selection.pointed().leave(this);
			assertEquals(PointedTime.NONE, other.pointed().timeNs());
			other.pointed().point(this, 125_000);
			assertEquals(1_250_000, selection.pointed().timeNs());
		}
		assertEquals(PointedTime.NONE, selection.pointed().timeNs(), "no longer linked");
		other.pointed().leave(this);
		try (SelectionLink link = new SelectionLink(selection, other, SelectionLink.Time.SINCE_START)) {
			selection.pointed().point(this, 1_200_000);
			assertEquals(200_000, other.pointed().timeNs());
			selection.pointed().point(this, 1_600_000);
			assertEquals(PointedTime.NONE, other.pointed().timeNs(), "the other one had ended by then");
		}
		TraceSelection copy = selection.copy();
		try (SelectionLink link = new SelectionLink(selection, copy, SelectionLink.Time.SCALED)) {
			copy.pointed().point("copy", 1_300_000);
			assertEquals("copy", selection.pointed().by());
		}
	}

	@Test
	void viewpointKeepsZoomAndP() {
		selection.zoom(1_200_000, 1_300_000, A);
		selection.p(0.25);
		selection.viewpoint(BasicDimensions.THREAD);
		assertEquals(new ViewState(1_200_000, 1_300_000, A, BasicDimensions.THREAD, 0.25), selection.state());
	}

	@Test
	void backAndForwardRestoreEverything() {
		List<ViewState> seen = new ArrayList<>();
		seen.add(selection.state());
		selection.zoom(1_200_000, 1_800_000, B);
		seen.add(selection.state());
		selection.p(0.5);
		seen.add(selection.state());
		selection.viewpoint(BasicDimensions.CPU);
		seen.add(selection.state());
		for (int i = seen.size() - 2; i >= 0; i--) {
			selection.back();
			assertEquals(seen.get(i), selection.state());
		}
		assertFalse(selection.canGoBack());
		for (int i = 1; i < seen.size(); i++) {
			selection.forward();
			assertEquals(seen.get(i), selection.state());
		}
		assertFalse(selection.canGoForward());
	}

	@Test
	void aGestureIsOneStep() {
		ViewState before = selection.state();
		selection.beginGesture();
		for (int i = 1; i <= 10; i++) {
			selection.p(i / 10.0);
		}
		selection.endGesture();
		selection.back();
		assertEquals(before, selection.state());
		assertFalse(selection.canGoBack());
	}

	@Test
	void aNewStepForgetsForward() {
		selection.p(0.5);
		selection.back();
		selection.p(0.75);
		assertFalse(selection.canGoForward());
	}

	@Test
	void windowStaysInsideTheTraceAndKeepsItsLength() {
		selection.window(1_900_000, 2_100_000);
		assertEquals(1_800_000, selection.state().fromNs());
		assertEquals(2_000_000, selection.state().toNs());
		selection.window(0, 5_000_000);
		assertEquals(1_000_000, selection.state().fromNs());
		assertEquals(2_000_000, selection.state().toNs());
		selection.window(1_500_000, 1_500_000);
		assertTrue(selection.state().durationNs() >= 1_000);
	}

	@Test
	void commonProducerIsTheSmallest() {
		assertEquals(2, selection.commonProducer(2, 2));
		assertEquals(A, selection.commonProducer(2, 3));
		assertEquals(0, selection.commonProducer(3, 5));
		assertEquals(B, selection.commonProducer(B, 6));
	}

	@Test
	void resetKeepsViewpointAndP() {
		selection.zoom(1_200_000, 1_300_000, A);
		selection.viewpoint(BasicDimensions.NODE);
		selection.p(1);
		selection.reset();
		assertEquals(selection.initial().withViewpoint(BasicDimensions.NODE).withP(1), selection.state());
	}

	@Test
	void randomWalksCanBeUndone() {
		long seed = 20261120;
		Random random = new Random(seed);
		for (int walk = 0; walk < 50; walk++) {
			TraceSelection s = new TraceSelection(tree(), 0, 1_000_000);
			List<ViewState> states = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				ViewState before = s.state();
				switch (random.nextInt(6)) {
				case 0 -> s.zoom(random.nextInt(900_000), 900_000 + random.nextInt(100_000), random.nextInt(7));
				case 1 -> s.p(random.nextDouble());
				case 2 -> s.p(ViewState.AUTOMATIC_P);
				case 3 -> s.viewpoint(Dimensions.of(Dimension.Use.COLOUR).get(random.nextInt(6)));
				case 4 -> s.up();
				default -> s.window(random.nextInt(1_000_000), random.nextInt(2_000_000));
				}
				assertTrue(s.state().fromNs() >= 0 && s.state().toNs() <= 1_000_000, "seed " + seed);
				if (!s.state().equals(before)) {
					states.add(before);
				}
			}
			for (int i = states.size() - 1; i >= 0; i--) {
				s.back();
				assertEquals(states.get(i), s.state(), "seed " + seed + ", walk " + walk);
			}
		}
	}
}
