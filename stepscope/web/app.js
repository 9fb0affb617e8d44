// Polls the last tick once a second and never pretends: when nothing new arrives, the page says since when.

import { call, curl, Refused, token } from "./api.js";
import { drawGrid, History } from "./chart.js";
import { showFaults } from "./faults.js";
import { SCENES } from "./film.js";
import { buildPhases, showState } from "./state.js";

const PERIOD = 1000;
const STANDSTILL = 5000;
const $ = (id) => document.getElementById(id);
const history = new History();
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

let lastAnswer = Date.now();
let lastMove = Date.now();
let lastTick = -1;
let lastEvent = -1;
let moving = false;
let run = "";
let polling = false;

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
    const { tick, time, lag_seconds: lag } = state.position;
    if (state.run.run !== run || Date.now() - lastAnswer > 3 * PERIOD) {
      history.replace(await call("GET", "/v1/history"));
      run = state.run.run;
      lastTick = lastEvent = -1;
    }
    lastAnswer = Date.now();
    if (tick !== lastTick) lastMove = lastAnswer;
    lastTick = tick;
    history.add({ time: Date.parse(time) / 1000, util: state.last_tick.gpu_util_percent, mfu: 100 * state.last_tick.mfu, norm: state.learning.grad_norm });
    showState(state, history.usualNorm());
    history.draw($("chart"));
    if (lastAnswer - lastMove > STANDSTILL) link("stopped", `the run stands still since ${clock.format(lastMove)}`);
    else link("live", lag > 2 ? `live, ${lag.toFixed(0)} s behind` : "live");
    if (lastEvent !== state.position.last_event || moving) {
      lastEvent = state.position.last_event;
      moving = showFaults($("faults"), (await call("GET", "/v1/faults")).faults, act);
    }
  } catch (error) {
    const reason = error instanceof Refused ? error.message : "the lab does not answer";
    link("stale", `stale since ${clock.format(lastAnswer)}: ${reason}`);
  } finally {
    polling = false;
  }
}

async function act(button, [method, path, body], done) {
  button.disabled = true;
  const answer = $("answer");
  try {
    const result = await call(method, path, body);
    const step = result?.effective_from_step;
    answer.className = "answer";
    answer.textContent = step == null ? `${done}: done.` : `${done}: from step ${step} on.`;
  } catch (error) {
    answer.className = "answer bad";
    answer.textContent = error instanceof Refused ? error.message : "The lab does not answer.";
    if (error.status === 401) {
      $("token-box").hidden = false;
      $("token-box").open = true;
    }
  } finally {
    button.disabled = false;
    poll();
  }
}

function buildFilm() {
  for (const scene of SCENES) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = scene.label;
    button.addEventListener("click", () => act(button, scene.call, scene.label));
    const hint = document.createElement("p");
    hint.textContent = scene.hint;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "the same with curl";
    const command = document.createElement("pre");
    command.textContent = curl(...scene.call);
    details.append(summary, command);
    item.append(button, hint, details);
    $("film").append(item);
  }
}

function start() {
  drawGrid($("chart"));
  buildPhases($("bar"), $("legend"));
  buildFilm();
  for (const [id, port] of [["prometheus", 9090], ["grafana", 3000]]) $(id).href = `http://${location.hostname}:${port}/`;
  $("token").value = token.get();
  $("token-form").addEventListener("submit", (event) => event.preventDefault());
  $("token").addEventListener("input", (event) => token.set(event.target.value));
  document.addEventListener("visibilitychange", () => document.hidden || poll());
  poll();
  setInterval(poll, PERIOD);
}

start();
