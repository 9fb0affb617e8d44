"""Where healthy ends: the one owner of every threshold that boards, alerts and verdicts share.

Ratios are 0-1, percentages say so in their name. Each constant states why it has its value; a board that colours a
panel and a rule that fires read it here, so that they cannot disagree.
"""

from __future__ import annotations

MFU_HEALTHY = 0.40
"""Model FLOPs utilization that a healthy dense run in BF16 reaches on H100s (published runs: 0.38-0.47)."""

MFU_LOW = 0.30
"""Below this a dense run wastes a quarter or more of what a healthy one gets from the same GPUs."""

UTIL_HIGH_PERCENT = 90.0
"""GPU utilization that dashboards read as busy: from here on, a low MFU is the trap and not an idle cluster."""

SM_ACTIVE_HEALTHY = 0.80
"""Share of SM cycles with a warp resident while kernels compute; one that spins in a collective holds 0.12-0.18."""

SM_ACTIVE_SPINNING = 0.30
"""Below this with high utilization, kernels are resident but few SMs run them: waiting, not computing."""

SM_OCCUPANCY_HEALTHY = 0.15
"""Resident warps of what the SMs can hold. Matrix kernels are healthy at 0.15-0.25; spinning holds 0.04-0.06."""

TENSOR_ACTIVE_HEALTHY = 0.40
"""Share of cycles with the tensor pipe busy: close to MFU divided by the clock ratio when nothing waits."""

TENSOR_ACTIVE_LOW = 0.30
"""The hardware side of MFU_LOW: below this, tensor cores idle most of the step."""

DATA_WAIT_HIGH = 0.05
"""Share of wall clock spent waiting for a batch. A prefetching loader that keeps up has next to none."""

COLLECTIVE_HIGH = 0.25
"""Share of wall clock in exposed communication, waiting for peers included, above which the job is bound by it."""

GRAD_NORM_SPIKE_FACTOR = 10.0
"""Multiple of the running median above which a gradient norm counts as a spike, harmless spikes (1.5-7 x) excepted."""

SKIPPED_HIGH = 0.1
"""Share of a minute's steps that the optimizer skips for an overflow in fp16. A healthy loss scale overflows once in a
thousand or two, when it tries to grow."""

SCRAPE_INTERVAL_SECONDS = 5
"""Interval of the shipped scrape configuration; datasource `timeInterval` and alert delays follow from it."""

MFU_OF_BEST_LOW = 0.85
"""Below this share of its own best of the last 15 minutes, a job has lost speed: a healthy one stays above 0.97."""

WORK_EXCESS_HIGH = 0.05
"""Work of a rank per step beyond the median of its peers. Twice what separates the worst healthy chip from it: a
population of GPUs has about 5 % between its best and its worst."""

WORK_SPREAD_HEALTHY = 0.025
"""Spread of work among the fastest quarter of the ranks, as a ratio, that identical chips explain..."""

WORK_SPREAD_FACTOR = 4.0
"""...and how many times what goes beyond it a rank must exceed its peers by, to be named. Batches of unequal work make
all ranks differ, in a minute of few steps by more than WORK_EXCESS_HIGH; nobody stands out then."""

INPUT_BOUND = 0.25
"""Share of wall clock lost to late batches above which a job is bound by its input, whatever it is used to. Below, a
rise of DATA_WAIT_HIGH over the job's own least counts."""

COMMUNICATION_RISE = 0.03
"""Rise of exposed communication over the job's own least, as a share of wall clock, that something has caused: what
overlaps with computing varies by a few tenths of a percent. COLLECTIVE_HIGH counts without a rise."""

STOPPED_HIGH = 0.05
"""Share of a minute in checkpoints and stalls (3 s) that explains a low MFU by itself..."""

STOPPED_SECONDS_HIGH = 30.0
"""...unless they came to this much within five minutes: then they are the trouble, not an interruption."""

NO_PROGRESS_SECONDS = 20.0
"""Time without a step that no healthy job of short steps shows, checkpoints included..."""

NO_PROGRESS_STEPS = 4.0
"""...to which this many mean steps are added: the longest stalls in logs of large jobs are 3.4 steps long."""

THROTTLED_HIGH = 0.01
"""Share of time with clocks held down by temperature; a board in good air has none."""

PAUSE_FRAMES_PER_SECOND_HIGH = 10.0
"""Pause frames that a node receives. A lossless fabric with headroom has none; single ones are no storm."""

RETRANSMITS_PER_SECOND_HIGH = 1.0
"""Packets that a node sends again. On a lossless fabric each one is a loss that should not have happened."""

UTIL_LOW_PERCENT = 70.0
"""GPU utilization that a traditional alert calls low: the strictest in use, 10 to 30 are more common."""

