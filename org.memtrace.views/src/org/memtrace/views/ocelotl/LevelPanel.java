// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.layout.GridLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Text;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/**
 * The choice of the level of detail: quality curves to click on, slider, buttons, text field, and what the level costs.
 * Left is detailed (p = 0), right is simple (p = 1), in the curves and on the slider, whose
 * scale is that of the curves: the square root of p.
 */
final class LevelPanel extends Composite {
	private static final int STEPS = 1000;
	private static final int LOW_CURVES = 70;
	private static final int LEAST_CURVES = 90;
	private static final String TITLE = "Level of detail";
	/** For a p with four digits. */
	private static final int TEXT_WIDTH = 50;
	private final Label title;
	private final CurvesCanvas curves;
	private boolean low;
	private final Scale slider;
	private final Button simpler;
	private final Button finer;
	private final Button automatic;
	private final Text text;
	private final Composite row;
	private final Composite facts;
	private final Label loss;
	private final Label reduction;
	private final Label blocks;
	private final Label level;
	private TraceSelection selection;
	private Description description;

	LevelPanel(Composite parent) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(1).margins(8, 6).spacing(4, 6).applyTo(this);
		title = new Label(this, SWT.NONE);
		title.setText(TITLE);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(title);
		title.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));

		curves = new CurvesCanvas(this, this::chooseOnAxis);
		GridDataFactory.fillDefaults().grab(true, true).hint(200, 110).minSize(100, LOW_CURVES).applyTo(curves);

		slider = new Scale(this, SWT.HORIZONTAL);
		slider.setMaximum(STEPS);
		slider.setIncrement(1);
		slider.setPageIncrement(50);
		slider.setToolTipText("Level of detail: left detailed (p = 0), right simple (p = 1)");
		Accessibility.name(slider, "Level of detail, from detailed to simple");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(slider);
		makeGestures();

		row = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(5).spacing(4, 0).applyTo(row);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(row);
		finer = button(row, "‹", "Next more detailed level (Left)", () -> step(true));
		new Label(row, SWT.NONE).setText("p");
		text = new Text(row, SWT.BORDER);
		text.setToolTipText("p between 0 and 1; Enter applies it");
		Accessibility.name(text, "p");
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).hint(TEXT_WIDTH, SWT.DEFAULT).applyTo(text);
		text.addListener(SWT.DefaultSelection, e -> readText());
		text.addListener(SWT.FocusOut, e -> refresh());
		automatic = new Button(row, SWT.TOGGLE);
		automatic.setText("Auto");
		automatic.setToolTipText("Let each picture choose its level (Home)");
		automatic.addListener(SWT.Selection, e -> {
			if (automatic.getSelection()) {
				automatic();
			} else if (selection != null && description != null) {
				choose(description.effectiveP(selection.state()));
			}
		});
		simpler = button(row, "›", "Next simpler level (Right)", () -> step(false));

		facts = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).spacing(6, 2).applyTo(facts);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(facts);
		loss = fact(facts, "Loss", "Information loss");
		reduction = fact(facts, "Reduction", "Complexity reduction");
		blocks = fact(facts, "Blocks", "Blocks of the picture");
		level = fact(facts, "Level", "Significant level in force");
		addListener(SWT.Resize, e -> fit(getClientArea().width));
		refresh();
	}

	/** A drag of the slider is one step of what can be undone. */
	private void makeGestures() {
		slider.addListener(SWT.MouseDown, e -> {
			if (selection != null) {
				selection.beginGesture();
			}
		});
		slider.addListener(SWT.MouseUp, e -> {
			if (selection != null) {
				selection.endGesture();
			}
		});
		slider.addListener(SWT.Selection, e -> chooseOnAxis(Math.pow(slider.getSelection() / (double) STEPS, 2)));
	}

	/**
	 * In a low view the parts are closer together, and the curves have the room of the figures, which stand in the status line, too; which
	 * level it is stands in the title.
	 */
	void low(boolean on) {
		low = on;
		facts.setVisible(!low);
		((GridData) facts.getLayoutData()).exclude = low;
		showTitle();
		((GridLayout) getLayout()).verticalSpacing = low ? 1 : 6;
		((GridLayout) getLayout()).marginHeight = low ? 2 : 6;
		((GridData) curves.getLayoutData()).minimumHeight = low ? LEAST_CURVES : LOW_CURVES;
	}

	private void showTitle() {
		title.setText(low && description != null ? TITLE + ": " + level.getText() : TITLE);
	}

	/** What it needs at least in a width, with the lowest curves. */
	int leastHeight(int width) {
		fit(width);
		GridData ofCurves = (GridData) curves.getLayoutData();
		return computeSize(width, SWT.DEFAULT).y - ofCurves.heightHint + ofCurves.minimumHeight;
	}

	/** Two columns instead of four, and the toggle in its own line, where texts would be cut off otherwise. */
	private void fit(int width) {
		if (width <= 0) {
			return;
		}
		int room = width - 2 * ((GridLayout) getLayout()).marginWidth;
		int factColumns = room < factsWidth() ? 2 : 4;
		int rowColumns = room < rowWidth() ? 4 : 5;
		GridLayout ofFacts = (GridLayout) facts.getLayout();
		GridLayout ofRow = (GridLayout) row.getLayout();
		if (ofFacts.numColumns == factColumns && ofRow.numColumns == rowColumns) {
			return;
		}
		ofFacts.numColumns = factColumns;
		ofRow.numColumns = rowColumns;
		automatic.moveBelow(rowColumns == 4 ? simpler : text);
		GridDataFactory.fillDefaults().span(rowColumns == 4 ? 4 : 1, 1).applyTo(automatic);
		layout(true, true);
	}

	/** What the figures need beside each other, with the longest values. */
	private int factsWidth() {
		GC gc = new GC(this);
		try {
			gc.setFont(loss.getFont());
			int first = Math.max(gc.textExtent("Loss").x, gc.textExtent("Blocks").x);
			int firstValue = Math.max(gc.textExtent("< 0.1 %").x, gc.textExtent("100,000").x);
			int second = Math.max(gc.textExtent("Reduction").x, gc.textExtent("Level").x);
			int secondValue = Math.max(gc.textExtent("100.0 %").x, gc.textExtent("100 of 100+").x);
			return first + firstValue + second + secondValue + 3 * ((GridLayout) facts.getLayout()).horizontalSpacing + 4;
		} finally {
			gc.dispose();
		}
	}

	/** What the text field and the buttons need in one line. */
	private int rowWidth() {
		int width = 0;
		for (Control c : row.getChildren()) {
			width += c == text ? TEXT_WIDTH + text.computeTrim(0, 0, 0, 0).width : c.computeSize(SWT.DEFAULT, SWT.DEFAULT).x;
		}
		return width + 4 * ((GridLayout) row.getLayout()).horizontalSpacing;
	}

	private static Button button(Composite parent, String label, String tip, Runnable action) {
		Button b = Buttons.push(parent, label, tip, () -> action.run());
		Accessibility.name(b, tip);
		return b;
	}

	private static Label fact(Composite parent, String label, String tip) {
		Label name = new Label(parent, SWT.NONE);
		name.setText(label);
		name.setToolTipText(tip);
		Label value = new Label(parent, SWT.RIGHT);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(value);
		return value;
	}

	void setSelection(TraceSelection s) {
		selection = s;
		setDescription(null);
	}

	/** The levels to choose from; null none. */
	void setDescription(Description d) {
		description = d;
		refresh();
	}

	/** What the picture that is shown leaves out. */
	void setPicture(ShownPicture picture) {
		Partition partition = picture.partition();
		loss.setText(Units.percent(partition.lossPercent()));
		reduction.setText(Units.percent(partition.reductionPercent()));
		blocks.setText(Units.count(partition.blockCount()));
	}

	/** Shows the state again, after p or the known levels changed. */
	void refresh() {
		boolean on = description != null && selection != null;
		for (Control c : new Control[] { slider, simpler, finer, automatic, text }) {
			c.setEnabled(on);
		}
		if (!on) {
			text.setText("");
			for (Label l : new Label[] { loss, reduction, blocks, level }) {
				l.setText("–");
			}
			curves.show(null, 0);
			showTitle();
			return;
		}
		ViewState s = selection.state();
		double p = description.effectiveP(s);
		int index = description.levelIndex(s);
		int count = description.levels().levels().size();
		int position = (int) Math.round(Math.sqrt(description.axisP(p)) * STEPS);
		if (slider.getSelection() != position) {
			slider.setSelection(position);
		}
		automatic.setSelection(s.isAutomaticP());
		simpler.setEnabled(index < count - 1);
		finer.setEnabled(index > 0);
		String shown = String.format(Locale.ROOT, "%.4f", p);
		if (!text.getText().equals(shown)) {
			text.setText(shown);
		}
		text.setForeground(null);
		level.setText((index + 1) + " of " + count + (description.isComplete() ? "" : "+"));
		level.setToolTipText(description.isComplete() ? null : "Finer levels are still looked for");
		showTitle();
		curves.show(description, description.axisP(p));
	}

	private void readText() {
		if (selection == null) {
			return;
		}
		try {
			double p = Double.parseDouble(text.getText().strip().replace(',', '.'));
			if (p >= 0 && p <= 1) {
				choose(p);
				return;
			}
		} catch (NumberFormatException e) {
			// shown below
		}
		text.setForeground(ScenePainter.warning(this));
	}

	/** p on the axis of the curves, which may be the normalised one. */
	private void chooseOnAxis(double p) {
		choose(description == null ? p : description.plainP(p));
	}

	private void choose(double p) {
		if (selection != null) {
			selection.p(p);
		}
	}

	/** The next finer significant level, or the next coarser. */
	void step(boolean toFiner) {
		if (description == null || selection == null) {
			return;
		}
		int index = description.levelIndex(selection.state()) + (toFiner ? -1 : 1);
		if (index >= 0 && index < description.levels().levels().size()) {
			choose(description.plainP(description.levels().levels().get(index).p()));
		}
	}

	/** Lets the picture choose. */
	void automatic() {
		choose(ViewState.AUTOMATIC_P);
	}

	CurvesCanvas curves() {
		return curves;
	}

	Scale slider() {
		return slider;
	}
}
