// The faults that are live, each with its own way out.

const rows = new Map();

function row(name, act) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Clear";
  button.setAttribute("aria-label", `Clear ${name}`);
  button.addEventListener("click", () => act(button, ["DELETE", `/v1/faults/${encodeURIComponent(name)}`], `Clear ${name}`));
  item.append(text, button);
  return { item, text };
}

function words(fault) {
  const ranks = fault.resolved_targets;
  const shown = ranks.slice(0, 8).join(", ") + (ranks.length > 8 ? ` and ${ranks.length - 8} more` : "");
  return `${fault.name}: ${fault.kind} on rank${ranks.length === 1 ? "" : "s"} ${shown}, ${fault.state}, intensity ${fault.effective_intensity.toFixed(2)}`;
}

// Says whether an intensity is on its way. Rows are kept between polls: a list built anew each second would take the focus from under the keyboard.
export function showFaults(list, faults, act) {
  const live = faults.filter((fault) => !["cleared", "expired", "aborted"].includes(fault.state));
  for (const [name, { item }] of rows) {
    if (live.some((fault) => fault.name === name)) continue;
    item.remove();
    rows.delete(name);
  }
  for (const fault of live) {
    if (!rows.has(fault.name)) rows.set(fault.name, row(fault.name, act));
    const { item, text } = rows.get(fault.name);
    if (text.textContent !== words(fault)) text.textContent = words(fault);
    if (!item.isConnected) list.append(item);
  }
  list.dataset.empty = String(live.length === 0);
  return live.some((fault) => ["ramping", "recovering"].includes(fault.state));
}
