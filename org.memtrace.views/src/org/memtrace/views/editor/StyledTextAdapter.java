// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.editor;

import org.eclipse.jface.fieldassist.IControlContentAdapter;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Control;

/** How proposals of JFace read a styled text, for which it has no adapter itself. It inserts nothing: {@link CodeEditor} does. */
final class StyledTextAdapter implements IControlContentAdapter {
	private static StyledText text(Control control) {
		return (StyledText) control;
	}

	@Override
	public void setControlContents(Control control, String contents, int caret) {
		text(control).setText(contents);
		text(control).setSelection(caret);
	}

	@Override
	public void insertControlContents(Control control, String contents, int caret) {
		// the editor knows which word it replaces
	}

	@Override
	public String getControlContents(Control control) {
		return text(control).getText();
	}

	@Override
	public int getCursorPosition(Control control) {
		return text(control).getCaretOffset();
	}

	@Override
	public Rectangle getInsertionBounds(Control control) {
		StyledText text = text(control);
		Point at = text.getLocationAtOffset(text.getCaretOffset());
		return new Rectangle(at.x, at.y, 1, text.getLineHeight());
	}

	@Override
	public void setCursorPosition(Control control, int caret) {
		text(control).setSelection(caret);
	}
}
