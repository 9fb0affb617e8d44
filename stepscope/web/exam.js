// An exam: who takes part joins, answers and takes hints; whoever has the token starts it, ends it and reveals it.

import { ask, call, exam as hiding, token, why } from "./api.js";
import { clock, field, h, keep, options, panel, put, words } from "./dom.js";

const SECRET = "stepscope-exam";
const EVERY = 2000;
const see = {};
let view = null;
let me = null;
let timer = 0;
let busy = false;
let asked = 0;

const mine = {
  get: () => JSON.parse(sessionStorage.getItem(SECRET) ?? "null"),
  set: (value) => (value ? sessionStorage.setItem(SECRET, JSON.stringify(value)) : sessionStorage.removeItem(SECRET)),
};
const own = (method, path, body) => call(method, `/v1/exam/me${path}`, body, { bearer: mine.get().secret });

// One press: the button rests while the lab answers, and the line says what came of it.
async function press(button, line, work) {
  button.disabled = true;
  try {
    put(line, (await work()) ?? "");
    line.className = "answer";
  } catch (error) {
    line.textContent = why(error);
    line.className = "answer bad";
  } finally {
    button.disabled = false;
    refresh();
  }
}

// Nothing of the facilitator's goes without the token: it is asked for before the lab could refuse.
async function asFacilitator(work) {
  if (!token.get() && !(await ask.token("Exams are started, ended and revealed with it."))) return "Nothing was done: it needs the token.";
  return work();
}

const line = () => h("p", { role: "status", class: "answer" });
const form = (onsubmit, ...children) => h("form", { onsubmit: (event) => { event.preventDefault(); onsubmit(); } }, ...children);

function joinPanel() {
  const name = h("input", { maxlength: "40", required: true, autocomplete: "off", spellcheck: "false", id: "exam-name" });
  const button = h("button", {}, "Join");
  see.joined = line();
  see.join = form(
    () => press(button, see.joined, async () => {
      const { id, secret, name: shown } = await call("POST", "/v1/exam/participants", { name: name.value }, { bearer: "" });
      mine.set({ exam: view.exam, began: view.started_at, id, secret });
      return `You take part as ${shown}.`;
    }),
    field("Your name, for the scoreboard", name, "Everybody sees it. This tab remembers you; another one does not."), button);
  return h("div", {}, see.join, see.joined);
}

function answerPanel() {
  see.cause = h("select", { id: "exam-cause" });
  see.rank = h("input", { type: "number", min: "0", step: "1", id: "exam-rank" });
  see.remedy = h("select", { id: "exam-remedy" });
  const button = h("button", { id: "exam-submit" }, "Hand in");
  see.said = line();
  see.status = h("p", { class: "reading", id: "exam-mine" });
  see.hints = h("ol", { class: "hints" });
  see.hint = h("button", { type: "button", class: "quiet", id: "exam-hint", onclick: () => press(see.hint, see.said, async () => {
    await own("PUT", `/hints/${me.hints.length + 1}`);
    return "A hint, at its price.";
  }) });
  see.sheet = form(
    () => press(button, see.said, async () => {
      const rank = see.rank.value === "" ? null : Number(see.rank.value);
      me = await own("PUT", "/answer", { cause: see.cause.value, rank, remedy: see.remedy.value });
      return "Handed in. The last answer before the end counts, with its own time.";
    }),
    h("div", { class: "fields" }, field("What is wrong", see.cause), field("Which rank is to blame", see.rank, "Leave it empty where nobody is to be named."), field("What would put it right", see.remedy)), button);
  see.paper = h("div", {}, see.status, see.sheet, see.said, see.hint, see.hints);
  return see.paper;
}

function boardPanel() {
  see.rows = h("tbody", {});
  // `keep` remembers its rows in a property of that name, and a tbody has another one.
  Object.defineProperty(see.rows, "rows", { value: new Map() });
  see.truth = h("p", { class: "sentence", id: "exam-truth", role: "status" });
  const heads = ["", "name", "answered after", "hints", "points", "right"];
  return panel("Scoreboard", see.truth, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scoreboard" },
    h("table", { id: "exam-board" }, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), see.rows)));
}

