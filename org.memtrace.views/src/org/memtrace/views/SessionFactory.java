// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import org.eclipse.ui.services.AbstractServiceFactory;
import org.eclipse.ui.services.IServiceLocator;
import org.memtrace.storage.Stores;

/** Makes the one {@link Session} of a workbench; windows and parts get that of the workbench. */
public final class SessionFactory extends AbstractServiceFactory {
	@Override
	@SuppressWarnings({ "rawtypes", "unchecked" }) // the signature of the platform
	public Object create(Class serviceInterface, IServiceLocator parent, IServiceLocator locator) {
		Object inherited = parent.getService(serviceInterface);
		return inherited != null ? inherited : new Session(() -> Session.openDirectory(Stores.defaultCatalogueDirectory()));
	}
}
