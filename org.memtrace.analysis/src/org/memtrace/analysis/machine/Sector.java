// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

/**
 * A part of a ring. Radii are pixels, angles radians from the top, clockwise.
 *
 * @param inner 0 for a part of a disc
 * @param start 0 to 2π
 * @param end more than the start, by 2π at most
 */
public record Sector(double centreX, double centreY, double inner, double outer, double start, double end) {
	private static final double FULL = 2 * Math.PI;
	/** Angle between two corners of the polygon of an arc: no arc of a picture is seen to have corners. */
	private static final double STEP = Math.toRadians(2);

	/** Whether it goes all the way round. */
	boolean isWhole() {
		return end - start > FULL - 1e-9;
	}

	boolean contains(double x, double y) {
		double r = Math.hypot(x - centreX, y - centreY);
		return r >= inner && r < outer && (isWhole() || isBetween(x, y));
	}

	private boolean isBetween(double x, double y) {
		double from = Math.atan2(x - centreX, centreY - y) - start;
		return (from % FULL + FULL) % FULL < end - start;
	}

	private double middle() {
		return inner == 0 && isWhole() ? 0 : (inner + outer) / 2;
	}

	double middleX() {
		return x(middle(), (start + end) / 2);
	}

	double middleY() {
		return y(middle(), (start + end) / 2);
	}

	double x(double radius, double angle) {
		return centreX + radius * Math.sin(angle);
	}

	double y(double radius, double angle) {
		return centreY - radius * Math.cos(angle);
	}

	/** Pixels from the start to the end, half way to the outside. */
	double arc() {
		return (end - start) * (inner + outer) / 2;
	}

	/** Whether a rectangle about the middle is within it. */
	boolean hasRoom(double width, double height) {
		double x = Math.abs(middleX() - centreX);
		double y = Math.abs(middleY() - centreY);
		double near = Math.hypot(Math.max(0, x - width / 2), Math.max(0, y - height / 2));
		if (near < inner || Math.hypot(x + width / 2, y + height / 2) > outer) {
			return false;
		}
		for (int corner = 0; corner < 4 && !isWhole(); corner++) {
			if (!isBetween(middleX() + (corner % 2 - 0.5) * width, middleY() + (corner / 2 - 0.5) * height)) {
				return false;
			}
		}
		return true;
	}

	/** Smaller by so many pixels on each side, larger when that is negative. */
	Sector inset(double pixels) {
		if (isWhole()) {
			return new Sector(centreX, centreY, inner == 0 ? 0 : inner + pixels, outer - pixels, start, end);
		}
		double angle = pixels / Math.max(1, (inner + outer) / 2);
		return new Sector(centreX, centreY, Math.max(0, inner + pixels), outer - pixels, start + angle, end - angle);
	}

	/** Corners of the polygon, x and y in turn; a whole ring is cut at the top. */
	double[] points() {
		int steps = Math.max(1, (int) Math.ceil((end - start) / STEP));
		boolean disc = inner == 0 && isWhole();
		int innerPoints = disc ? 0 : inner == 0 ? 1 : steps + 1;
		double[] p = new double[2 * (steps + 1 + innerPoints)];
		int n = 0;
		for (int i = 0; i <= steps; i++) {
			double angle = start + (end - start) * i / steps;
			p[n++] = x(outer, angle);
			p[n++] = y(outer, angle);
		}
		for (int i = innerPoints - 1; i >= 0; i--) {
			double angle = innerPoints == 1 ? start : start + (end - start) * i / steps;
			p[n++] = x(inner, angle);
			p[n++] = y(inner, angle);
		}
		return p;
	}
}
