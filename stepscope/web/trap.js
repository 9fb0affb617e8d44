// The trap: what the dashboard says beside what the job gets.

import { curl } from "./api.js";
import { TimeChart } from "./chart.js";
import { h } from "./dom.js";
import { hideFaults, showFaults } from "./faults.js";
import { SCENES } from "./film.js";
import { act, live, liveFaults } from "./live.js";
import { buildPhases, showState } from "./state.js";

const $ = (id) => document.getElementById(id);
const MORE = [
  { key: "wait", name: "data wait" },
  { key: "comm", name: "communication" },
  { key: "loss", name: "loss", chart: "loss-chart", scale: "linear" },
  { key: "norm", name: "gradient norm", chart: "norm-chart", scale: "log" },
];
const hidden = new Set(MORE.map(({ key }) => key));
const charts = [];

function buildFilm() {
  for (const scene of SCENES) {
    const button = h("button", { type: "button", onclick: () => act(button, $("answer"), scene.call, scene.label) }, scene.label);
    const command = h("details", {}, h("summary", {}, "the same with curl"), h("pre", {}, curl(...scene.call)));
    $("film").append(h("li", {}, button, h("p", {}, scene.hint), command));
  }
}

function buildCharts() {
  charts.push(new TimeChart($("chart"), { scale: "percent", series: [{ key: "util" }, { key: "mfu" }, { key: "wait" }, { key: "comm" }] }));
  for (const { key, name, chart, scale } of MORE) {
    if (chart) charts.push(new TimeChart($(chart), { scale, series: [{ key }], height: 130 }));
    const button = h("button", { type: "button", class: `chip ${key}`, "aria-pressed": "false" }, name);
    button.addEventListener("click", () => {
      if (!hidden.delete(key)) hidden.add(key);
      button.setAttribute("aria-pressed", String(!hidden.has(key)));
      if (chart) $(chart).closest("figure").hidden = hidden.has(key);
      draw();
    });
    $("more").append(button);
  }
}

function draw() {
  for (const chart of charts) chart.draw(live.history.samples, hidden);
}

export const trap = {
  id: "trap",
  title: "The trap",
  mount() {
    buildCharts();
    buildPhases($("bar"), $("legend"));
    buildFilm();
    for (const [id, port] of [["prometheus", 9090], ["grafana", 3000]]) $(id).href = `http://${location.hostname}:${port}/`;
  },
  async update(state) {
    showState(state, live.history.usualNorm());
    draw();
    try {
      showFaults($("faults"), await liveFaults(state), state, $("answer"));
    } catch {
      hideFaults($("faults"));
    }
  },
};
