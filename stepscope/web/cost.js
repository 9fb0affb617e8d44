// What slow ranks, jitter and stalls cost a job, by its size: the numbers of `stepscope straggler`, from the same place.

import { call, why } from "./api.js";
import { field, h, options, percent } from "./dom.js";
import { CostCurve } from "./curve.js";

const SIZES = "8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072";
const IN_TABLE = new Set([8, 64, 256, 1024, 4096, 16384, 131072]);
const SLIDERS = [
  { key: "slowdown", label: "Slowdown of the slow ranks", least: 1, most: 3, step: 0.01, value: 1.1, write: (v) => `× ${v.toFixed(2)}` },
  { key: "ranks", label: "How many are slow", least: 0, most: 64, step: 1, value: 1, write: (v) => String(v) },
  { key: "jitter", label: "Jitter of every rank", least: 0, most: 0.1, step: 0.001, value: 0, write: (v) => percent(v, 1) },
  { key: "stall_factor", label: "A stalled step lasts", least: 1, most: 10, step: 0.1, value: 1, write: (v) => `${v.toFixed(1)} steps` },
  { key: "stall_rate", label: "Share of steps that stall", least: 0, most: 0.05, step: 0.001, value: 0, write: (v) => percent(v, 1) },
  { key: "communication", label: "Communication, over compute", least: 0, most: 1, step: 0.01, value: 0, write: (v) => percent(v) },
  { key: "overlap", label: "Share of it that overlaps", least: 0, most: 1, step: 0.01, value: 0.8, write: (v) => percent(v) },
];
const see = {};
let timer = 0;
let running = null;

function build(root) {
  see.inputs = new Map(SLIDERS.map((slider) => {
    const input = h("input", { type: "range", id: `cost-${slider.key}`, min: String(slider.least), max: String(slider.most), step: String(slider.step), value: String(slider.value), oninput: changed });
    return [slider.key, { slider, input, output: h("output", { for: `cost-${slider.key}` }) }];
  }));
  see.distribution = options(h("select", { onchange: changed }), [["normal", "normal"], ["lognormal", "lognormal"]], "normal");
  see.price = h("input", { type: "number", min: "0", step: "any", value: "2.5", oninput: () => see.rows && show() });
  see.curve = new CostCurve(h("figure", {}));
  see.table = h("tbody");
  see.says = h("p", { class: "reading", role: "status" });
  see.command = h("pre", {});
  const sliders = [...see.inputs.values()].map(({ slider, input, output }) => h("div", { class: "field slider" }, h("div", { class: "head" }, h("label", { for: input.id }, slider.label), output), input));
  const heads = ["GPUs", "efficiency", "step takes", "drawn, as a check", "GPU-hours lost a day", "money lost a day"];
  root.append(
    h("section", { class: "panel", "aria-labelledby": "cost-title" }, h("h2", { id: "cost-title" }, "What does one slow GPU cost?"),
      h("p", {}, "A synchronous job goes at the pace of its slowest rank. About no particular run: the closed form, and drawn steps as a check on it."),
      h("div", { class: "fields" }, sliders, field("Jitter is", see.distribution), field("Price of a GPU-hour, in any currency", see.price)), see.says),
    h("section", { class: "panel" }, h("h2", {}, "Efficiency by the size of the job"), see.curve.figure,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of sizes" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), see.table)),
      h("p", { class: "hint" }, "The same on the command line:"), see.command));
}

const values = () => Object.fromEntries([...see.inputs].map(([key, { input }]) => [key, Number(input.value)]));

function changed() {
  for (const { slider, input, output } of see.inputs.values()) {
    output.textContent = slider.write(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  }
  clearTimeout(timer);
  timer = setTimeout(ask, 250);
}

async function ask() {
  running?.abort();
  const mine = (running = new AbortController());
  const wanted = { ...values(), distribution: see.distribution.value };
  const sizes = SIZES.split(",").filter((size) => Number(size) >= wanted.ranks).join(",");
  try {
    see.rows = await call("GET", `/v1/straggler?${new URLSearchParams({ gpus: sizes, ...wanted })}`, undefined, { signal: mine.signal, seconds: 30 });
    see.wanted = wanted;
    show();
  } catch (error) {
    if (mine.signal.aborted) return;
    see.says.textContent = why(error);
    if (error.status === 503) timer = setTimeout(ask, 1500);
  }
}

function lost(row) {
  return 24 * row.gpus * (1 - Math.min(1, row.efficiency));
}

const whole = (value) => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });

function show() {
  const price = Number(see.price.value) || 0;
  see.curve.draw(see.rows);
  see.table.replaceChildren(...see.rows.filter(({ gpus }) => IN_TABLE.has(gpus)).map((row) => {
    const { step_factor: drawn, standard_error: error } = row.monte_carlo;
    const cells = [percent(row.efficiency, 2), `× ${row.step_factor.toFixed(4)}`, `× ${drawn.toFixed(4)} ± ${error.toFixed(4)}`, whole(lost(row)), whole(price * lost(row))];
    return h("tr", { "data-gpus": String(row.gpus) }, h("th", { scope: "row" }, row.gpus.toLocaleString()), cells.map((cell) => h("td", {}, cell)));
  }));
  const large = see.rows.find(({ gpus }) => gpus === 1024) ?? see.rows.at(-1);
  see.says.textContent = `${large.gpus.toLocaleString()} GPUs do ${percent(large.efficiency, 1)} of the work that they could: ${whole(lost(large))} GPU-hours a day buy nothing${price ? `, and cost ${whole(price * lost(large))}` : ""}.`;
  const { slowdown, ranks, jitter, stall_factor: factor, stall_rate: rate, communication, overlap, distribution } = see.wanted;
  see.command.textContent = `stepscope straggler --gpus ${see.rows.map(({ gpus }) => gpus).join(",")} --slowdown ${slowdown} --ranks ${ranks} --jitter ${jitter} --distribution ${distribution} --stall-factor ${factor} --stall-rate ${rate} --communication ${communication} --overlap ${overlap}`;
}

export const cost = {
  id: "cost",
  title: "What it costs",
  mount: build,
  enter() {
    if (!see.rows) changed();
  },
  leave() {
    clearTimeout(timer);
  },
};
