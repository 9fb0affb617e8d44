// Utilization and MFU on one axis from 0 to 100 %, the last five minutes.

const SVG = "http://www.w3.org/2000/svg";
const SPAN = 300;
const GAP = 3.5;
const BOX = { left: 44, right: 632, top: 10, bottom: 182 };

const x = (age) => BOX.right - (age / SPAN) * (BOX.right - BOX.left);
const y = (percent) => BOX.bottom - (Math.min(100, Math.max(0, percent)) / 100) * (BOX.bottom - BOX.top);

function add(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
}

export function drawGrid(svg) {
  const grid = svg.querySelector(".grid");
  for (const percent of [0, 25, 50, 75, 100]) {
    add(grid, "line", { x1: BOX.left, x2: BOX.right, y1: y(percent), y2: y(percent) });
    add(grid, "text", { x: BOX.left - 6, y: y(percent) + 4, "text-anchor": "end" }, `${percent} %`);
  }
  for (const minutes of [5, 4, 3, 2, 1, 0]) {
    const label = minutes ? `−${minutes} min` : "now";
    add(grid, "text", { x: x(minutes * 60), y: BOX.bottom + 18, "text-anchor": minutes === 5 ? "start" : minutes ? "middle" : "end" }, label);
  }
}

// A missing stretch stays a gap: a straight line over it would claim values that nobody saw.
export function path(samples, key, now) {
  let d = "";
  let before = -Infinity;
  for (const sample of samples) {
    const age = now - sample.time;
    if (age > SPAN || age < 0) continue;
    d += `${sample.time - before > GAP ? "M" : "L"}${x(age).toFixed(1)} ${y(sample[key]).toFixed(1)}`;
    before = sample.time;
  }
  return d;
}

export class History {
  constructor() {
    this.samples = [];
  }

  replace(view) {
    this.samples = view.time.map((time, i) => ({ time, util: view.gpu_util_percent[i], mfu: 100 * view.mfu[i], norm: view.grad_norm[i] }));
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

  draw(svg) {
    const now = this.samples.at(-1)?.time ?? 0;
    for (const key of ["util", "mfu"]) svg.querySelector(`.line.${key}`).setAttribute("d", path(this.samples, key, now));
  }
}
