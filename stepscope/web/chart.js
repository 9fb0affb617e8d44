// The last five minutes as lines. Drawn here, since a library of megabytes would be there for a handful of paths.

const SVG = "http://www.w3.org/2000/svg";
const SPAN = 300;
const GAP = 3.5;

function add(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

const NICE = [1, 2, 5, 10];
function ticks(low, high, about = 4) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * NICE.find((factor) => factor * power >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  return found;
}

// scale: "percent" 0 to 100, "linear" and "log" as far as the values go. series: [{ key, name }], `key` is also the CSS class.
export class TimeChart {
  constructor(svg, { scale, series, height = 210 }) {
    this.svg = svg;
    this.scale = scale;
    this.box = { left: 58, right: 632, top: 10, bottom: height - 28 };
    svg.setAttribute("viewBox", `0 0 640 ${height}`);
    svg.replaceChildren();
    this.grid = add(svg, "g", { class: "grid" });
    this.lines = series.map(({ key }) => ({ key, path: add(svg, "path", { class: `line ${key}`, fill: "none" }) }));
    this.range = [];
    if (scale === "percent") this.#axis(0, 100);
  }

  #x(age) {
    return this.box.right - (age / SPAN) * (this.box.right - this.box.left);
  }

  #y(value) {
    const [low, high] = this.range.map((edge) => (this.scale === "log" ? Math.log10(edge) : edge));
    const at = this.scale === "log" ? Math.log10(Math.max(value, 1e-12)) : value;
    return this.box.bottom - Math.min(1, Math.max(0, (at - low) / (high - low))) * (this.box.bottom - this.box.top);
  }

  #axis(low, high) {
    if (this.range[0] === low && this.range[1] === high) return;
    this.range = [low, high];
    const { left, right, bottom } = this.box;
    this.grid.replaceChildren();
    let marks = this.scale === "percent" ? [0, 25, 50, 75, 100] : ticks(low, high);
    if (this.scale === "log") marks = Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) => low * 10 ** i);
    for (const value of marks) {
      add(this.grid, "line", { x1: left, x2: right, y1: this.#y(value), y2: this.#y(value) });
      const text = this.scale === "percent" ? `${value} %` : value >= 1e5 || value < 1e-3 ? value.toExponential(0) : String(Number(value.toPrecision(6)));
      add(this.grid, "text", { x: left - 6, y: this.#y(value) + 4, "text-anchor": "end" }, text);
    }
    for (const minutes of [5, 4, 3, 2, 1, 0]) {
      const label = minutes ? `−${minutes} min` : "now";
      add(this.grid, "text", { x: this.#x(minutes * 60), y: bottom + 18, "text-anchor": minutes === 5 ? "start" : minutes ? "middle" : "end" }, label);
    }
  }

  #fit(samples, now) {
    const values = samples.filter((s) => now - s.time <= SPAN).flatMap((s) => this.lines.map(({ key }) => s[key])).filter(Number.isFinite);
    if (!values.length) return;
    const low = Math.min(...values), high = Math.max(...values);
    if (this.scale === "log") return this.#axis(10 ** Math.floor(Math.log10(Math.max(low, 1e-9))), 10 ** Math.ceil(Math.log10(Math.max(high, 1e-9)) + 1e-9));
    const step = (high - low || Math.abs(high) || 1) / 2;
    const unit = 10 ** Math.floor(Math.log10(step));
    this.#axis(Math.floor(low / unit) * unit, Math.ceil(high / unit) * unit + (low === high ? unit : 0));
  }

  // A missing stretch stays a gap: a straight line over it would claim values that nobody saw.
  draw(samples, hidden = new Set()) {
    const now = samples.at(-1)?.time ?? 0;
    if (this.scale !== "percent") this.#fit(samples, now);
    if (!this.range.length) return;
    for (const { key, path } of this.lines) {
      let d = "";
      let before = -Infinity;
      for (const sample of hidden.has(key) ? [] : samples) {
        const age = now - sample.time;
        if (age > SPAN || age < 0 || !Number.isFinite(sample[key])) continue;
        d += `${sample.time - before > GAP ? "M" : "L"}${this.#x(age).toFixed(1)} ${this.#y(sample[key]).toFixed(1)}`;
        before = sample.time;
      }
      path.setAttribute("d", d);
    }
  }
}

export class History {
  constructor() {
    this.samples = [];
  }

  static sample(state) {
    const { last_tick: now, learning } = state;
    return {
      time: Date.parse(state.position.time) / 1000, util: now.gpu_util_percent, mfu: 100 * now.mfu, wait: 100 * now.phases.data_wait,
      comm: 100 * (now.phases.collective_wait + now.phases.collective), loss: learning.loss ?? NaN, norm: learning.grad_norm ?? NaN,
    };
  }

  replace(view) {
    this.samples = view.time.map((time, i) => ({
      time, util: view.gpu_util_percent[i], mfu: 100 * view.mfu[i], wait: 100 * view.data_wait[i], comm: 100 * view.communication[i],
      loss: view.loss[i] ?? NaN, norm: view.grad_norm[i] ?? NaN,
    }));
  }

  add(sample) {
    if (this.samples.at(-1)?.time >= sample.time) return;
    this.samples.push(sample);
    while (this.samples.length && sample.time - this.samples[0].time > SPAN) this.samples.shift();
  }

  // A quarter of the minutes lies below this, so that an explosion under way does not become the measure of itself.
  usualNorm() {
    const norms = this.samples.map((sample) => sample.norm).filter(Number.isFinite).sort((a, b) => a - b);
    return norms[Math.floor(norms.length / 4)];
  }
}