function control() {
  const incident = h("select", { id: "exam-incident" });
  const preset = h("select", { id: "exam-preset" });
  const minutes = h("input", { type: "number", min: "1", max: "240", value: "20" });
  const cost = h("input", { type: "number", min: "0", max: "50", value: "10" });
  const causes = options(h("select", {}), [["1", "one cause"], ["2", "two causes"], ["0", "nothing (a healthy job)"]], "1");
  const onset = h("input", { type: "number", min: "8", max: "600", value: "60" });
  const said = line();
  const start = h("button", { id: "exam-start" }, "Start the exam");
  const act = (text, what, body, done, id) => {
    const button = h("button", { type: "button", class: "quiet", id, onclick: () => press(button, said, () => asFacilitator(async () => { await call("POST", `/v1/exam/${what}`, body); return done; })) }, text);
    return button;
  };
  see.lists = async () => {
    if (incident.options.length) return;
    const [scenarios, presets] = await Promise.all([call("GET", "/v1/scenarios"), call("GET", "/v1/presets")]);
    options(incident, [["", "drawn at random"], ...scenarios.scenarios.map(({ id, title }) => [id, title])], "");
    options(preset, presets.presets.map(({ preset: id, ranks }) => [id, `${id}, ${ranks} GPUs`]));
  };
  const begin = form(
    () => press(start, said, () => asFacilitator(async () => {
      const scenario = incident.value || null;
      const body = { duration_seconds: 60 * Number(minutes.value), hint_cost: Number(cost.value), causes: Number(causes.value), onset_within_seconds: Number(onset.value), preset: preset.value, scenario };
      await call("POST", "/v1/exam/start", body, { seconds: 30 });
      return "It runs. Faults, events, remedies and diagnosis need the token until you reveal it.";
    })),
    h("div", { class: "fields" }, field("Incident", incident), field("Job", preset, "For a drawn one; a scenario brings its own."), field("Minutes", minutes), field("Points that a hint costs", cost), field("Causes", causes), field("Sets in within seconds", onset)), start);
  see.answers = h("div", { id: "exam-answers" });
  const show = h("button", { type: "button", class: "quiet", id: "exam-show", onclick: () => press(show, said, () => asFacilitator(async () => { showAnswer(await call("GET", "/v1/exam/answer")); return ""; })) }, "Show me the answer and the points so far");
  const steps = h("div", { class: "row" }, act("Five minutes more", "extend", { seconds: 300 }, "Five minutes more.", "exam-extend"), act("Stop now", "stop", undefined, "Over. Nothing is shown yet.", "exam-stop"), act("Reveal", "reveal", undefined, "Everybody sees it.", "exam-reveal"), act("Forget this exam", "forget", undefined, "Forgotten.", "exam-forget"));
  see.facilitator = h("details", { class: "panel", id: "exam-facilitator", ontoggle: () => see.facilitator.open && see.lists().catch((error) => put(said, why(error))) },
    h("summary", {}, "For the facilitator (needs the token)"), begin, steps, show, see.answers, said,
    h("p", { class: "hint" }, "Do not show this part on the wall. A lab that is started again has forgotten the exam."));
  return see.facilitator;
}

const culprits = (ranks) => (ranks === null ? "nobody to be named" : `rank ${ranks.join(" or ")}`);
const spoken = ({ cause, ranks, remedies }) => `${words(cause)}, ${culprits(ranks)}; remedy: ${remedies.join(" or ")}`;

function showAnswer(found) {
  see.answers.replaceChildren(
    h("p", {}, h("b", {}, found.truth.map(spoken).join(" · "))),
    h("ol", {}, found.hints.map((text) => h("li", {}, text))),
    h("ol", {}, found.board.filter(({ answered }) => answered).map(({ name, points }) => h("li", {}, `${name}: ${points}`))));
}

