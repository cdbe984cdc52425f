// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.text.Units;

/** Where the replay of monitors is, and how it goes on. Knows no widgets and no clock; used by one thread. */
public final class MonitorReplay {
	/** How many times as fast as it was: 2 is twice as fast. */
	public static final List<Double> SPEEDS = List.of(0.001, 0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 100.0, 1000.0);
	/** A replay lasts that many seconds at least and at most, if a speed gives it. */
	private static final double SHORTEST_S = 5;
	private static final double LONGEST_S = 60;

	private final MachineMonitors monitors;
	private long fromNs;
	private long toNs;
	private double atNs;
	private double speed = 1;
	private boolean playing;

	/** A replay of a window, standing at its end. */
	public MonitorReplay(MachineMonitors monitors, long fromNs, long toNs) {
		this.monitors = monitors;
		window(fromNs, toNs);
		atNs = toNs;
		double seconds = (toNs - fromNs) / 1e9;
		while (seconds / speed < SHORTEST_S && speed > SPEEDS.get(0)) {
			speed = SPEEDS.get(SPEEDS.indexOf(speed) - 1);
		}
		while (seconds / speed > LONGEST_S && speed < SPEEDS.get(SPEEDS.size() - 1)) {
			speed = SPEEDS.get(SPEEDS.indexOf(speed) + 1);
		}
	}

	/** The window is another one; the cursor stays where it is, if that is inside. */
	public void window(long from, long to) {
		fromNs = from;
		toNs = Math.max(from, to);
		atNs = Math.max(fromNs, Math.min(toNs, atNs));
	}

	public MachineMonitors monitors() {
		return monitors;
	}

	public long fromNs() {
		return fromNs;
	}

	public long toNs() {
		return toNs;
	}

	/** The cursor. */
	public long atNs() {
		return (long) atNs;
	}

	/** Moves the cursor. */
	public void at(long ns) {
		atNs = Math.max(fromNs, Math.min(toNs, ns));
	}

	/** Place of the cursor in the window, 0 to 1. */
	public double share() {
		return toNs > fromNs ? (atNs - fromNs) / (toNs - fromNs) : 1;
	}

	/** Moves the cursor to a place in the window, 0 to 1. */
	public void share(double share) {
		at(fromNs + Math.round(Math.max(0, Math.min(1, share)) * (toNs - fromNs)));
	}

	public double speed() {
		return speed;
	}

	public void speed(double times) {
		speed = times;
	}

	/** What a list of speeds shows. */
	public static String label(double speed) {
		return (speed >= 1 ? Units.digits(speed) : String.format(Locale.ROOT, "1/%d", Math.round(1 / speed))) + "×";
	}

	public boolean isPlaying() {
		return playing;
	}

	/** Plays, from the beginning if the cursor is at the end; or pauses. */
	public void toggle() {
		playing = !playing;
		if (playing && atNs >= toNs) {
			atNs = fromNs;
		}
	}

	/** To the sample before or after the cursor; the replay pauses. */
	public void step(int direction) {
		playing = false;
		at(monitors.next((long) atNs, direction));
	}

	/**
	 * Time passes while it plays; at the end of the window it pauses.
	 *
	 * @param elapsedNs how much
	 */
	public void passed(long elapsedNs) {
		if (playing) {
			atNs += elapsedNs * speed;
			if (atNs >= toNs) {
				atNs = toNs;
				playing = false;
			}
		}
	}
}
