/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * A Worker for pages that are opened from a folder, where browsers start none: an invisible frame that runs the script.
 * The search of the site needs it. The name tells the theme that it need not fetch such a script from the network.
 */
if (location.protocol === "file:") {
	window.Worker = class extends EventTarget {
		constructor(url) {
			super();
			const frame = document.createElement("iframe");
			frame.hidden = true;
			document.body.appendChild(frame);
			const inside = frame.contentWindow;
			const load = (script) => new Promise((done, failed) => {
				const s = inside.document.createElement("script");
				s.src = script;
				s.onload = done;
				s.onerror = () => failed(new Error("cannot load " + script));
				inside.document.body.appendChild(s);
			});
			inside.postMessage = (data) => this.tell(new MessageEvent("message", { data }));
			inside.importScripts = (...scripts) => scripts.reduce((before, s) => before.then(() => load(s)), Promise.resolve());
			this.inside = inside;
			this.frame = frame;
			this.ready = load(new URL(url, location.href).href);
			this.ready.catch((error) => this.tell(new ErrorEvent("error", { error, message: error.message })));
		}

		tell(event) {
			this.dispatchEvent(event);
			const handler = this["on" + event.type];
			if (handler)
				handler.call(this, event);
		}

		postMessage(data) {
			const send = () => this.inside.dispatchEvent(new MessageEvent("message", { data }));
			this.ready.then(send, () => {});
		}

		terminate() {
			this.frame.remove();
		}
	};
}