TEMPERATURE_HIGH_CELSIUS = 90.0
"""GPU temperature that a traditional alert calls high: just above the hardware slowdown of A100 and H100 (89 °C, as
nvidia-smi -q -d TEMPERATURE prints it). Sites use 80 to 90."""

GPU_HOT_CELSIUS = 87.0
"""Above this an H100 holds its own clocks down (its hardware slowdown temperature, nvidia-smi -q -d TEMPERATURE)."""

COMPLETE = 1.0
"""Share of targets, sources or GPUs that answer when none is missing."""

MEMORY_FULL = 0.95
"""Share of device memory in use that a traditional alert calls nearly full."""

DIAGNOSIS_WINDOW_SECONDS = 60.0
"""What a verdict judges: four scrapes at 15 s, several steps of any job that is not a giant."""

LEAST_SCRAPES = 2
"""Two scrapes make one rate; with fewer nothing is named."""

LEAST_STEPS = 3
"""Steps that must have ended before their mean says anything."""

MOST_VERDICTS = 8
"""Longer lists hide what matters."""

LEAST_INTERVALS_CHRONIC = 2
"""Intervals between scrapes that must show a cause before it counts as lasting: one is an event."""

OUTLIER_DEVIATIONS = 3.5
"""Robust standard deviations beyond which a rank is not one of its peers any more."""

FEW_RANKS = 3
"""Ranks up to which there is no median of peers to stand out from: who is slow is half of it, or a third."""

FEW_RANKS_UNSPLIT = 4
"""The same where a source cannot tell waiting from transferring, as that of a real job."""

FEW_LEAD_HIGH = 0.10
"""Work beyond that of the slowest other rank by which one of so few is named: there is no spread to judge it by, so it
must be twice WORK_EXCESS_HIGH..."""

FEW_LEAD_SHARE = 0.03
"""...and worth this share of the step."""

PERSISTENT_SHARE = 0.75
"""Share of the intervals in which a rank must stand out to be named: noise picks another one each time."""

WORK_GROWTH_HIGH = 0.03
"""Work of a rank beyond the median of its peers, against its own earlier share: that takes out the chips' spread."""

HOTTER_CELSIUS = 8.0
"""Rise of a board's temperature over its own earlier one, at no more power, that only failing cooling explains:
inlet air differs by 3 °C within a rack row."""

KELVIN_PER_WATT_HIGH = 1.3
"""The same without an earlier window: warming over inlet air per watt, against the median of the peers."""

INLET_CELSIUS = 25.0
"""Air that a data centre blows at its boards (ASHRAE A1 allows 18 to 27)."""

POWER_SAME = 1.10
"""Growth of a board's power that temperature may still be compared across."""

CLOCK_BELOW_PEERS = 0.99
"""SM clock against the median of the peers below which a power limit binds on this board and not on all."""

H2D_EXCESS_HIGH = 0.003
"""Share of the step that copies to the device take on a rank beyond the median of its peers: hidden behind the step
before, they take none."""

INPUT_RISE = 0.02
"""Rise of what late batches cost, as a share of the step, over the better window before."""

QUEUE_DRAINED = 0.80
"""Fill of a loader's queue, of its earlier one, below which it cannot keep up: a queue that does stays full."""

TRANSFER_SLOWER = 1.02
"""Time of the transfer itself in collectives against the better window: means over a minute vary by a percent."""

TRANSFER_CV_TAIL = 0.03
"""Spread from step to step of the collectives' time above which a latency tail is at work, and no setting: settings
slow every step alike."""

HANDOVER_SHARE = 0.001
"""Data wait, as a share of the step, that is only the handing over of a batch that was ready."""

LATE_AT_ONCE_TAIL = 1.8
"""Ranks late in one step, in the mean, up to which it is a tail that hits one at a time."""

LEAST_STEPS_TO_BLAME = 6
"""Steps that must show the same ranks late before they are named."""

LINK_SHARE_LOW = 0.97
"""Bytes of an interface over the median of its node's below which its link is slow: rings use all alike."""

SPIKES_CERTAIN = 3
"""Steps with a spike after which it is an explosion beyond doubt."""

CLOCK_RESTLESS = 0.02
"""Swing of an SM clock between scrapes above which its mean over a few of them says nothing about the time between."""

CHANCE = 6.0
"""Standard errors by which a rank must be behind its peers: when batches take unequal work the last of 64 is behind by
4.6, and one that is slow by an eighth, with even batches, by more than 100."""

LEAST_SCRAPES_TREND = 4
"""Scrapes that make a trend: three falls in a row are seldom chance."""

