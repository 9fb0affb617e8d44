"""What a recorder says to the exporter, and where: one JSON object in one datagram, all totals since its start.

Standard library only: a training process imports this. A report stands for itself, so a lost one loses nothing. Within
a session no total ever falls, `phases` included; a report in which one does is refused. Keys that a reader does not
know are ignored, `null` is a missing value, phases that it does not know are refused. Another user's flood can keep the
socket full: a sender that waits for room (SO_SNDTIMEO, on a blocking socket) gets its turn all the same. One number out
of its range, from 0 to the MOST below, costs the whole report: what cannot be said is left out.

| key | value |
|---|---|
| `v` | VERSION |
| `run` | name of the run: text of 1 to 128 characters |
| `rank`, `world_size`, `local_rank` | whole numbers |
| `session` | random text, new for each start of a recorder |
| `started`, `time` | Unix seconds: when the recorder started, when the report was made |
| `seq` | counts the reports of a session from 0 |
| `final` | true in the last report of a recorder that was closed |
| `model`, `precision`, `strategy`, `flops_convention` | text, may be missing |
| `gpu` | object: `uuid`, `visible_devices` (CUDA_VISIBLE_DEVICES), `device_index`, `name`; each may be missing |
| `peak_flops_per_second` | dense peak of this rank's device at its precision; missing when it is not known |
| `phases` | object: seconds by phase, the running one up to `time`; PHASES without `collective_wait` |
| `collective_seconds`, `collective_bytes` | in collectives, overlapped included; bytes as in bus bandwidth |
| `queue_batches`, `capacity_batches` | of the data loader; missing where there is no queue |
| `steps`, `tokens`, `samples`, `model_flops` | done by the whole job |
| `nonfinite_steps`, `skipped_steps`, `checkpoints`, `grad_norm_spikes` | whole numbers |
| `step_seconds` | object: `sum`, `counts` (one per STEP_SECONDS_BUCKETS and one for above, not cumulative) |
| `loss`, `grad_norm`, `learning_rate`, `loss_scale` | number, or `"NaN"`, `"+Inf"`, `"-Inf"`; missing until logged |
| `last_step_time` | Unix seconds at which the last step ended; missing before the first |
"""

from __future__ import annotations

import os
from collections.abc import Mapping

VERSION = 1
MAX_BYTES = 16_384
"""A longer datagram is refused unread; a recorder never makes one."""
MOST_RANKS = 1 << 20
MOST_COUNT = (1 << 63) - 1
MOST_FLOPS = 1e32
"""A hundred thousand times the greatest training run that is known."""
MOST_BYTES = 1e24
MOST_BATCHES = 1e9
MOST_PEAK = 1e18
"""In FLOP/s, of one device."""
SOCKET_VARIABLE = "STEPSCOPE_SOCKET"
_SOCKETS = ("/run/stepscope/recorder.sock", "/tmp/stepscope-recorder.sock")


def socket_paths(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Unix datagram sockets to try, in order: that of STEPSCOPE_SOCKET alone, or the system's, then one in /tmp."""
    named = environ.get(SOCKET_VARIABLE)
    return (named,) if named else _SOCKETS
