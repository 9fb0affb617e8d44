// The last tick as numbers, bars and one sentence.

import { percent, put as write } from "./dom.js";

export const PHASES = {
  data_wait: "data wait",
  h2d: "host to device",
  forward: "forward",
  backward: "backward",
  collective_wait: "collective wait",
  collective: "collective",
  optimizer: "optimizer",
  checkpoint: "checkpoint",
  stall: "stall",
};
const $ = (id) => document.getElementById(id);
const put = (id, text) => write($(id), text);
const short = (value) => (value === 0 || (value >= 0.001 && value < 1e5) ? value.toPrecision(4) : value.toExponential(2));
const parts = {};

export function buildPhases(bar, legend) {
  for (const [name, label] of Object.entries(PHASES)) {
    const piece = document.createElement("span");
    const item = document.createElement("li");
    const swatch = document.createElement("i");
    const share = document.createElement("b");
    piece.style.background = swatch.style.background = `var(--p-${name})`;
    item.append(swatch, label, share);
    bar.append(piece);
    legend.append(item);
    parts[name] = { piece, share };
  }
}

function showPhases(phases) {
  for (const [name, { piece, share }] of Object.entries(parts)) {
    const ratio = phases[name];
    piece.style.flexBasis = `${100 * ratio}%`;
    share.textContent = percent(ratio, 1);
  }
}

function number(id, value, finite = true) {
  $(id).classList.toggle("bad", !finite);
  put(id, finite ? short(value) : "not finite");
}

const EXPLODING = 10;
const exploding = ({ grad_norm: norm, grad_norm_finite: finite }, usual) => !finite || norm > EXPLODING * usual;

function reading({ last_tick: now, reference, learning }, usual) {
  const computing = now.phases.forward + now.phases.backward;
  const base = `The GPUs look ${now.gpu_util_percent.toFixed(0)} % busy and deliver ${percent(now.mfu)} of their peak; forward and backward are ${percent(computing)} of a step.`;
  if (exploding(learning, usual)) return `${base} None of this shows what is wrong: the gradient norm is ${learning.grad_norm_finite ? `${Math.round(learning.grad_norm / usual)} times what it was` : "not finite"}, and the loss goes with it.`;
  if (!reference || reference.mfu <= 0) return base;
  const ratio = now.mfu / reference.mfu;
  if (Math.abs(ratio - 1) < 0.03) return `${base} This is the job's healthy pace.`;
  return `${base} That is ${percent(ratio)} of the healthy pace, which utilization (healthy: ${reference.gpu_util_percent.toFixed(0)} %) hardly tells.`;
}

export function showState(state, usualNorm) {
  const { last_tick: now, learning, reference } = state;
  put("util", now.gpu_util_percent.toFixed(1));
  put("mfu", (100 * now.mfu).toFixed(1));
  put("step", `${now.step_seconds.toFixed(3)} s, mean over ranks`);
  put("chart-text", `the last five minutes on one axis; now ${now.gpu_util_percent.toFixed(0)} % and ${percent(now.mfu)}`);
  put("reading", reading(state, usualNorm));
  showPhases(now.phases);
  number("loss", learning.loss, learning.loss_finite);
  number("grad_norm", learning.grad_norm, learning.grad_norm_finite);
  $("grad_norm").classList.toggle("bad", exploding(learning, usualNorm));
  put("rate", Math.round(now.tokens_per_second).toLocaleString());
  put("rate-hint", reference?.tokens_per_second > 0 ? `${percent(now.tokens_per_second / reference.tokens_per_second)} of the healthy ${Math.round(reference.tokens_per_second).toLocaleString()}` : "healthy pace not measured");
  put("watts", now.power_watts.toFixed(0));
  put("tokens", Math.round(now.tokens_per_second_per_gpu).toLocaleString());
  for (const name of ["sm_active", "sm_occupancy", "tensor_active"]) put(name, percent(now[name]));
  put("temperature", `${now.temperature_celsius.toFixed(0)} °C`);
}
