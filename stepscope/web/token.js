// Asks for the lab's token once, in a dialog; it stays in this tab.

import { token } from "./api.js";
import { field, h } from "./dom.js";

let waiting = null;

export function askToken(reason) {
  waiting ??= open(reason).finally(() => (waiting = null));
  return waiting;
}

function open(reason) {
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", id: "token" });
  const form = h("form", { method: "dialog" },
    h("h2", { id: "token-title" }, "This lab asks for a token"),
    h("p", {}, `${reason.split(". ")[0]}.`.replace(/\.\.$/, ".")),
    field("Token (STEPSCOPE_TOKEN, or the one printed at start)", input, "Kept in this tab only."),
    h("p", { class: "row" }, h("button", { value: "use" }, "Use it"), h("button", { value: "cancel", class: "quiet", formnovalidate: true }, "Cancel")));
  const dialog = h("dialog", { "aria-labelledby": "token-title" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "use" && input.value.trim() !== "";
      if (given) token.set(input.value);
      dialog.remove();
      resolve(given);
    });
  });
}
