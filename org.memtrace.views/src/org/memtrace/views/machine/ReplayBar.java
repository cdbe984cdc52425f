// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Scale;
import org.memtrace.analysis.machine.MachineMonitors.Bounds;
import org.memtrace.analysis.machine.MachineMonitors.Law;
import org.memtrace.analysis.machine.MachineMonitors.Mode;
import org.memtrace.analysis.machine.MachineMonitors.Show;
import org.memtrace.analysis.machine.MachineMonitors;
import org.memtrace.analysis.machine.MonitorFrame;
import org.memtrace.analysis.machine.MonitorReplay;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.util.Accessibility;

/** Which values of monitors are shown, and of when: step, play, pause, speed, and a slider. */
final class ReplayBar {
	private static final int SLIDER = 1000;
	private static final int FRAME_MS = 40;

	private final Composite bar;
	private final Consumer<MonitorFrame> painter;
	private final Combo variables;
	private final Combo modes;
	private final Combo laws;
	private final Combo bounds;
	private final Button play;
	private final Combo speeds;
	private final Scale slider;
	private final Label time;
	/** Null while nothing is shown. */
	private MonitorReplay replay;
	private long tickedNs;
	/** At which somebody points in another view. */
	private long glancedNs = PointedTime.NONE;
	/** What is pointed at will be painted when the display thread has heard all else. */
	private boolean glancing;

	/** @param painter gets what is to be drawn */
	ReplayBar(Composite parent, Consumer<MonitorFrame> painter) {
		this.painter = painter;
		bar = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(10).margins(4, 2).spacing(4, 2).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).exclude(true).applyTo(bar);
		bar.setVisible(false);
		variables = combo(bar, "What is shown", this::choose);
		modes = combo(bar, "At the cursor, or the mean of the window until the cursor", this::choose);
		modes.setItems("at the cursor", "mean until it");
		laws = combo(bar, "Scale of the colours: auto is what the definition of the monitor says", this::choose);
		laws.setItems("scale: auto", "linear", "log");
		bounds = combo(bar, "Bounds of the scale: auto are MIN and MAX of the definition, else what was observed", this::choose);
		bounds.setItems("bounds: auto", "observed");
		for (Combo c : List.of(modes, laws, bounds)) {
			c.select(0);
		}
		button(bar, "‹", "To the sample before", () -> step(-1));
		play = button(bar, "Play", "Play from the cursor on, or pause", this::toggle);
		button(bar, "›", "To the next sample", () -> step(1));
		speeds = combo(bar, "How many times as fast as it was", () -> replay.speed(MonitorReplay.SPEEDS.get(speedIndex())));
		speeds.setItems(MonitorReplay.SPEEDS.stream().map(MonitorReplay::label).toArray(String[]::new));
		slider = new Scale(bar, SWT.HORIZONTAL);
		slider.setMaximum(SLIDER);
		slider.setToolTipText("Time");
		Accessibility.name(slider, "Time");
		slider.addListener(SWT.Selection, e -> {
			replay.share((double) slider.getSelection() / SLIDER);
			paint(false);
		});
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(slider);
		time = new Label(bar, SWT.NONE);
		GridDataFactory.fillDefaults().hint(70, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(time);
	}

	private int speedIndex() {
		return Math.max(0, speeds.getSelectionIndex());
	}

	private static Combo combo(Composite parent, String name, Runnable chosen) {
		Combo c = new Combo(parent, SWT.READ_ONLY);
		c.setToolTipText(name);
		Accessibility.name(c, name);
		c.addListener(SWT.Selection, e -> chosen.run());
		return c;
	}

	private static Button button(Composite parent, String text, String tip, Runnable pressed) {
		Button b = new Button(parent, SWT.PUSH);
		b.setText(text);
		b.setToolTipText(tip);
		Accessibility.name(b, tip);
		b.addListener(SWT.Selection, e -> pressed.run());
		return b;
	}

