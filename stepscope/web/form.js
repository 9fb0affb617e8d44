// Forms from what the API says of itself: parameters as JSON Schema, targets by their modes, and what a dry run predicts.

import { call, why } from "./api.js";
import { field, h, options, percent, duration, words } from "./dom.js";

// One control per property of a JSON Schema. `read()` gives what differs from the defaults, so that the API fills in the rest.
export function paramFields(schema, changed) {
  const entries = Object.entries(schema?.properties ?? {}).map(([name, property]) => ({ name, property, ...control(property, changed) }));
  const node = h("div", { class: "fields" }, entries.map(({ name, property, input }) => field(words(name) + unit(property), input, property.description)));
  const read = () => Object.fromEntries(entries.filter(({ input }) => input.value !== "").map(({ name, get }) => [name, get()]));
  return { node, read };
}

const unit = (property) => (property["x-unit"] && property["x-unit"] !== "ratio" ? ` (${property["x-unit"]})` : "");

export function control(property, changed) {
  if (property.type === "boolean") {
    const input = options(h("select", { onchange: changed }), [["true", "yes"], ["false", "no"]], String(property.default));
    return { input, get: () => input.value === "true" };
  }
  if (property.enum) {
    const input = options(h("select", { onchange: changed }), property.enum.map((value) => [String(value), String(value)]), String(property.default));
    return { input, get: () => property.enum.find((value) => String(value) === input.value) };
  }
  const number = property.type === "number" || property.type === "integer";
  const input = h("input", {
    type: number ? "number" : "text", value: property.default === undefined ? "" : String(property.default), oninput: changed,
    min: property.minimum === undefined ? null : String(property.minimum), max: property.maximum === undefined ? null : String(property.maximum),
    step: property.type === "integer" ? "1" : "any", required: property.default !== undefined,
  });
  return { input, get: () => (number ? Number(input.value) : input.value) };
}

const VALUES = {
  count: { label: "How many ranks", type: "number", value: "1", read: Number },
  percent: { label: "Percent of the ranks", type: "number", value: "25", read: Number },
  ranks: { label: "Ranks, with commas", type: "text", value: "0", read: list },
  nodes: { label: "Nodes, with commas (first is 0)", type: "text", value: "0", read: list },
};
const MODE = { all: "all ranks", one: "one rank, drawn by the seed", count: "so many ranks", percent: "a share of the ranks", ranks: "these ranks", nodes: "these nodes" };

function list(text) {
  return text.split(/[\s,]+/).filter(Boolean).map(Number);
}

export function targetFields(modes, chosen, changed) {
  const select = options(h("select"), modes.map((mode) => [mode, MODE[mode]]), chosen?.mode);
  const value = h("div", { class: "field" });
  let input = null;
  const lay = () => {
    const asks = VALUES[select.value];
    input = asks ? h("input", { type: asks.type, value: asks.value, oninput: changed, min: asks.type === "number" ? "1" : null }) : null;
    value.replaceChildren(...(asks ? field(asks.label, input).childNodes : []));
  };
  select.addEventListener("change", () => { lay(); changed(); });
  lay();
  const read = () => (input ? { mode: select.value, value: VALUES[select.value].read(input.value) } : { mode: select.value });
  return { node: h("div", { class: "fields" }, field("Target", select), value), read };
}

const ROWS = [
  ["mfu", "MFU", (value) => percent(value, 1)],
  ["gpu_util_percent", "GPU utilization", (value) => `${value.toFixed(1)} %`],
  ["step_seconds", "step", duration],
  ["tokens_per_second", "tokens/s", (value) => Math.round(value).toLocaleString()],
  ["power_watts", "power per GPU", (value) => `${value.toFixed(0)} W`],
];

// Asks what pressing would do, a moment after the last change; what is asked no more is cancelled.
export class Forecast {
  constructor(question) {
    this.question = question;
    this.node = h("div", { class: "forecast", role: "region", "aria-label": "Predicted effect", "aria-live": "polite" });
    this.timer = 0;
    this.running = null;
  }

  ask() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.node.dataset.state = "asking";
    this.timer = setTimeout(() => this.#run(), 350);
  }

  stop() {
    clearTimeout(this.timer);
    this.running?.abort();
  }

  async #run() {
    const [method, path, body] = this.question();
    const running = (this.running = new AbortController());
    try {
      const found = await call(method, path, body, { signal: running.signal, seconds: 30 });
      if (this.running === running) this.#show(found);
    } catch (error) {
      if (this.running !== running || running.signal.aborted) return;
      if (error.status === 503) {
        this.#say("Others ask as well; asking again.");
        this.timer = setTimeout(() => this.#run(), 2000);
      } else this.#say(why(error), true);
    }
  }

  #say(text, bad = false) {
    this.node.dataset.state = bad ? "bad" : "busy";
    this.node.replaceChildren(h("p", { class: bad ? "answer bad" : "hint" }, text));
  }

  #show({ predicted, fault, restart_seconds: restart }) {
    this.node.dataset.state = "ready";
    const notes = [
      predicted.stands_still && "The job would stand still: no step ends any more.",
      predicted.cut_short && "Few steps were followed: rough numbers.",
      fault && `Would hit ${fault.resolved_count === 1 ? "rank" : "ranks"} ${fault.resolved_targets.slice(0, 8).join(", ")}${fault.resolved_count > 8 ? ` and ${fault.resolved_count - 8} more` : ""}.`,
      restart > 0 && `The job would be down for ${restart.toFixed(0)} s.`,
    ].filter(Boolean);
    const rows = ROWS.map(([key, label, write]) => {
      const { before, after } = predicted[key];
      const change = before > 0 ? after / before - 1 : 0;
      const text = Math.abs(change) < 0.005 ? "stays" : `${change > 0 ? "▲ +" : "▼ −"}${(100 * Math.abs(change)).toFixed(0)} %`;
      return h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, write(before)), h("td", {}, write(after)), h("td", { class: "change" }, text));
    });
    this.node.replaceChildren(
      h("table", {}, h("caption", {}, fault ? "Predicted, at its peak" : "Predicted, once the job is back"), h("thead", {}, h("tr", {}, ["", "now", "then", ""].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)),
      ...notes.map((note) => h("p", { class: "hint" }, note)));
  }
}
