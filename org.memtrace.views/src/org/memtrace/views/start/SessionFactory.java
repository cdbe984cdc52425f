// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import org.eclipse.core.runtime.Platform;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.services.AbstractServiceFactory;
import org.eclipse.ui.services.IServiceLocator;
import org.memtrace.views.extensions.Extensions;
import org.memtrace.views.ocelotl.WarmUp;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.RecentList;
import org.memtrace.views.session.Session;

/** Makes the one {@link Session} of a workbench; windows and parts get that of the workbench. */
public final class SessionFactory extends AbstractServiceFactory {
	@Override
	@SuppressWarnings({ "rawtypes", "unchecked" }) // the signature of the platform
	public Object create(Class serviceInterface, IServiceLocator parent, IServiceLocator locator) {
		Object inherited = parent.getService(serviceInterface);
		if (inherited != null) {
			return inherited;
		}
		Session session = new Session(() -> Session.open(Settings.catalogue()));
		FollowSettings.follow(session, PlatformUI.getWorkbench().getDisplay());
		Extensions.follow(Platform.getExtensionRegistry());
		RecentList.follow(session);
		WarmUp.start(PlatformUI.getWorkbench().getDisplay());
		return session;
	}
}
