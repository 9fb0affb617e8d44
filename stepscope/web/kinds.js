// Every kind of fault as a card; the chosen one as a form that says what it would do before anybody presses.

import { call, why } from "./api.js";
import { field, h, words } from "./dom.js";
import { Forecast, paramFields, targetFields } from "./form.js";
import { act, answerLine } from "./live.js";

export function kindPanel() {
  const cards = h("div", { class: "cards", role: "group", "aria-label": "Kinds of fault" });
  const search = h("input", { type: "search", placeholder: "straggler, storage, NaN …", oninput: () => filter() });
  const form = h("form", { class: "chosen", hidden: true, novalidate: true });
  const answer = answerLine();
  const node = h("section", { class: "panel", "aria-labelledby": "kinds-title" }, h("h2", { id: "kinds-title" }, "Break it"), field("Find a kind", search), cards, form, answer);
  let forecast = null;
  let loaded = false;

  function filter() {
    const wanted = search.value.toLowerCase().trim();
    for (const card of cards.children) card.hidden = !card.textContent.toLowerCase().includes(wanted);
  }

  function choose(kind, card) {
    for (const other of cards.children) other.setAttribute("aria-pressed", String(other === card));
    forecast?.stop();
    const made = faultForm(kind, answer);
    forecast = made.forecast;
    form.replaceChildren(made.node);
    form.onsubmit = (event) => { event.preventDefault(); made.press(); };
    form.hidden = false;
    form.scrollIntoView({ block: "nearest" });
    forecast.ask();
  }

  return {
    node,
    async enter() {
      if (loaded) return;
      try {
        const { kinds } = await call("GET", "/v1/kinds");
        cards.replaceChildren(...kinds.map((kind) => {
          const needs = kind.needs.length ? h("span", { class: "tag" }, `needs ${kind.needs.join(", ")}`) : null;
          const card = h("button", { type: "button", class: "card", "aria-pressed": "false", "data-kind": kind.kind, onclick: () => choose(kind, card) }, h("b", {}, words(kind.kind)), h("span", {}, kind.summary), needs);
          return card;
        }));
        loaded = true;
        answer.textContent = "";
      } catch (error) {
        answer.textContent = why(error);
      }
    },
    leave: () => forecast?.stop(),
    update() { if (!loaded) this.enter(); },
  };
}

function faultForm(kind, answer) {
  const changed = () => forecast.ask();
  const name = h("input", { type: "text", value: kind.kind.replaceAll("_", "-"), maxlength: "64", required: true });
  const intensity = h("input", { type: "range", id: "intensity", min: "0.05", max: "1", step: "0.05", value: "1" });
  const shown = h("output", {}, "1.00");
  intensity.addEventListener("input", () => { shown.textContent = Number(intensity.value).toFixed(2); changed(); });
  const seconds = h("input", { type: "number", min: "1", max: "86400", value: "120", step: "any" });
  const open = h("input", { type: "checkbox", onchange: () => (seconds.disabled = open.checked) });
  const target = targetFields(kind.target_modes, kind.default_target, changed);
  const params = paramFields(kind.params, changed);
  const body = () => ({
    kind: kind.kind, params: params.read(), target: target.read(), intensity: Number(intensity.value),
    ...(open.checked ? { open_ended: true } : { duration_seconds: Number(seconds.value) }),
  });
  const path = () => `/v1/faults/${encodeURIComponent(name.value)}`;
  const forecast = new Forecast(() => ["PUT", `${path()}?dry_run=true`, body()]);
  const button = h("button", { type: "submit", class: "danger" }, "Break it");
  const node = h("div", {},
    h("h3", {}, words(kind.kind)), h("p", {}, kind.summary), h("p", { class: "hint" }, `What to watch: ${kind.look_at}`),
    h("div", { class: "fields" }, field("Name", name), h("div", { class: "field slider" }, h("div", { class: "head" }, h("label", { for: intensity.id }, "Intensity"), shown), intensity), field("Seconds", seconds), h("label", { class: "check" }, open, "until cleared")),
    target.node, params.node, forecast.node, button);
  return { node, forecast, press: () => act(button, answer, ["PUT", path(), body()], `${words(kind.kind)} as ${name.value}`) };
}
