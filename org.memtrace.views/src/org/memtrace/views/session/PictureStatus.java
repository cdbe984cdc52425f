// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

/**
 * What the status line says about the picture.
 *
 * @param shown whether there is a picture at all
 * @param p level of detail
 * @param blocks number of blocks
 * @param lossPercent lost information, in per cent of what the finest picture has
 * @param reductionPercent reduced complexity, in per cent of the greatest possible reduction
 */
public record PictureStatus(boolean shown, double p, int blocks, double lossPercent, double reductionPercent) {
	public static final PictureStatus NONE = new PictureStatus(false, 0, 0, 0, 0);
}
