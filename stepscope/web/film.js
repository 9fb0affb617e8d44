// The course's film, scene by scene: each scene is one call that anybody can also make with curl.

const STORY = { open_ended: true };

export const SCENES = [
  {
    label: "1. Starve the input",
    call: ["PUT", "/v1/faults/film", { kind: "io_starvation", params: { mode: "tail" }, intensity: 1, ...STORY }],
    hint: "Each step another rank gets its batch late and all others wait for it. MFU falls, utilization hardly tells.",
  },
  {
    label: "2. Feed it again",
    call: ["DELETE", "/v1/faults/film"],
    hint: "Back to healthy within a few seconds.",
  },
  {
    label: "3. Explode the gradients",
    call: ["PUT", "/v1/faults/boom", { kind: "gradient_explosion", duration_seconds: 60 }],
    hint: "Gradient norm and loss leave; utilization, MFU and power do not move. No hardware dashboard shows this.",
  },
  {
    label: "Slow one GPU down",
    call: ["PUT", "/v1/faults/slow", { kind: "straggler", target: { mode: "ranks", value: [2] }, params: { slowdown: 1.5 }, ...STORY }],
    hint: "Everybody waits for rank 2, spinning at full utilization, and rank 2 waits least.",
  },
  {
    label: "Reset",
    call: ["POST", "/v1/reset"],
    hint: "Clears every fault and puts the model back to its last good checkpoint.",
  },
];
