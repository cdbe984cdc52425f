// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.List;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.analysis.overview.PartitionTable;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.SceneImage;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Focus;

/**
 * A window with what is inside of a block, or of several that are drawn together: what the tooltip says, a picture of it alone,
 * and its blocks as a table. The large picture stays where it is.
 */
final class BlockContent {
	private static final int MAX_ROWS = 2000;
	private static final double FONT_PIXELS = 12;

	private record Wanted(ShownPicture picture, ShownPicture.Hit hit, Models models) {
	}

	private record Content(Description description, ShownPicture.Hit hit, String text, List<PartitionTable.Row> rows, boolean inner) {
	}

	private final Shell shell;
	private final Label text;
	private final Canvas canvas;
	private final Table table;
	private final Label tableTitle;
	private final LatestResult<Wanted, Content> reading;
	private final LatestResult<ShownPicture.Input, ShownPicture> drawing;
	private Content content;
	private ShownPicture shown;
	private SceneImage image;

	private BlockContent(Control parent, ShownPicture picture, ShownPicture.Hit hit, TraceSelection selection) {
		shell = new Shell(parent.getShell(), SWT.SHELL_TRIM & ~(SWT.MIN | SWT.MAX) | SWT.RESIZE);
		shell.setText("Content of " + picture.trace().producers().name(Math.max(0, hit.producer())));
		GridLayoutFactory.fillDefaults().margins(10, 10).spacing(6, 6).applyTo(shell);
		text = new Label(shell, SWT.WRAP);
		text.setText("Reading…");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(text);
		SashForm sash = new SashForm(shell, SWT.VERTICAL | SWT.SMOOTH);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		canvas = new Canvas(sash, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND);
		Composite below = new Composite(sash, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 4).applyTo(below);
		tableTitle = new Label(below, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(tableTitle);
		table = new Table(below, SWT.BORDER | SWT.FULL_SELECTION | SWT.VIRTUAL);
		table.setHeaderVisible(true);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(table);
		makeColumns(picture);
		sash.setWeights(60, 40);
		Composite buttons = new Composite(shell, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).equalWidth(true).applyTo(buttons);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(buttons);
		Button zoom = Buttons.push(buttons, "&Zoom to it", null, () -> {
			shell.close();
			selection.go(hit.zoomed(selection.state()));
		});
		GridDataFactory.fillDefaults().applyTo(zoom);
		Button close = Buttons.push(buttons, "Close", null, () -> shell.close());
		GridDataFactory.fillDefaults().applyTo(close);
		shell.setDefaultButton(close);

		reading = reading();
		drawing = drawing();
		table.addListener(SWT.SetData, e -> fill((TableItem) e.item, e.index));
		canvas.addListener(SWT.Paint, e -> {
			Rectangle area = canvas.getClientArea();
			e.gc.setBackground(ScenePainter.color(ScenePainter.palette(canvas).background()));
			e.gc.fillRectangle(area);
			if (shown != null) {
				if (image == null) {
					image = new SceneImage(canvas, shown.picture().scene());
				}
				image.draw(e.gc);
			}
		});
		canvas.addListener(SWT.Resize, e -> draw());
		shell.addListener(SWT.Traverse, e -> {
			if (e.detail == SWT.TRAVERSE_ESCAPE) {
				shell.close();
			}
		});
		shell.addListener(SWT.Dispose, e -> {
			reading.cancel();
			drawing.cancel();
			dropImage();
		});
	}

	private void makeColumns(ShownPicture picture) {
		column("Producer", 220, SWT.LEFT);
		column("From", 80, SWT.RIGHT);
		column("To", 80, SWT.RIGHT);
		column(ModelText.rows(picture.model()), 72, SWT.RIGHT);
		column("Strongest type", 130, SWT.LEFT);
		column("Share", 60, SWT.RIGHT);
		column("Value", 80, SWT.RIGHT);
		column("Loss", 60, SWT.RIGHT);
	}

	private LatestResult<ShownPicture.Input, ShownPicture> drawing() {
		return new LatestResult<>("Draw content", canvas, LatestResult.Policy.KEEP_UP) {
			@Override
			protected ShownPicture compute(ShownPicture.Input input, Progress progress) throws MemtraceException {
				return ShownPicture.compute(input);
			}

			@Override
			protected void show(ShownPicture.Input input, ShownPicture result) {
				shown = result;
				dropImage();
				canvas.redraw();
			}
		};
	}

	private LatestResult<Wanted, Content> reading() {
		return new LatestResult<>("Content of a block", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Content compute(Wanted input, Progress progress) throws MemtraceException {
				return read(input, progress);
			}

			@Override
			protected void show(Wanted input, Content result) {
				fill(result);
			}

			@Override
			protected void failed(Wanted input, String message) {
				text.setText(message.replace("&", "&&"));
				shell.layout();
			}
		};
	}

	/** Opens the window beside the pointer or the block. */
	static Shell open(Control parent, ShownPicture picture, ShownPicture.Hit hit, TraceSelection selection, Models models) {
		BlockContent c = new BlockContent(parent, picture, hit, selection);
		c.shell.setSize(760, 560);
		Rectangle screen = parent.getMonitor().getClientArea();
		Point at = parent.toDisplay(hit.area().x + Math.min(hit.area().width, 200), hit.area().y);
		c.shell.setLocation(Math.max(screen.x, Math.min(at.x + 20, screen.x + screen.width - 780)),
				Math.max(screen.y, Math.min(at.y, screen.y + screen.height - 600)));
		c.shell.addListener(SWT.Dispose, e -> Focus.again(parent));
		c.shell.open();
		c.reading.submit(new Wanted(picture, hit, models));
		return c.shell;
	}

	private void column(String title, int width, int style) {
		TableColumn c = new TableColumn(table, style);
		c.setText(title);
		c.setWidth(width);
	}

	private static Content read(Wanted in, Progress progress) throws MemtraceException {
		ShownPicture picture = in.picture();
		ShownPicture.Hit hit = in.hit();
		Picture.Hit what = hit.what();
		ViewState inside = hit.zoomed(picture.state()).withP(ViewState.AUTOMATIC_P);
		Choice choice = picture.choice().withKind(PictureKind.BLOCKS);
		OpenTrace trace = picture.trace();
		Description d = Description.compute(new Description.Input(trace, inside, choice, in.models()), progress);
		Partition outer = picture.partition();
		boolean single = what.block() >= 0 || !picture.hasRows() || hit.part() != null;
		Partition inner = d.partition(d.effectiveP(inside));
		List<PartitionTable.Row> rows = single
				? PartitionTable.rows(inner, d.names(), 0, d.model().hierarchy().leafCount(), 0, d.model().sliceCount())
				: PartitionTable.rows(outer, picture.names(), what.leafFrom(), what.leafTo(), what.firstSlice(), what.endSlice());
		return new Content(d, hit, HitText.of(picture, hit, progress), rows, single);
	}

	private void fill(Content c) {
		content = c;
		text.setText(c.text().replace("&", "&&"));
		tableTitle.setText((c.inner() ? "Its blocks at the automatic level: " : "Drawn together: ") + Units.plural(c.rows().size(), "block")
				+ (c.rows().size() > MAX_ROWS ? ", the first " + Units.count(MAX_ROWS) + " are shown" : ""));
		table.setItemCount(Math.min(MAX_ROWS, c.rows().size()));
		table.clearAll();
		shell.layout(true, true);
		draw();
	}

	private void fill(TableItem item, int index) {
		if (content == null || index >= content.rows().size()) {
			return;
		}
		PartitionTable.Row r = content.rows().get(index);
		TraceInfo info = content.description().input().trace().info();
		item.setText(new String[] {r.producer(), Units.duration(info, r.fromNs() - info.startNs()),
			Units.duration(info, r.toNs() - info.startNs()), Units.count(r.pages()),
			r.main() == null ? "–" : ModelText.type(r.main()), Units.percent(r.share()),
			ModelText.value(content.description().model(), r.value(), info.isInTicks()), Units.percent(r.lossPercent())});
	}

	private void draw() {
		Point size = canvas.getSize();
		if (content != null && size.x > 50 && size.y > 50) {
			Description d = content.description();
			drawing.submit(new ShownPicture.Input(d, d.input().state(), d.input().choice(), size.x, size.y,
					FONT_PIXELS * Appearance.textScale(canvas.getDisplay()),
					ScenePainter.palette(canvas)));
		}
	}

	private void dropImage() {
		if (image != null) {
			image.dispose();
			image = null;
		}
	}
}
