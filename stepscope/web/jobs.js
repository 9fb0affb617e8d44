// Which job runs, and starting another one in its place.

import { call, why } from "./api.js";
import { field, h, options } from "./dom.js";
import { act, answerLine } from "./live.js";

export function jobPanel() {
  const select = h("select", { id: "preset", onchange: () => choose() });
  const seed = h("input", { type: "number", min: "0", max: "4294967295", step: "1", placeholder: "as now" });
  const about = h("div", { class: "chosen" });
  const answer = answerLine();
  const warnings = h("ul", { class: "notes" });
  const body = () => ({ preset: select.value, ...(seed.value === "" ? {} : { seed: Number(seed.value) }) });
  const start = h("button", { type: "button", onclick: () => act(start, answer, ["PUT", "/v1/job", body()], "New run") }, "Start as a new run");
  const node = h("section", { class: "panel", "aria-labelledby": "job-title" }, h("h2", { id: "job-title" }, "The job"), warnings,
    h("div", { class: "fields" }, field("Job", select), field("Seed", seed)), about, start, h("p", { class: "hint" }, "The faults of the run that it replaces end with it."), answer);
  let known = [];
  let run = "";
  let runs = "";

  function choose() {
    const job = known.find(({ preset }) => preset === select.value);
    if (job) about.replaceChildren(h("p", {}, job.summary), h("p", { class: "hint" }, `${job.ranks.toLocaleString()} × ${job.gpu_model} on ${job.nodes.toLocaleString()} node${job.nodes === 1 ? "" : "s"}, ${job.model}`), ...(job.preset === runs ? [] : job.notes).map((note) => h("p", { class: "hint" }, note)));
  }

  return {
    node,
    async update(state) {
      if (run === state.run.run) return;
      try {
        if (!known.length) known = (await call("GET", "/v1/presets")).presets;
        run = state.run.run;
        runs = state.run.preset;
        options(select, known.map(({ preset }) => [preset, preset]), state.run.preset);
        warnings.replaceChildren(...state.run.warnings.map((warning) => h("li", {}, warning)));
        choose();
      } catch (error) {
        answer.textContent = why(error);
      }
    },
  };
}
