// One step as lanes: a row per rank with its phases to scale, and the communication stream below.
// The picture is drawn once per step; a frame only lays it under the play head, so that many ranks cost no more than few.

import { duration } from "./dom.js";
import { PHASES } from "./state.js";

const RIGHT = 10, TOP = 24, AXIS = 22, STREAM = 24;
const SHORT = { data_wait: "data", h2d: "copy", forward: "forward", backward: "backward", collective_wait: "waits", collective: "all-reduce", optimizer: "optimizer", checkpoint: "checkpoint", stall: "stall" };

// Rows of a step: every rank, or of more than can be looked at the slowest, the fastest and where nine of ten are.
export function rowsOf(step) {
  if (step.ranks_total <= 64) return step.ranks.map((rank) => ({ ...rank, label: `rank ${rank.rank}`, slow: rank.rank === step.slowest_rank }));
  return [
    { ...step.slowest, label: `slowest: ${step.slowest.rank}`, slow: true },
    { ...step.fastest, label: `fastest: ${step.fastest.rank}` },
    { label: "90 % of ranks", band: step.band },
  ];
}

const rowHeight = (count) => (count <= 4 ? 30 : count <= 8 ? 24 : count <= 16 ? 18 : count <= 32 ? 14 : 11);

export class Lanes {
  constructor(canvas) {
    this.canvas = canvas;
    this.picture = document.createElement("canvas");
    this.step = null;
    this.left = 96;
  }

  // `span` is the time that the width stands for: the same for the two steps that are compared.
  show(step, span) {
    this.step = step;
    this.span = span;
    this.rows = rowsOf(step);
    this.left = step.ranks_total > 64 ? 132 : 96;
    this.row = rowHeight(this.rows.length);
    this.resize();
  }

  resize() {
    if (!this.step) return;
    const width = this.canvas.parentElement.clientWidth;
    if (!width) return;
    const scale = devicePixelRatio || 1;
    this.below = TOP + this.rows.length * this.row + 8;
    const height = this.below + (this.step.collectives?.count ? STREAM + 14 : 0) + AXIS;
    this.width = width;
    this.height = height;
    for (const canvas of [this.canvas, this.picture]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    }
    this.canvas.style.height = `${height}px`;
    this.#paint(this.picture.getContext("2d"));
  }

  x(seconds) {
    return this.left + (seconds / this.span) * (this.width - this.left - RIGHT);
  }

  seconds(x) {
    return Math.min(this.span, Math.max(0, ((x - this.left) / (this.width - this.left - RIGHT)) * this.span));
  }

  frame(at, { still = false } = {}) {
    if (!this.step || !this.width) return;
    const pen = this.canvas.getContext("2d");
    const edge = this.x(Math.min(at, this.step.duration_seconds));
    pen.clearRect(0, 0, this.width, this.height);
    pen.globalAlpha = 0.4;
    pen.drawImage(this.picture, 0, 0, this.width, this.height);
    pen.globalAlpha = 1;
    pen.save();
    pen.beginPath();
    // At the end all is drawn in full, what is written beside the last phase included.
    pen.rect(0, 0, at < this.step.duration_seconds ? edge : this.width, this.height);
    pen.clip();
    pen.clearRect(this.left, 0, this.width, this.height);
    pen.drawImage(this.picture, 0, 0, this.width, this.height);
    pen.restore();
    this.#labels(pen, at);
    if (!still) this.#leaving(pen, at);
    pen.strokeStyle = this.colors.text;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(edge, TOP - 6);
    pen.lineTo(edge, this.height - AXIS);
    pen.stroke();
  }

  #paint(pen) {
    const style = getComputedStyle(this.canvas);
    const color = (name) => style.getPropertyValue(name).trim();
    this.colors = { text: color("--text"), soft: color("--soft"), panel: color("--panel"), grid: color("--grid"), bad: color("--bad") };
    for (const phase of Object.keys(PHASES)) this.colors[phase] = color(`--p-${phase}`);
    pen.clearRect(0, 0, this.width, this.height);
    this.#axis(pen);
    this.rows.forEach((row, index) => (row.band ? this.#band(pen, row.band, index) : this.#rank(pen, row, index)));
    this.#barrier(pen);
    if (this.step.collectives?.count) this.#stream(pen);
  }

  #axis(pen) {
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "alphabetic";
    const about = this.span / Math.max(2, Math.floor(this.width / 110));
    const unit = 10 ** Math.floor(Math.log10(about));
    const mark = unit * [1, 2, 5, 10].find((factor) => factor * unit >= about);
    for (let at = 0; at <= this.span * 1.0001; at += mark) {
      pen.fillStyle = this.colors.grid;
      pen.fillRect(this.x(at), TOP, 1, this.height - AXIS - TOP);
      pen.fillStyle = this.colors.soft;
      pen.textAlign = at ? (this.x(at) > this.width - 40 ? "right" : "center") : "left";
      pen.fillText(at > 1e-12 ? duration(at) : "0", this.x(at), this.height - 7);
    }
  }

