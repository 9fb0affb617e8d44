// Efficiency against the number of GPUs, which doubles from mark to mark.

const SVG = "http://www.w3.org/2000/svg";
const BOX = { left: 58, right: 632, top: 12, bottom: 200 };

function add(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

export class CostCurve {
  constructor(figure) {
    this.figure = figure;
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", "0 0 640 232");
    this.svg.setAttribute("role", "img");
    figure.append(this.svg);
  }

  draw(rows) {
    const low = Math.log2(rows[0].gpus), high = Math.log2(rows.at(-1).gpus);
    const x = (gpus) => BOX.left + ((Math.log2(gpus) - low) / (high - low || 1)) * (BOX.right - BOX.left);
    const y = (share) => BOX.bottom - Math.min(1, share) * (BOX.bottom - BOX.top);
    const grid = document.createElementNS(SVG, "g");
    grid.setAttribute("class", "grid");
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      add(grid, "line", { x1: BOX.left, x2: BOX.right, y1: y(share), y2: y(share) });
      add(grid, "text", { x: BOX.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`);
    }
    rows.forEach(({ gpus }, index) => {
      if ((rows.length - 1 - index) % 3 === 0 || index === 0) add(grid, "text", { x: x(gpus), y: BOX.bottom + 20, "text-anchor": index ? (index === rows.length - 1 ? "end" : "middle") : "start" }, gpus.toLocaleString());
    });
    this.svg.replaceChildren(grid);
    const line = rows.map((row, index) => `${index ? "L" : "M"}${x(row.gpus).toFixed(1)} ${y(row.efficiency).toFixed(1)}`).join("");
    add(this.svg, "path", { class: "line mfu", fill: "none", d: line });
    for (const row of rows) add(this.svg, "circle", { class: "dot mfu", r: 4, cx: x(row.gpus), cy: y(row.efficiency) });
    const ends = [rows[0], rows.at(-1)].map((row) => `${(100 * row.efficiency).toFixed(1)} % at ${row.gpus.toLocaleString()} GPUs`);
    this.svg.setAttribute("aria-label", `Efficiency from ${ends.join(" to ")}`);
  }
}