STAGED_RATIO_HIGH = 1.15
"""PCIe bytes of the GPUs over what their nodes send: 1 where the interface reads GPU memory, 2 through host memory."""

XIDS_OF_PROGRAMS = (13, 31, 43, 45)
"""XID codes that a program brings about by itself (NVIDIA's catalogue of XID errors): the board is well."""

LEAST_STEPS_OF_FILE = 5
"""Steps of a file with fewer of which nobody is named: a habit takes repetition."""

SLOWDOWN_WORTH_NAMING = 1.1
"""S from which on a job counts as straggling, as in the study of ByteDance's jobs (arXiv 2505.05713)."""

STAGE_EXCESS_HIGH = 0.10
"""Compute of a pipeline stage over the median of the others, on every one of its ranks, that is an imbalance."""

SHARE_EXPLAINED = 0.5
"""Share of a slow-down that goes with a cause before the cause is named for it."""

SHARE_OF_STEPS = 0.7
"""Share of the steps in which a rank must be slow to be slow by habit."""

LONG_WINDOWS = 3.0
"""How many windows back what comes once in many steps is looked for."""

WAIT_RISE = 0.012
"""Rise of the waiting of the rank that waits least, as a share of the step, which no rank, batch or transfer explains:
in a healthy job it moves by a few tenths of a percent."""

UTIL_DIP_PERCENT = 98.0
"""GPU utilization of one second below which a GPU was idle for a moment; spinning in a collective reads 100."""

PAUSE_COMPUTE_SHARE = 0.03
"""Growth of the mean compute over that of the waiting above which time was added, and not only dealt out unevenly."""

CHECKPOINT_SHARE_HIGH = 0.04
"""Share of wall clock in checkpoints: a job that saves every half an hour for a minute spends 3 %."""

CHECKPOINT_SECONDS_HIGH = 10.0
"""Length of one checkpoint that counts although it is alone: asynchronous writers block for a few seconds."""

LONG_STEP_SHARE = 0.3
"""Share of the steps up to which the longer ones are the exception."""

LEARNING_RATE_DROP = 0.9
"""Learning rate over that of a few minutes ago below which it was cut: schedules move by less than a percent."""

SKIPPED_STEPS_HIGH = 3.0
"""Steps skipped for an overflow within a window; a healthy fp16 job skips one in a thousand or two."""

LOSS_SCALE_DROP = 0.25
"""Loss scale over the earlier one at which it was halved twice at least: once is how the scale is found."""

PHASE_HUNG = 0.9
"""Share of wall clock that a rank waits or stalls while a job stands still."""

PHASE_OUTSIDE = 0.1
"""Share of wall clock in collectives up to which a rank of a job that stands still has not arrived at one."""

RING_HOP_SECONDS = 2.5e-6
"""Latency of one hop of a ring, of which an all-reduce over N ranks takes 2 (N - 1): fit of published nccl-tests."""

LEAST_COLLECTIVE_SECONDS = 1e-4
"""What one collective between nodes takes at least: its latency alone."""

RING_SHARE = 0.45
"""Part of what a ring would add from which a forced algorithm explains slow transfers better than small buffers do: it
is forced on all collectives as a rule."""

ALL_REDUCE_DOUBLING_SECONDS = 62e-6
"""What each doubling of the nodes adds to the latency of an all-reduce under NCCL's own choice: the same fit."""

SECOND_CHOICE = 0.6
"""Factor on the confidence of a cause when another one explains the same numbers better."""

CPU_LATENESS = 0.55
"""Lateness of one node's batches, in steps, above which its CPUs are a likelier reason than its mount."""

SHARD_LATENESS = 0.3
"""Lateness within a long step, in steps, that is the opening of a shard."""

STEP_SAME = 0.015
"""Difference of step times that is none: means over a minute of a large job vary by less."""

EXPLAINED_WITHIN = 0.15
"""Part of what late batches and slow ranks explain of the waiting by which their estimate may be off."""

LEAST_STEPS_OF_PIECE = 8
"""Steps between two scrapes of which a share says something."""

XIDS_OF_MEMORY = (48, 63, 64, 92, 94, 95)
"""XID codes of memory errors and remapped rows (NVIDIA's catalogue of XID errors)."""

LEAST_INTERVALS_STALE = 2
"""Intervals in a row without any energy used after which readings are old ones."""

UTIL_BUSY_PERCENT = 10.0
"""GPU utilization above which profiling fields cannot be 0."""

PAUSE_DEVIATIONS = 5.0
"""Standard errors of the growth of compute from which time was added: what is dealt out unevenly adds up to nothing."""

LEAST_RANKS_OF_TAIL = 16
"""Ranks of a job among which a tail seldom hits the same one twice."""