function row({ key }) {
  const cells = Array.from({ length: 5 }, () => h("td", {}));
  const name = h("th", { scope: "row" });
  const node = h("tr", { "data-id": key }, cells[0], name, cells.slice(1));
  return {
    node,
    update({ entry, place }) {
      put(name, entry.name);
      const marks = entry.marks && Object.entries(entry.marks).filter(([, right]) => right).map(([what]) => what);
      const texts = [`${place}.`, entry.answered ? clock(entry.answered_after_seconds) : "not yet", String(entry.hints_taken), entry.points === null ? "hidden" : String(entry.points), marks ? marks.join(", ") || "nothing" : "–"];
      texts.forEach((text, index) => put(cells[index], text));
      node.classList.toggle("slow", key === mine.get()?.id);
    },
  };
}

const STATES = {
  idle: "No exam is running. The facilitator starts one.",
  running: "Something is wrong with this job, or nothing is. Find out what, who is to blame, and what would put it right.",
  ended: "Time is up. The facilitator reveals the answer.",
  revealed: "The exam is over.",
};

function show() {
  const mark = mine.get();
  if (mark && (mark.exam !== view.exam || mark.began !== view.started_at)) { mine.set(null); me = null; }
  put(see.says, STATES[view.state]);
  tick();
  see.clock.hidden = view.state !== "running";
  const part = mine.get() !== null;
  see.join.hidden = part || view.state !== "running";
  see.paper.hidden = !part || !me;
  see.sheet.hidden = view.state !== "running";
  see.hint.hidden = view.state !== "running" || !me || me.hints.length >= view.hints;
  if (see.cause.options.length !== view.causes.length) {
    options(see.cause, view.causes.map((name) => [name, words(name)]), "healthy");
    options(see.remedy, view.remedies.map((name) => [name, words(name)]), "none");
  }
  if (me) showMine();
  put(see.truth, view.truth ? `It was ${view.truth.map(spoken).join(" · ")}.` : "Points are shown when the exam is revealed.");
  keep(see.rows, view.board.map((entry, index) => ({ key: entry.id, entry, place: index + 1 })), row);
}

function showMine() {
  const { answer } = me;
  const said = answer ? `Your answer: ${words(answer.cause)}, ${answer.rank === null ? "nobody to be named" : `rank ${answer.rank}`}, ${words(answer.remedy)}, after ${clock(me.answered_after_seconds)}.${view.state === "running" ? ` ${me.answers_left} more would be taken.` : ""}` : view.state === "running" ? "You have not handed in an answer yet." : "You handed in no answer.";
  put(see.status, `${me.name}. ${said}${me.points === null ? "" : ` ${me.points} points.`}`);
  put(see.hint, `Take hint ${me.hints.length + 1} of ${view.hints} (costs ${view.hint_cost} points)`);
  if (see.hints.children.length !== me.hints.length) see.hints.replaceChildren(...me.hints.map((text) => h("li", {}, text)));
}

function tick() {
  if (!view) return;
  put(see.clock, `${clock(Math.max(0, (view.remaining_seconds ?? 0) - (Date.now() - asked) / 1000))} left`);
}

async function refresh() {
  if (busy) return;
  busy = true;
  try {
    view = await call("GET", "/v1/exam");
    asked = Date.now();
    hiding.tell(["running", "ended"].includes(view.state));
    const mark = mine.get();
    if (mark && mark.exam === view.exam && mark.began === view.started_at) {
      try {
        me = await own("GET", "");
      } catch (error) {
        if (error.status !== 401) throw error;
        mine.set(null);
        me = null;
      }
    }
    show();
  } catch (error) {
    put(see.says, why(error));
  } finally {
    busy = false;
  }
}

export const exam = {
  id: "exam",
  title: "Exam",
  mount(root) {
    see.says = h("p", { class: "sentence", role: "status", id: "exam-says" }, "Asking the lab…");
    see.clock = h("p", { class: "exam-clock", id: "exam-clock", role: "timer" });
    root.append(panel("Who finds it?", see.says, see.clock, joinPanel(), answerPanel()), boardPanel(), control());
    see.paper.hidden = see.join.hidden = true;
  },
  enter() {
    refresh();
    timer = setInterval(refresh, EVERY);
  },
  leave() {
    clearInterval(timer);
  },
  update: tick,
};
