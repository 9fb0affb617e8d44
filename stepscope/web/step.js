// A real step of the run, slowed down to be seen, beside the same step with nothing wrong.

import { call, why } from "./api.js";
import { duration, field, h, options, percent, put } from "./dom.js";
import { Lanes, rowsOf } from "./lanes.js";
import { live } from "./live.js";
import { Ring } from "./ring.js";
import { PHASES } from "./state.js";

const RANKS = "limit=64";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const see = {};
const film = { step: null, healthy: null, at: 0, span: 1, playing: false, seconds: 12, last: 0, frames: 0, counted: 0, shown: false, loading: false };

function build(root) {
  see.current = new Lanes(h("canvas", { role: "img", id: "lanes" }));
  see.well = new Lanes(h("canvas", { role: "img", "aria-label": "The same step with nothing wrong" }));
  see.ring = new Ring(h("canvas", { role: "img", "aria-label": "Chunks on the ring; the line below says what happens" }));
  see.play = h("button", { type: "button", id: "play", onclick: () => play(!film.playing) }, "Play");
  see.scrub = h("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": "Moment of the step", oninput: () => { play(false); seek((film.span * see.scrub.value) / 1000); } });
  see.speed = options(h("select", { onchange: () => (film.seconds = Number(see.speed.value)) }), [["6", "6 s"], ["12", "12 s"], ["25", "25 s"], ["60", "1 min"]], "12");
  see.follow = h("input", { type: "checkbox", checked: true });
  see.compare = h("input", { type: "checkbox", checked: true, onchange: () => { see.wellBox.hidden = !see.compare.checked; lay(); } });
  see.title = h("h3", { id: "lanes-title" }, "Now");
  see.wellTitle = h("h3", {}, "The same step with nothing wrong");
  see.wellBox = h("div", { class: "lanes" }, see.wellTitle, see.well.canvas);
  see.says = h("p", { class: "reading", id: "step-says" });
  see.ringSays = h("p", { class: "hint" });
  see.note = h("p", { role: "status", class: "answer" });
  see.table = h("tbody");
  see.files = [false, true].map((healthy) => h("a", { download: "", href: `/v1/step?format=trace&limit=1024${healthy ? "&healthy=true" : ""}` }, healthy ? "the healthy one" : "this step"));
  const small = (text, label, action) => h("button", { type: "button", class: "quiet", "aria-label": label, onclick: action }, text);
  const controls = h("div", { class: "row controls", role: "group", "aria-label": "Film of the step" },
    small("|◀", "To the beginning", () => { play(false); seek(0); }), small("◀", "To the event before", () => hop(-1)), see.play, small("▶|", "To the next event", () => hop(1)),
    field("A step takes", see.speed), h("label", { class: "check" }, see.follow, "newest step each time"), h("label", { class: "check" }, see.compare, "healthy beside it"));
  const legend = h("ul", { class: "legend", "aria-label": "Phases" }, Object.entries(PHASES).map(([name, label]) => {
    const swatch = h("i", { class: name.endsWith("_wait") ? "striped" : "" });
    swatch.style.setProperty("--phase", `var(--p-${name})`);
    return h("li", {}, swatch, label);
  }));
  root.append(
    h("section", { class: "panel", "aria-labelledby": "lanes-title" },
      h("h2", {}, "One step, slowed down"), see.note, controls, see.scrub, see.says,
      h("div", { class: "lanes" }, see.title, see.current.canvas), see.wellBox, legend,
      h("p", { class: "hint" }, h("kbd", {}, "Space"), " plays and pauses, ", h("kbd", {}, ","), " and ", h("kbd", {}, "."), " go from event to event, ", h("kbd", {}, "Home"), " goes to the beginning. As a trace, to open in ui.perfetto.dev or chrome://tracing: ", see.files[0], ", ", see.files[1], ".")),
    h("div", { class: "columns" },
      h("section", { class: "panel" }, h("h2", {}, "The ring"), h("div", { class: "ring" }, see.ring.canvas), see.ringSays,
        h("p", { class: "hint" }, "Each rank's disc fills with the sums that it holds. Squares are sums on their way, round ones are finished. Hops are drawn equally long; a transfer too short to be seen is slowed down more than the step.")),
      h("section", { class: "panel" }, h("h2", {}, "Who waits, and how long"),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of ranks" }, h("table", {}, h("thead", {}, h("tr", {}, ["", "computes", "waits for data", "waits for others", "at the barrier"].map((text) => h("th", { scope: "col" }, text)))), see.table)))));
}

async function load() {
  if (film.loading || !live.state) return;
  if (live.state.position.step === 0) {
    film.step = null;
    put(see.note, "No step has ended yet: a long step, or a job that has just begun.");
    return;
  }
  film.loading = true;
  try {
    const ask = (more) => call("GET", `/v1/step?${RANKS}${more}`);
    const [step, healthy] = await Promise.all([ask(""), ask("&healthy=true")]);
    film.step = step;
    // The run may have gone on between the two answers; the step with nothing wrong is then another one's, as good.
    film.healthy = healthy;
    put(see.note, "");
    lay();
  } catch (error) {
    put(see.note, why(error));
  } finally {
    film.loading = false;
  }
}

function lay() {
  const { step, healthy } = film;
  if (!step || !film.shown) return;
  film.span = Math.max(step.duration_seconds, see.compare.checked && healthy ? healthy.duration_seconds : 0);
  see.current.show(step, film.span);
  if (healthy) see.well.show(healthy, film.span);
  see.ring.resize();
  put(see.title, `Step ${step.step}: ${duration(step.duration_seconds)}`);
  if (healthy) put(see.wellTitle, `With nothing wrong: ${duration(healthy.duration_seconds)}`);
  const most = Math.max(...rowsOf(step).filter((row) => row.seconds).map((row) => row.seconds.collective_wait));
  const bubble = step.collectives?.bubble_seconds ?? 0;
  const slower = healthy ? step.duration_seconds / healthy.duration_seconds : 1;
  const tail = step.ranks_total > 1 ? ` Rank ${step.slowest_rank} is last at the barrier; whoever waits longest waits ${duration(most)}, at 100 % utilization${bubble > 0 ? `, ${duration(bubble)} of it for the pipeline` : ""}.` : "";
  see.current.canvas.setAttribute("aria-label", `Step ${step.step} of ${step.ranks_total} ranks, ${duration(step.duration_seconds)}.${tail} The table below has the numbers.`);
  see.summary = `${slower > 1.02 ? `The step takes ${percent(slower - 1)} longer than with nothing wrong.` : "The step is as long as with nothing wrong."}${tail}`;
  fillTable(step);
  draw();
}

// The film begins by itself, once there is a step, unless somebody asked for less motion.
async function begin() {
  await load();
  if (!film.shown || !film.step || !film.begin) return;
  film.begin = false;
  if (still.matches) seek(film.span);
  else play(true);
}

function fillTable(step) {
  const rows = rowsOf(step).filter((row) => row.seconds);
  see.table.replaceChildren(...rows.map((row) => h("tr", { class: row.slow ? "slow" : "" },
    h("th", { scope: "row" }, `${row.slow ? "▶ " : ""}${row.label}`),
    [row.seconds.forward + row.seconds.backward, row.seconds.data_wait, row.seconds.collective_wait].map((value) => h("td", {}, duration(value))),
    h("td", {}, row.slow ? "last" : `at ${duration(row.starts.collective_wait)}`))));
}

function now() {
  const { step, at } = film;
  const rows = rowsOf(step).filter((row) => row.seconds);
  const waiting = rows.filter((row) => !row.slow && at >= row.starts.collective_wait && at < row.starts.collective_wait + row.seconds.collective_wait).length;
  const doing = waiting && step.ranks_total <= 64 ? `${waiting} of ${rows.length} ranks wait for rank ${step.slowest_rank}. ` : "";
  return `${duration(at)} into the step. ${doing}${see.summary}`;
}

function draw() {
  if (!film.step || !film.shown) return;
  see.current.frame(film.at, { still: still.matches });
  if (see.compare.checked && film.healthy) see.well.frame(film.at, { still: still.matches });
  put(see.ringSays, see.ring.frame(film.step, film.at, film.playing ? { moment: film.last, pace: film.span / film.seconds } : null));
  put(see.says, now());
  see.scrub.value = String(Math.round((1000 * film.at) / film.span));
  see.scrub.setAttribute("aria-valuetext", duration(film.at));
}

function seek(at) {
  film.at = Math.min(film.span, Math.max(0, at));
  draw();
}

function events() {
  const { step } = film;
  const ends = rowsOf(step).filter((row) => row.seconds && (row.slow || row.rank === step.fastest.rank)).flatMap((row) => Object.keys(PHASES).filter((phase) => row.seconds[phase] > 0).map((phase) => row.starts[phase] + row.seconds[phase]));
  const sent = (step.collectives?.buckets ?? []).flatMap((bucket) => [bucket.start_seconds, bucket.end_seconds]);
  return [0, ...ends, ...sent, film.span].sort((a, b) => a - b);
}

function hop(way) {
  if (!film.step) return;
  play(false);
  const near = film.span * 1e-4;
  const found = way > 0 ? events().find((at) => at > film.at + near) : events().findLast((at) => at < film.at - near);
  seek(found ?? (way > 0 ? film.span : 0));
}

function play(on) {
  film.playing = on && film.step !== null;
  put(see.play, film.playing ? "Pause" : "Play");
  if (!film.playing) return;
  if (film.at >= film.span) film.at = 0;
  film.last = film.counted = performance.now();
  film.frames = 0;
  requestAnimationFrame(turn);
}

function turn(moment) {
  if (!film.playing || !film.shown) return;
  film.at += ((moment - film.last) / 1000 / film.seconds) * film.span;
  film.last = moment;
  film.frames += 1;
  if (moment - film.counted >= 1000) {
    see.current.canvas.dataset.fps = String(Math.round((1000 * film.frames) / (moment - film.counted)));
    film.frames = 0;
    film.counted = moment;
  }
  if (film.at >= film.span) {
    film.at = 0;
    if (see.follow.checked) load();
  }
  draw();
  requestAnimationFrame(turn);
}

function onKey(event) {
  if (!film.shown || /^(INPUT|SELECT|TEXTAREA|BUTTON|A|SUMMARY)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey) return;
  const does = { " ": () => play(!film.playing), ",": () => hop(-1), ".": () => hop(1), Home: () => { play(false); seek(0); } }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}

export const step = {
  id: "step",
  title: "The step",
  mount(root) {
    build(root);
    new ResizeObserver(() => { see.current.resize(); see.well.resize(); see.ring.resize(); draw(); }).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", lay);
    document.addEventListener("keydown", onKey);
    see.current.canvas.addEventListener("pointerdown", (event) => { play(false); seek(see.current.seconds(event.offsetX)); });
  },
  async enter() {
    film.shown = true;
    film.begin = true;
    await begin();
  },
  leave() {
    film.shown = false;
    play(false);
  },
  // While the film stands, it stands on what was looked at; a new run is another matter.
  update(state) {
    if (film.begin) begin();
    else if (!film.step || film.step.run !== live.state.run.run || (still.matches && see.follow.checked && !film.loading && state.position.tick % 5 === 0)) load();
  },
};