  #rank(pen, row, index) {
    const y = TOP + index * this.row, height = this.row - 2;
    for (const phase of Object.keys(PHASES)) {
      const from = this.x(row.starts[phase]), width = this.x(row.starts[phase] + row.seconds[phase]) - from;
      if (width < 0.3) continue;
      const waiting = phase === "collective_wait" || phase === "data_wait";
      pen.fillStyle = this.colors[phase];
      if (waiting) this.#hatch(pen, from, y, width, height, this.colors[phase]);
      else pen.fillRect(from, y, Math.max(1, width - 0.5), height);
      const text = waiting ? `${SHORT[phase]} ${duration(row.seconds[phase])}` : SHORT[phase];
      // Of many rows only some say what is what; how long somebody waits, each says.
      if (waiting || this.row >= 18 || index === 0 || row.slow) this.#text(pen, text, from, y, width, height, waiting);
    }
    if (row.slow && row.starts.collective_wait > 0) {
      pen.strokeStyle = this.colors.text;
      pen.lineWidth = 2;
      pen.strokeRect(this.x(0) - 1, y - 1, this.x(row.starts.collective_wait) - this.x(0) + 1, height + 2);
    }
  }

  // Waiting is striped, not only coloured.
  #hatch(pen, x, y, width, height, color) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.globalAlpha = 0.22;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = color;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (let at = x - height; at < x + width; at += 6) {
      pen.moveTo(at, y + height);
      pen.lineTo(at + height, y);
    }
    pen.stroke();
    pen.restore();
  }

  #text(pen, text, x, y, width, height, waiting) {
    if (height < 11) return;
    pen.font = `${waiting ? "600 " : ""}${Math.min(12, height - 2)}px system-ui, sans-serif`;
    const wide = pen.measureText(text).width;
    if (wide + 8 > width) return;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    if (waiting) {
      pen.fillStyle = this.colors.panel;
      pen.fillRect(x + 3, y + 1, wide + 6, height - 2);
      pen.fillStyle = this.colors.text;
    } else {
      pen.fillStyle = this.colors.panel;
      pen.globalAlpha = 0.86;
      pen.fillRect(x + 3, y + height / 2 - 7, wide + 6, 14);
      pen.globalAlpha = 1;
      pen.fillStyle = this.colors.text;
    }
    pen.fillText(text, x + 6, y + height / 2 + 0.5);
    pen.textBaseline = "alphabetic";
  }

  // Where a phase of nine of ten ranks has surely begun it is drawn full, where it may have, faint.
  #band(pen, band, index) {
    const y = TOP + index * this.row, height = this.row - 2;
    let early = 0, late = 0;
    for (const phase of Object.keys(PHASES)) {
      pen.fillStyle = this.colors[phase];
      pen.globalAlpha = 0.35;
      pen.fillRect(this.x(early), y, Math.max(0, this.x(band.late[phase]) - this.x(early)), height);
      pen.globalAlpha = 1;
      const width = Math.max(0, this.x(band.early[phase]) - this.x(late));
      if (phase.endsWith("_wait")) this.#hatch(pen, this.x(late), y, width, height, this.colors[phase]);
      else pen.fillRect(this.x(late), y, width, height);
      [early, late] = [band.early[phase], band.late[phase]];
    }
  }

  #barrier(pen) {
    const { collectives, slowest_rank: slowest, ranks_total: ranks } = this.step;
    if (!collectives?.count || ranks < 2) return;
    const x = this.x(collectives.barrier_seconds);
    pen.strokeStyle = this.colors.text;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 3]);
    pen.beginPath();
    pen.moveTo(x, TOP - 4);
    pen.lineTo(x, this.below - 4);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = this.colors.text;
    pen.font = "600 12px system-ui, sans-serif";
    const text = `barrier: rank ${slowest} is last`;
    pen.textAlign = x + pen.measureText(text).width / 2 > this.width ? "right" : x - pen.measureText(text).width / 2 < this.left ? "left" : "center";
    pen.fillText(text, pen.textAlign === "right" ? this.width - 2 : x, TOP - 10);
  }

  #stream(pen) {
    const y = this.below + 8;
    this.step.collectives.buckets.forEach((bucket, index) => {
      const from = this.x(bucket.start_seconds), width = this.x(bucket.end_seconds) - from;
      pen.fillStyle = this.colors.collective;
      pen.globalAlpha = this.step.collectives.mode === "beside" ? 0.45 : index % 2 ? 0.65 : 1;
      pen.fillRect(from, y, Math.max(1, width - 0.75), STREAM - 4);
      pen.globalAlpha = 1;
      pen.fillStyle = this.colors.soft;
      pen.beginPath();
      const ready = this.x(bucket.ready_seconds);
      pen.moveTo(ready, y - 1);
      pen.lineTo(ready - 2.5, y - 6);
      pen.lineTo(ready + 2.5, y - 6);
      pen.fill();
    });
  }

  #labels(pen, at) {
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    this.rows.forEach((row, index) => {
      const y = TOP + index * this.row + this.row / 2 - 1;
      const waits = !row.band && at >= row.starts.collective_wait && at < row.starts.collective_wait + row.seconds.collective_wait && !row.slow;
      pen.font = `${row.slow ? "700 " : ""}${Math.min(12, this.row - 1)}px system-ui, sans-serif`;
      pen.fillStyle = row.slow ? this.colors.text : this.colors.soft;
      pen.fillText(`${row.slow ? "▶ " : waits ? "‖ " : ""}${row.label}`, this.left - 6, y);
    });
    if (this.step.collectives?.count) {
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = this.colors.soft;
      pen.fillText("comm stream", this.left - 6, this.below + 8 + (STREAM - 4) / 2);
    }
    pen.textBaseline = "alphabetic";
  }

  // A bucket falls from the rows to the stream while it becomes ready.
  #leaving(pen, at) {
    const { buckets = [], mode } = this.step.collectives ?? {};
    if (mode !== "overlapped") return;
    const fall = this.span / 30;
    pen.fillStyle = this.colors.collective;
    for (const bucket of buckets) {
      const share = (at - bucket.ready_seconds) / fall;
      if (share < 0 || share > 1) continue;
      pen.fillRect(this.x(bucket.ready_seconds) - 4, TOP + (this.below - TOP) * share ** 2, 8, 8);
    }
  }
}
