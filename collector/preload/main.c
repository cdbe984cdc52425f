// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Entry of the preload library: everything starts in its constructor. */
#include "context.h"
#include "image.h"

static struct mt_config config;
static struct mt_image image;

__attribute__((constructor)) static void memtrace_start(void)
{
	if (mt_config_read(&config) < 0)
		return;
	if (mt_image_create(&image, &config, config.parent_image, config.parent_image < 0 ? "root" : "exec") < 0)
		return;
	mt_image_export(&image, 1);
	mt_image_save_maps(&image, "maps-start.txt");
	ctx_init(&image);
	mt_image_describe(&image, "none", "no backend is built in");
}
