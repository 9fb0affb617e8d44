// The course's film, scene by scene: each scene is one call that anybody can also make with curl.

const STORY = { open_ended: true };

export const SCENES = [
  {
    label: "1. Starve the input",
    call: ["PUT", "/v1/faults/film-io", { kind: "io_starvation", params: { mode: "tail" }, intensity: 1, ...STORY }],
    hint: "Each step another rank gets its batch late. Utilization stays above 90 %, MFU loses a third, power falls.",
  },
  {
    label: "2. Feed it again",
    call: ["DELETE", "/v1/faults/film-io"],
    hint: "Back to healthy within a few seconds.",
  },
  {
    label: "3. Explode the gradients",
    call: ["PUT", "/v1/faults/film-gradients", { kind: "gradient_explosion", duration_seconds: 60 }],
    hint: "Gradient norm and loss run away; utilization, MFU and power do not move. No hardware dashboard shows this.",
  },
  {
    label: "Slow one GPU down",
    call: ["PUT", "/v1/faults/film-straggler", { kind: "straggler", target: { mode: "ranks", value: [2] }, params: { slowdown: 1.5 }, ...STORY }],
    hint: "All four stay at 98 % and more; everybody waits for rank 2, and rank 2 waits least.",
  },
  {
    label: "Reset",
    call: ["POST", "/v1/reset"],
    hint: "Clears every fault and puts the model back to its last good checkpoint.",
  },
];
