// Elements in few words. Text is always text: names, notes and answers of the lab are never read as HTML.

export function h(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), ...children);

export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const percent = (ratio, digits = 0) => `${(100 * ratio).toFixed(digits)} %`;

export function duration(seconds) {
  if (seconds === 0) return "0 s";
  if (seconds >= 10) return `${seconds.toFixed(0)} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 1e-3) return `${(1e3 * seconds).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  return `${(1e6 * seconds).toFixed(0)} µs`;
}

export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return whole >= 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${whole} s`;
}

export const words = (name) => name.replaceAll("_", " ");

let fields = 0;

// A form field and its label, tied together.
export function field(label, control, hint) {
  control.id ||= `field-${++fields}`;
  const note = hint ? h("p", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

export function options(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return select;
}

// Rows are kept between polls: a list built anew each second would take the focus from under the keyboard.
export function keep(list, entries, make) {
  list.rows ??= new Map();
  for (const [key, row] of list.rows) {
    if (entries.some((entry) => entry.key === key)) continue;
    row.node.remove();
    list.rows.delete(key);
  }
  entries.forEach((entry, index) => {
    if (!list.rows.has(entry.key)) list.rows.set(entry.key, make(entry));
    const row = list.rows.get(entry.key);
    row.update(entry);
    if (list.children[index] !== row.node) list.insertBefore(row.node, list.children[index] ?? null);
  });
  list.dataset.empty = String(entries.length === 0);
}
