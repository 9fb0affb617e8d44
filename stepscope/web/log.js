// The lab's event log, newest first. It is asked for when the state says that it has grown: nobody's reading is waited for.

import { call } from "./api.js";
import { h } from "./dom.js";

const SHOWN = 60;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function logPanel() {
  const list = h("ol", { class: "events" });
  const node = h("section", { class: "panel", "aria-labelledby": "log-title" }, h("h2", { id: "log-title" }, "What happened"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Event log" }, list));
  let seq = 0;
  let busy = false;

  async function update(state) {
    if (busy || state.position.last_event === seq) return;
    busy = true;
    try {
      const found = await call("GET", `/v1/events?after=${seq}`);
      if (found.missed) list.replaceChildren();
      seq = found.last_seq;
      list.prepend(...found.events.slice(-SHOWN).toReversed().map((event) => h("li", {}, h("time", {}, clock.format(Date.parse(event.time))), ` ${said(event)}`)));
      while (list.children.length > SHOWN) list.lastChild.remove();
    } catch {
      // The link at the top of the page says what is wrong.
    } finally {
      busy = false;
    }
  }

  return { node, update };
}

function said({ event, kind, name, detail, step }) {
  const what = event.replaceAll("_", " ");
  return `${what}${name ? ` ${name}` : ""}${kind ? ` (${kind})` : ""}${detail ? `: ${detail}` : ""}, from step ${step} on`;
}
