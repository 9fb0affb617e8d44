// What an engineer would do about it. Whether it was the right thing, the job's own numbers show.

import { call, why } from "./api.js";
import { clock, field, h, options } from "./dom.js";
import { Forecast, control, targetFields } from "./form.js";
import { act, answerLine } from "./live.js";

export function remedyPanel() {
  const select = h("select", { id: "remedy", onchange: () => choose() });
  const form = h("form", { class: "chosen", novalidate: true });
  const answer = answerLine();
  const applied = h("ol", { class: "events" });
  const node = h("section", { class: "panel", "aria-labelledby": "remedy-title" }, h("h2", { id: "remedy-title" }, "Fix it"), field("Remedy", select), form, answer, h("h3", {}, "What was done"), applied);
  let known = [];
  let forecast = null;
  let seen = -1;

  function choose() {
    const remedy = known.find((one) => one.remedy === select.value);
    forecast?.stop();
    if (!remedy) return form.replaceChildren();
    const changed = () => forecast.ask();
    const value = remedy.value ? control(remedy.value, changed) : null;
    const named = remedy.target_modes.filter((mode) => mode !== "all");
    const target = named.length ? targetFields(remedy.target_modes, null, changed) : null;
    const body = () => {
      const wanted = target?.read();
      return { remedy: remedy.remedy, ...(value ? { value: value.get() } : {}), ...(wanted && wanted.mode !== "all" ? { target: wanted } : {}) };
    };
    forecast = new Forecast(() => ["POST", "/v1/remedies?dry_run=true", body()]);
    const button = h("button", { type: "submit" }, "Apply");
    form.replaceChildren(
      h("p", {}, remedy.summary), remedy.restarts ? h("p", { class: "hint" }, "The job is started again for it, from its last good checkpoint.") : "",
      value ? field(`Value${remedy.value["x-unit"] ? ` (${remedy.value["x-unit"]})` : ""}`, value.input, remedy.value.description) : "", target?.node ?? "", forecast.node, button);
    form.onsubmit = async (event) => {
      event.preventDefault();
      await act(button, answer, ["POST", "/v1/remedies", body()], remedy.remedy);
    };
    forecast.ask();
  }

  async function load() {
    try {
      const found = await call("GET", "/v1/remedies");
      if (known.length !== found.remedies.length) {
        known = found.remedies;
        options(select, [["", "choose one"], ...known.map(({ remedy }) => [remedy, remedy])], select.value);
      }
      applied.replaceChildren(...found.applied.toReversed().map((one) => h("li", {}, said(one))));
      applied.dataset.empty = String(found.applied.length === 0);
    } catch (error) {
      answer.textContent = why(error);
    }
  }

  return {
    node,
    leave: () => forecast?.stop(),
    update(state) {
      if (seen === state.position.last_event && known.length) return;
      seen = state.position.last_event;
      load();
    },
  };
}

function said({ remedy, value, target, applied_at_seconds: at, restart_seconds: down }) {
  const whom = target ? ` on ${target.mode} ${[].concat(target.value ?? []).join(", ")}` : "";
  return `${remedy}${value === null ? "" : ` = ${value}`}${whom}, ${clock(at)} into the run${down ? `; job down for ${clock(down)}` : ""}`;
}
