// The faults that are live, each with its time left and its own way out.

import { clock, h, keep, put } from "./dom.js";
import { act } from "./live.js";

function said(fault, now) {
  const ranks = fault.resolved_targets;
  const shown = ranks.slice(0, 8).join(", ") + (fault.resolved_count > 8 ? ` and ${fault.resolved_count - 8} more` : "");
  const left = fault.paused ? "paused" : fault.expires_at ? `${clock((Date.parse(fault.expires_at) - now) / 1000)} left` : "until cleared";
  return `${fault.name}: ${fault.kind} on rank${fault.resolved_count === 1 ? "" : "s"} ${shown}; ${fault.state}, intensity ${fault.effective_intensity.toFixed(2)}, ${left}`;
}

export function showFaults(list, faults, state, answer) {
  const now = Date.parse(state.position.time);
  keep(list, faults.map((fault) => ({ key: fault.name, fault })), ({ key: name }) => {
    const text = h("span");
    const call = ["DELETE", `/v1/faults/${encodeURIComponent(name)}`];
    const button = h("button", { type: "button", class: "quiet", "aria-label": `Clear ${name}`, onclick: () => act(button, answer, call, `Clear ${name}`) }, "Clear");
    return { node: h("li", {}, text, button), update: (entry) => put(text, said(entry.fault, now)) };
  });
}

// Not everybody may see them at all times; what was there before is then not shown either.
export function hideFaults(list) {
  keep(list, [], () => {});
  list.dataset.empty = "hidden";
}
