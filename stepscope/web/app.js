// The shell: which view is shown, and the last tick once a second. It never pretends: when nothing new arrives, it says since when.

import { ask, call, exam, Refused } from "./api.js";
import { History } from "./chart.js";
import { h, put } from "./dom.js";
import { live } from "./live.js";
import { askToken } from "./token.js";
import { VIEWS } from "./views.js";

const PERIOD = 1000;
const STANDSTILL = 5000;
const $ = (id) => document.getElementById(id);
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

let lastAnswer = Date.now();
let lastMove = Date.now();
let lastTick = -1;
let run = "";
let polling = false;
let shown = null;

function link(state, text) {
  const node = $("link");
  if (node.dataset.state === state && node.textContent === text) return;
  node.dataset.state = state;
  node.textContent = text;
  $("main").classList.toggle("stale", state !== "live");
}

async function poll() {
  if (polling) return;
  polling = true;
  try {
    const state = await call("GET", "/v1/state?limit=1");
    const { tick, lag_seconds: lag } = state.position;
    if (state.run.run !== run || Date.now() - lastAnswer > 3 * PERIOD) {
      live.history.replace(await call("GET", "/v1/history"));
      run = state.run.run;
      lastTick = -1;
    }
    exam.tell(state.position.truth_hidden);
    lastAnswer = Date.now();
    if (tick !== lastTick) lastMove = lastAnswer;
    lastTick = tick;
    live.history.add(History.sample(state));
    put($("run"), `${state.run.run} · ${state.run.ranks} × ${state.run.gpu_model} · ${state.run.model}, ${state.run.precision}, ${state.run.strategy} · step ${state.position.step}`);
    live.state = state;
    shown?.update?.(state);
    if (state.position.failure) link("stopped", `the run stands still: ${state.position.failure}`);
    else if (lastAnswer - lastMove > STANDSTILL) link("stopped", `the run stands still since ${clock.format(lastMove)}`);
    else link("live", lag > 2 ? `live, ${lag.toFixed(0)} s behind` : "live");
  } catch (error) {
    const reason = error instanceof Refused ? error.message : "the lab does not answer";
    link("stale", `stale since ${clock.format(lastAnswer)}: ${reason}`);
  } finally {
    polling = false;
  }
}

function show() {
  const wanted = VIEWS.find((view) => `#${view.id}` === location.hash) ?? shown ?? VIEWS[0];
  if (wanted === shown) return;
  shown?.leave?.();
  shown = wanted;
  for (const view of VIEWS) {
    const own = view === shown;
    $(`view-${view.id}`).hidden = !own;
    const tab = document.querySelector(`#tabs a[href="#${view.id}"]`);
    if (own) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  document.title = `stepscope: ${shown.title}`;
  shown.enter?.();
  if (live.state) shown.update?.(live.state);
}

// Digits lead to the views, as long as nobody is typing.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.target.closest?.("dialog")) return;
  const view = VIEWS[Number(event.key) - 1];
  if (view) location.hash = view.id;
}

function start() {
  for (const [index, view] of VIEWS.entries()) {
    const section = $(`view-${view.id}`) ?? h("div", { id: `view-${view.id}`, class: "view" });
    section.hidden = true;
    if (!section.isConnected) $("main").append(section);
    $("tabs").append(h("li", {}, h("a", { href: `#${view.id}`, "aria-keyshortcuts": String(index + 1) }, view.title)));
    view.mount(section);
  }
  ask.token = askToken;
  live.poll = poll;
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => document.hidden || poll());
  show();
  poll();
  setInterval(poll, PERIOD);
}

start();
