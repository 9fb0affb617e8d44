// What every view may look at: the newest state, the last minutes, the faults, and one way to do something about the lab.

import { call, why } from "./api.js";
import { History } from "./chart.js";
import { h } from "./dom.js";

export const live = { state: null, history: new History(), poll: () => {} };

// The faults of the run, asked for when the event log has grown or an intensity is on its way, and not each second.
const known = { run: "", event: -1, moving: false, faults: [] };
const OVER = ["cleared", "expired", "aborted"];

export async function liveFaults(state) {
  if (known.run !== state.run.run || known.event !== state.position.last_event || known.moving) {
    known.faults = (await call("GET", "/v1/faults")).faults.filter((fault) => !OVER.includes(fault.state));
    known.run = state.run.run;
    known.event = state.position.last_event;
    known.moving = known.faults.some((fault) => ["ramping", "recovering"].includes(fault.state));
  }
  return known.faults;
}

// A line that says what came of the last press.
export const answerLine = () => h("p", { role: "status", class: "answer" });

export async function act(button, line, [method, path, body], done) {
  button.disabled = true;
  try {
    const result = await call(method, path, body, { seconds: 20 });
    const step = result?.effective_from_step;
    line.className = "answer";
    line.textContent = step == null ? `${done}: done.` : `${done}: from step ${step} on.`;
    return result ?? true;
  } catch (error) {
    line.className = "answer bad";
    line.textContent = why(error);
    return null;
  } finally {
    button.disabled = false;
    live.poll();
  }
}
