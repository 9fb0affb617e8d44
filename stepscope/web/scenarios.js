// Scripted incidents: play one, read its question, and open its hints one by one.

import { call, why } from "./api.js";
import { clock, field, h, options, put } from "./dom.js";
import { act, answerLine } from "./live.js";

export function scenarioPanel() {
  const select = h("select", { id: "scenario", onchange: () => choose() });
  const speed = options(h("select"), [["1", "as written"], ["2", "twice as fast"], ["5", "5 times"], ["10", "10 times"]], "1");
  const about = h("div", { class: "chosen" });
  const answer = answerLine();
  const playing = h("div", { hidden: true });
  const bar = h("progress", { max: "1", value: "0", "aria-label": "How far the scenario has come" });
  const where = h("p", { class: "hint" });
  const question = h("p", {});
  const play = h("button", { type: "button", onclick: () => act(play, answer, ["POST", "/v1/playbacks", { scenario: select.value, speed: Number(speed.value) }], "Playing") }, "Play it");
  const stop = h("button", { type: "button", class: "quiet", onclick: () => act(stop, answer, ["DELETE", `/v1/playbacks/${encodeURIComponent(now.id)}`], "Stop") }, "Stop it");
  const node = h("section", { class: "panel", "aria-labelledby": "scenario-title" }, h("h2", { id: "scenario-title" }, "Play a scenario"),
    h("div", { class: "fields" }, field("Scenario", select), field("Its timeline", speed, "The job's own clock never changes.")), about, play, answer, playing);
  playing.append(h("h3", {}, "Playing"), question, bar, where, stop);
  let known = [];
  let now = null;

  function choose() {
    const scenario = known.find(({ id }) => id === select.value);
    if (!scenario) return about.replaceChildren();
    const solution = h("p", { role: "status" });
    const reveal = h("button", { type: "button", class: "quiet", onclick: () => show(scenario.id, solution) }, "Show the answer (needs the token)");
    about.replaceChildren(
      h("p", {}, h("b", {}, scenario.question)), h("p", { class: "hint" }, `On ${scenario.preset}, ${clock(scenario.duration_seconds)}. It takes the place of the run.`),
      ...scenario.hints.map((hint, index) => h("details", {}, h("summary", {}, `Hint ${index + 1}`), h("p", {}, hint))), reveal, solution);
  }

  async function show(id, line) {
    try {
      const { answers } = await call("GET", `/v1/scenarios/${id}/answer`);
      line.textContent = answers.map(({ cause, rank, remedy }) => `${cause}${rank === null ? "" : ` on rank ${rank}`}; remedy: ${remedy}`).join(" · ");
    } catch (error) {
      line.textContent = why(error);
    }
  }

  async function update() {
    try {
      if (!known.length) {
        known = (await call("GET", "/v1/scenarios")).scenarios;
        options(select, known.map(({ id, title }) => [id, title]));
        choose();
      }
      const { playbacks } = await call("GET", "/v1/playbacks");
      now = playbacks.findLast(({ state }) => state === "playing") ?? null;
      playing.hidden = !now;
      if (!now) return;
      put(question, `${now.title}: ${now.question}`);
      bar.value = Math.min(1, now.elapsed_seconds / now.duration_seconds);
      put(where, `${clock(now.elapsed_seconds)} of ${clock(now.duration_seconds)}`);
    } catch (error) {
      answer.textContent = why(error);
    }
  }

  return { node, enter: update, update };
}