	/**
	 * Shows the values of a trace in a window of time; choices that it has, too, stay. Of a trace that has grown the cursor stays at the
	 * end, if it is there.
	 */
	void show(MachineMonitors monitors, long fromNs, long toNs) {
		boolean same = replay != null && replay.monitors().variables().equals(monitors.variables());
		long at = same && replay.atNs() < replay.toNs() ? replay.atNs() : toNs;
		double speed = same ? replay.speed() : 0;
		boolean playing = same && replay.isPlaying();
		replay = new MonitorReplay(monitors, fromNs, toNs);
		replay.at(at);
		if (same) {
			replay.speed(speed);
			if (playing) {
				replay.toggle();
			}
		} else {
			List<String> names = new ArrayList<>(monitors.variables());
			names.add(0, "each level's first");
			variables.setItems(names.toArray(String[]::new));
			variables.select(0);
		}
		speeds.select(MonitorReplay.SPEEDS.indexOf(replay.speed()));
		if (!bar.getVisible()) {
			seen(true);
		}
		paint(true);
	}

	/** The window is another one. */
	void window(long fromNs, long toNs) {
		replay.window(fromNs, toNs);
		paint(true);
	}

	/** Shows the values of a time without going there; {@link PointedTime#NONE} those of the cursor again. A replay that plays goes on. */
	void glance(long ns) {
		glancedNs = ns;
		if (!glancing && replay != null && !replay.isPlaying()) {
			glancing = true;
			OnDisplay.later(bar, () -> {
				glancing = false;
				if (replay != null && !replay.isPlaying()) {
					paint(true);
				}
			});
		}
	}

	/** When what is shown was. */
	private long shownNs() {
		return glancedNs == PointedTime.NONE || replay.isPlaying() ? replay.atNs() : Math.max(replay.fromNs(), glancedNs);
	}

	/** Nothing is shown. */
	void hide() {
		replay = null;
		seen(false);
	}

	boolean isShown() {
		return replay != null;
	}

	/** For tests. */
	MonitorReplay replay() {
		return replay;
	}

	private void seen(boolean visible) {
		((GridData) bar.getLayoutData()).exclude = !visible;
		bar.setVisible(visible);
		bar.getParent().layout(true, true);
	}

	private void choose() {
		paint(false);
	}

	/** As a click on the button does. */
	void step(int direction) {
		replay.step(direction);
		paint(true);
	}

	/** As a click on the button does. */
	void toggle() {
		replay.toggle();
		tickedNs = System.nanoTime();
		paint(true);
		if (replay.isPlaying()) {
			bar.getDisplay().timerExec(FRAME_MS, this::tick);
		}
	}

	private void tick() {
		if (bar.isDisposed() || replay == null || !replay.isPlaying()) {
			return;
		}
		long now = System.nanoTime();
		replay.passed(now - tickedNs);
		tickedNs = now;
		paint(true);
		bar.getDisplay().timerExec(FRAME_MS, this::tick);
	}

	/** What the combos say. */
	private Show what() {
		int v = variables.getSelectionIndex();
		return new Show(v <= 0 ? null : variables.getItem(v), modes.getSelectionIndex() == 1 ? Mode.MEAN : Mode.AT,
				Law.values()[Math.max(0, laws.getSelectionIndex())], bounds.getSelectionIndex() == 1 ? Bounds.OBSERVED : Bounds.AUTO, 0, 0);
	}

	/** @param slide whether the slider follows; not while it is what moves */
	private void paint(boolean slide) {
		MachineMonitors m = replay.monitors();
		Show show = what();
		if (slide) {
			slider.setSelection((int) Math.round(replay.share() * SLIDER));
		}
		play.setText(replay.isPlaying() ? "Pause" : "Play");
		time.setText(Units.duration(m.info(), shownNs() - m.info().startNs()));
		painter.accept(m.frame(show, replay.fromNs(), shownNs()));
	}
}
