// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.List;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.NodeNames;

/**
 * The second hierarchy of a picture, below the blocks: a line for each level, the leaves at the top. A part has its name where there is
 * room, else the number at its end; one that has no room for either has none.
 */
final class ColumnAxis {
	/** Levels below the root that are drawn; of deeper ones only the leaves are. */
	private static final int MOST_LEVELS = 4;
	/** Height of a level, in font sizes. */
	private static final double LINE = 1.45;

	private final PictureOptions o;
	private final List<Shape> shapes;
	private final NodeNames names;
	private final Hierarchy hierarchy;
	private final double f;
	private final int levels;

	ColumnAxis(PictureOptions options, List<Shape> shapes) {
		this.o = options;
		this.shapes = shapes;
		this.names = options.columns;
		this.hierarchy = names.hierarchy();
		this.f = options.fontSize;
		int deepest = 0;
		for (int leaf = 0; leaf < hierarchy.leafCount(); leaf++) {
			deepest = Math.max(deepest, hierarchy.level(hierarchy.leafNode(leaf)));
		}
		this.levels = Math.clamp(deepest, 1, MOST_LEVELS);
	}

	/** Height with what is above and below it. */
	double height() {
		return (levels * LINE + 0.9) * f;
	}

	/** Draws it below the blocks and adds where its nodes are. */
	void draw(double bottom, Picture geometry, List<Picture.Part> parts) {
		for (int n = 0; n < hierarchy.size(); n++) {
			int level = Math.max(1, hierarchy.level(n));
			boolean leaf = hierarchy.isLeaf(n);
			if (!leaf && (n == 0 || level >= levels)) {
				continue;
			}
			int lowest = Math.min(level, levels);
			// line 0 is that of the leaves; a leaf of a higher level reaches up to it
			double top = bottom + 0.4 * f + (leaf ? 0 : (levels - lowest) * LINE * f);
			double end = bottom + 0.4 * f + (levels - lowest + 1) * LINE * f;
			double x = geometry.xOfSlice(hierarchy.leafFrom(n));
			double width = geometry.xOfSlice(hierarchy.leafTo(n)) - x;
			double gap = width >= 4 ? 1 : 0;
			int color = o.palette.strip(leaf ? 3 : lowest == 1 && levels > 2 ? 1 : 2);
			shapes.add(new Shape.Rect(x, top, Math.max(width - gap, 0.5), end - top - 1, color, 0));
			parts.add(new Picture.Part(x, top, width, end - top, n));
			String text = label(names.name(n), width - 0.4 * f);
			if (!text.isEmpty()) {
				shapes.add(new Shape.Text(x + width / 2, (top + end) / 2 + 0.3 * f, text, 0.9 * f, false, o.palette.text(), Shape.Anchor.MIDDLE,
						false));
			}
		}
	}

	private String label(String name, double width) {
		String number = name.substring(name.lastIndexOf(' ') + 1);
		for (String text : new String[] {name, name.replaceFirst(",.*", ""), number}) {
			if (o.meter.width(text, 0.9 * f, false) <= width && (!text.equals(number) || number.matches("[0-9]+"))) {
				return text;
			}
		}
		return "";
	}
}
