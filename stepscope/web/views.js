// What the page shows, one module per view; the hash of the address says which. A view has `id`, `title`, `mount(root)`
// and, as it needs them, `enter()`, `leave()` and `update(state)`, which is called with each second while it is shown.

import { breakIt } from "./break.js";
import { cost } from "./cost.js";
import { exam } from "./exam.js";
import { find } from "./find.js";
import { step } from "./step.js";
import { trap } from "./trap.js";

export const VIEWS = [trap, step, breakIt, cost, find, exam];
