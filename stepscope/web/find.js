// What is wrong with the run, from nothing but what it shows: the verdicts, the row of the matrix that they light, six lamps.

import { call, why } from "./api.js";
import { h, percent, put, words } from "./dom.js";
import { PHASES } from "./state.js";

const EVERY = 3;
const LAMPS = { pass: ["✓", "passes"], fail: ["✗", "fails"], "not measurable": ["?", "cannot be measured"] };
const see = {};
let busy = false;
let asked = -EVERY;

function build(root) {
  see.sentence = h("p", { class: "sentence", role: "status", id: "sentence" }, "Listening…");
  see.about = h("p", { class: "hint" });
  see.verdicts = h("div", { class: "verdicts" });
  see.lamps = h("ol", { class: "lamps" });
  see.matrix = h("tbody");
  const heads = ["cause", ...Object.values(PHASES), "what to watch"];
  root.append(
    h("section", { class: "panel", "aria-labelledby": "find-title" }, h("h2", { id: "find-title" }, "The verdict"), see.sentence, see.about, see.verdicts),
    h("section", { class: "panel", "aria-labelledby": "lamps-title" }, h("h2", { id: "lamps-title" }, "The isolation pipeline, in its order"), see.lamps),
    h("section", { class: "panel", "aria-labelledby": "matrix-title" }, h("h2", { id: "matrix-title" }, "The matrix"), h("p", { class: "hint" }, "● the cause lengthens this phase of a step. The row of each verdict is lit."),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix of causes" }, h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), see.matrix))));
}

const number = (value) => (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4))));

function verdict(found) {
  const whom = found.culprit ? `${found.culprit.scope} ${(found.culprit.scope === "node" ? found.culprit.nodes : found.culprit.ranks).join(", ")}${found.culprit.gpus.length ? ` (${found.culprit.gpus.slice(0, 4).join(", ")})` : ""}` : "nobody in particular";
  const { slowdown, wasted_share: wasted, wasted_gpu_hours_per_hour: hours } = found.cost;
  const facts = [
    ["who", whom], ["it costs", slowdown === null ? "everything: no step ends" : `${percent(wasted, 1)} of the GPU-hours, ${hours.toFixed(1)} every hour; the step takes × ${slowdown.toFixed(2)}`],
    ["it is", `${found.chronic ? "lasting" : "a single event"}; confidence ${percent(found.confidence)}`], ["to confirm", found.confirm], ["remedy", found.remedy],
  ];
  const rows = found.evidence.map(({ name, value, reference, unit }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value === null ? "cannot be said" : `${number(value)} ${unit}`), h("td", {}, reference === null ? "–" : `${number(reference)} ${unit}`)));
  return h("article", { class: "verdict", "data-cause": found.cause }, h("h3", {}, words(found.cause)), h("p", {}, found.summary), found.detail ? h("p", { class: "hint" }, found.detail) : null,
    h("dl", { class: "facts" }, facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))),
    rows.length ? h("table", {}, h("caption", {}, "Evidence"), h("thead", {}, h("tr", {}, ["", "seen", "beside"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)) : null);
}

function lamp({ name, metric, outcome, value, threshold, unit, reason }) {
  const [sign, said] = LAMPS[outcome];
  const numbers = value === null ? reason : `${metric}: ${number(value)}, threshold ${number(threshold)} (${unit})`;
  return h("li", { class: "lamp", "data-outcome": outcome }, h("span", { class: "bulb", "aria-hidden": "true" }, sign), h("b", {}, name), h("span", {}, said), h("span", { class: "hint" }, numbers));
}

function show(found) {
  put(see.sentence, found.sentence);
  put(see.about, `${found.run}, the last ${found.window_seconds.toFixed(0)} s, ${found.scrapes} samples, ${found.steps.toFixed(0)} steps. ${found.abstained}`);
  const text = JSON.stringify([found.verdicts, found.pipeline]);
  if (text === see.text) return;
  see.text = text;
  see.verdicts.replaceChildren(...found.verdicts.map(verdict));
  see.lamps.replaceChildren(...found.pipeline.map(lamp));
  const lit = new Set(found.verdicts.map(({ cause }) => cause));
  // Lit rows come first, where they are seen without scrolling.
  see.matrix.replaceChildren(...see.rows.filter((row) => lit.has(row.dataset.cause)), ...see.rows.filter((row) => !lit.has(row.dataset.cause)));
  for (const row of see.rows) {
    row.classList.toggle("lit", lit.has(row.dataset.cause));
    put(row.querySelector(".mark"), lit.has(row.dataset.cause) ? "▶ " : "");
  }
}

async function buildMatrix() {
  const { kinds } = await call("GET", "/v1/kinds");
  see.rows = kinds.filter(({ kind }) => kind !== "none").map((kind) => h("tr", { "data-cause": kind.kind }, h("th", { scope: "row" }, h("span", { class: "mark" }), words(kind.kind)),
    Object.keys(PHASES).map((phase) => h("td", {}, kind.phases.includes(phase) ? "●" : "")), h("td", { class: "watch" }, kind.look_at)));
  see.matrix.replaceChildren(...see.rows);
}

export const find = {
  id: "find",
  title: "Find it",
  mount: build,
  enter() {
    asked = -EVERY;
  },
  async update(state) {
    if (busy || (state.position.tick >= asked && state.position.tick < asked + EVERY)) return;
    busy = true;
    asked = state.position.tick;
    try {
      if (!see.rows) await buildMatrix();
      show(await call("GET", "/v1/diagnosis?window_seconds=30", undefined, { seconds: 20 }));
    } catch (error) {
      put(see.sentence, why(error));
    } finally {
      busy = false;
    }
  },
};
