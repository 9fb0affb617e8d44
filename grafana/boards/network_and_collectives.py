"""Network and collectives: what communication costs the step, and whether the fabric is at fault."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import NO_NETWORK, About, Ceiling, percent
from boards_lib.formulas import OF_NODES, RANK_BANDWIDTH, WINDOW, on_gpus
from boards_lib.heat import rows
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import bars, lines
from boards_lib.queries import NODE, RUN, Query
from boards_lib.style import RATIO
from boards_lib.tables import Column, table
from boards_lib.tiles import Tile, tiles
from boards_lib.variables import node_variable, run_variable
from diagnosis import thresholds

NIC = "Hostname, device"


def _rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({metric}{{{RUN}, {NODE}}}[{WINDOW}]))"


SENT = _rate("training_network_transmit_bytes_total", "Hostname")
SENT_BY_NIC = _rate("training_network_transmit_bytes_total", NIC)
PAUSES = _rate("training_network_pause_frames_total", "Hostname")
RETRANSMITS = _rate("training_network_retransmits_total", "Hostname")

SUMMARY = tiles(
    About(
        title="What communication costs",
        question="Is the job bound by communication, and is the fabric lossless?",
        healthy=(
            f"collectives that computing does not hide below {percent(thresholds.COLLECTIVE_HIGH)}, no pause frames, "
            "nothing sent twice."
        ),
        reading=(
            "Everybody's share is the least of the ranks: transfer that all pay, waiting for peers left out. When the "
            "mean is far above it, ranks wait for one of them, and the fabric is the victim."
        ),
        empty=NO_NETWORK,
    ),
    (
        Tile(name="Exposed, everybody's share", expr=formulas.EXPOSED, limits=Ceiling(high=thresholds.COLLECTIVE_HIGH)),
        Tile(name="Exposed, mean of the ranks", expr=formulas.phases(formulas.COMMUNICATION)),
        Tile(name="Bus bandwidth", expr=formulas.BUS_BANDWIDTH, unit="Bps", decimals=0),
        Tile(
            name="Pause frames, worst node",
            expr=f"max({PAUSES})",
            unit="suffix: /s",
            limits=Ceiling(high=thresholds.PAUSE_FRAMES_PER_SECOND_HIGH),
        ),
        Tile(
            name="Retransmits, worst node",
            expr=f"max({RETRANSMITS})",
            unit="suffix: /s",
            limits=Ceiling(high=thresholds.RETRANSMITS_PER_SECOND_HIGH),
        ),
    ),
)

EXPOSED = lines(
    About(
        title="Exposed communication: transfer and waiting",
        question="Do ranks wait for the fabric, or for each other?",
        healthy=f"both low; together below {percent(thresholds.COLLECTIVE_HIGH)}.",
        reading=(
            "Transfer up and waiting flat: the fabric is slow for all alike. Waiting up: some rank comes late, and no "
            "setting of the network helps. A real job cannot tell the two apart and reports the sum as transfer."
        ),
        next_board="ranks",
    ),
    (
        Query(formulas.phases("collective"), "Transfer"),
        Query(formulas.phases("collective_wait"), "Waiting for peers"),
    ),
    unit=RATIO,
    colours={"Transfer": palette.FIRST, "Waiting for peers": palette.SECOND},
    reference=thresholds.COLLECTIVE_HIGH,
)

BANDWIDTH = lines(
    About(
        title="Bus bandwidth of the collectives",
        question="Does the fabric carry what it should?",
        healthy="the highest line near what nccl-tests measures for messages of this size.",
        reading=(
            "The last rank to arrive does not spin and shows the transfer itself. That line low: messages too small, a "
            "buffer too small, no GPUDirect, or a slow link. Only the lowest line low: ranks that wait."
        ),
    ),
    (
        Query(f"max by (run) ({RANK_BANDWIDTH})", "Last to arrive"),
        Query(f"quantile by (run) (0.5, {RANK_BANDWIDTH})", "Median"),
        Query(f"min by (run) ({RANK_BANDWIDTH})", "Waits most"),
    ),
    unit="Bps",
    colours={"Last to arrive": palette.FIRST, "Median": palette.NEUTRAL, "Waits most": palette.SECOND},
    lowest=0,
)

NODES = lines(
    About(
        title="Sent by each node",
        question="Does every node carry the same traffic?",
        healthy="the lines on top of each other: a ring sends the same over every link.",
        reading="All down: the job is slower. One node down: its NICs. The ten nodes that send least are shown.",
        empty=NO_NETWORK,
    ),
    (Query(f"bottomk(10, {SENT})", "{{Hostname}}"), Query(f"quantile(0.5, {SENT})", "Median of the nodes")),
    unit="Bps",
    colours={"Median of the nodes": palette.SECOND},
    dashed=("Median of the nodes",),
    lowest=0,
)

PAUSE_FRAMES = bars(
    lines(
        About(
            title="Pause frames received per second",
            question="Does the lossless fabric push back?",
            healthy=f"none; a lone few are no storm, {thresholds.PAUSE_FRAMES_PER_SECOND_HIGH:.0f} a second are.",
            reading=(
                "Priority flow control stops a sender whose receiver is full. Sustained pauses spread from switch to "
                "switch: check the ECN thresholds and the PFC headroom."
            ),
            empty=NO_NETWORK,
        ),
        (Query(f"topk(10, {PAUSES})", "{{Hostname}}"),),
        unit="suffix: /s",
        colours={},
        lowest=0,
    )
)

SENT_AGAIN = bars(
    lines(
        About(
            title="Packets sent again per second",
            question="Does the fabric lose packets?",
            healthy="none.",
            reading="RDMA over Ethernet sends everything after a lost packet again: a few losses cost most of a link.",
            empty=NO_NETWORK,
        ),
        (Query(f"topk(10, {RETRANSMITS})", "{{Hostname}}"),),
        unit="suffix: /s",
        colours={},
        lowest=0,
    )
)

LINKS = lines(
    About(
        title="NVLink and PCIe traffic of one GPU",
        question="Which way do the bytes take?",
        healthy="most over NVLink, little over PCIe.",
        reading=(
            "Means over the GPUs, both directions. PCIe up together with a low bus bandwidth: network traffic is "
            "staged in host memory, so GPUDirect is off."
        ),
    ),
    (
        Query(
            f"avg({on_gpus('DCGM_FI_PROF_NVLINK_TX_BYTES', OF_NODES)})"
            f" + avg({on_gpus('DCGM_FI_PROF_NVLINK_RX_BYTES', OF_NODES)})",
            "NVLink",
        ),
        Query(
            f"avg({on_gpus('DCGM_FI_PROF_PCIE_TX_BYTES', OF_NODES)})"
            f" + avg({on_gpus('DCGM_FI_PROF_PCIE_RX_BYTES', OF_NODES)})",
            "PCIe",
        ),
    ),
    unit="Bps",
    colours={"NVLink": palette.FIRST, "PCIe": palette.SECOND},
    lowest=0,
)

NICS = rows(
    About(
        title="Sent by each interface",
        question="Is one link slower than its twins?",
        healthy="one colour.",
        reading=(
            "One low row: that link runs at a fraction of its rate, or its rail carries nothing. Of many interfaces, "
            "the 64 that send least are shown."
        ),
        empty=NO_NETWORK,
    ),
    Query(
        f"{SENT_BY_NIC} and on ({NIC}) bottomk({formulas.MOST_ROWS}, sum by ({NIC}) (increase("
        f"training_network_transmit_bytes_total{{{RUN}, {NODE}}}[$__range] @ end())))",
        "{{Hostname}} {{device}}",
    ),
    unit="Bps",
    decimals=1,
)

INTERFACES = table(
    About(
        title="Interfaces",
        question="Which link pauses, loses or lags?",
        healthy="equal rates, zeros in the other columns.",
        empty=NO_NETWORK,
    ),
    tuple(
        Column(name=name, expr=f"{value} and on ({NIC}) bottomk({formulas.MOST_ROWS}, {SENT_BY_NIC})", unit=unit)
        for name, value, unit in (
            ("Sent", SENT_BY_NIC, "Bps"),
            ("Pause frames", _rate("training_network_pause_frames_total", NIC), "suffix: /s"),
            ("Retransmits", _rate("training_network_retransmits_total", NIC), "suffix: /s"),
        )
    ),
    labels={"Hostname": "Node", "device": "Interface"},
    sort_by="Sent",
    descending=False,
)

BOARD = Board(
    title="Network and collectives",
    description="What communication costs a step, and whether the fabric or a late rank is to blame.",
    variables=(run_variable(), node_variable()),
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(EXPOSED, width=12, height=8),
        Placed(BANDWIDTH, width=12, height=8),
        Placed(NODES, width=12, height=8),
        Placed(LINKS, width=12, height=8),
        Placed(PAUSE_FRAMES, width=12, height=7),
        Placed(SENT_AGAIN, width=12, height=7),
    ),
    rows=(Row("Single interfaces", (Placed(NICS, width=12, height=11), Placed(INTERFACES, width=12, height=11))),),
)
