// Break it, fix it: faults, remedies, scenarios, jobs and the log of what happened, each a panel of its own.

import { why } from "./api.js";
import { h } from "./dom.js";
import { hideFaults, showFaults } from "./faults.js";
import { jobPanel } from "./jobs.js";
import { kindPanel } from "./kinds.js";
import { act, answerLine, liveFaults } from "./live.js";
import { logPanel } from "./log.js";
import { remedyPanel } from "./remedies.js";
import { scenarioPanel } from "./scenarios.js";

const see = {};

function livePanel() {
  see.faults = h("ul", { class: "faults", id: "live-faults" });
  see.answer = answerLine();
  const reset = h("button", { type: "button", class: "quiet", onclick: () => act(reset, see.answer, ["POST", "/v1/reset"], "Reset") }, "Reset: clear every fault, back to the last good checkpoint");
  return h("section", { class: "panel", "aria-labelledby": "live-title" }, h("h2", { id: "live-title" }, "Faults now"), see.faults, see.answer, reset);
}

export const breakIt = {
  id: "break",
  title: "Break it, fix it",
  mount(root) {
    see.panels = [kindPanel(), remedyPanel(), scenarioPanel(), jobPanel(), logPanel()];
    const [kinds, remedies, scenarios, jobs, log] = see.panels.map((panel) => panel.node);
    root.append(h("div", { class: "columns wide-left" }, h("div", { class: "column" }, kinds, remedies), h("div", { class: "column" }, livePanel(), scenarios, jobs, log)));
  },
  enter() {
    for (const panel of see.panels) panel.enter?.();
  },
  leave() {
    for (const panel of see.panels) panel.leave?.();
  },
  async update(state) {
    for (const panel of see.panels) panel.update?.(state);
    try {
      showFaults(see.faults, await liveFaults(state), state, see.answer);
    } catch (error) {
      hideFaults(see.faults);
      see.answer.textContent = why(error);
    }
  },
};
