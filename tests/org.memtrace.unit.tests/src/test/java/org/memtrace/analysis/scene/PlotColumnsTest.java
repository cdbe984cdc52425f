// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.scene.PlotColumns.Edges;
import org.memtrace.analysis.scene.PlotColumns.Plot;

/** Which plots have common edges, and where these are. */
class PlotColumnsTest {
	@Test
	void plotsAboveEachOtherHaveTheRoomThatEachNeeds() {
		List<Edges> edges = PlotColumns
				.edges(List.of(new Plot(100, 1100, 260, 840), new Plot(102, 1098, 180, 1080), new Plot(100, 1100, 300, 1090)));
		assertEquals(List.of(new Edges(300, 840), new Edges(300, 840), new Edges(300, 840)), edges);
	}

	@Test
	void columnsOfOtherWidthsKeepTheirOwn() {
		Plot whole = new Plot(0, 1000, 120, 980);
		Plot left = new Plot(0, 495, 150, 480);
		Plot right = new Plot(505, 1000, 610, 990);
		Plot belowRight = new Plot(505, 1001, 640, 970);
		assertEquals(List.of(new Edges(120, 980), new Edges(640, 970), new Edges(150, 480), new Edges(640, 970)),
				PlotColumns.edges(List.of(whole, right, left, belowRight)));
	}

	/** A plot beside a wide panel would leave the others half of their width. */
	@Test
	void whereTooLittleWouldBeLeftEachKeepsItsOwn() {
		Plot narrow = new Plot(0, 500, 130, 270);
		Plot wide = new Plot(0, 500, 90, 490);
		assertEquals(List.of(new Edges(130, 270), new Edges(90, 490)), PlotColumns.edges(List.of(narrow, wide)));
		Plot enough = new Plot(0, 500, 70, 270);
		assertEquals(List.of(new Edges(90, 270), new Edges(90, 270)), PlotColumns.edges(List.of(enough, new Plot(0, 500, 90, 450))));
	}

	@Test
	void onePlotIsAsItWas() {
		assertEquals(List.of(), PlotColumns.edges(List.of()));
		assertEquals(List.of(new Edges(7, 9)), PlotColumns.edges(List.of(new Plot(0, 10, 7, 9))));
	}

	@Test
	void whatIsGivenIsNeverLessThanWhatIsNeeded() {
		assertEquals(new PlotMargins(30, 20), new PlotMargins(30, 12).atLeast(new PlotMargins(10, 20)));
		assertEquals(new PlotMargins(30, 12), new PlotMargins(30, 12).atLeast(PlotMargins.NONE));
	}
}
