"""The labels of a sample under today's names, and what they say about where it belongs."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.catalogue import GPU_LABELS, HOSTNAME, INSTANCE_LABELS
from exporter.reading import Labels

MAX_LABEL_LENGTH = 1_023
"""Characters of a label value that are passed on; managed services refuse more."""

_UNKNOWN = frozenset({"<<<NULL>>>", "<<<NOT_FOUND>>>", "<<<NOT_SUPPORTED>>>", "<<<NOT_PERM>>>", ""})
_DROPPED = frozenset({"DCGM_FI_PROCESS_NAME", "DCGM_FI_SYSTEM_PROCESS_NAME"})
"""Always the name of the exporter itself."""
_DESCRIPTIVE = frozenset({"err_code", "err_msg"})
"""Say in words what the value says, and so belong to no identity."""
_SPELLINGS = {
    "UUID": ("UUID", "uuid", "gpu_uuid"),
    HOSTNAME: (HOSTNAME, "hostname"),
    "modelName": ("modelName", "model_name"),
    "DCGM_FI_DRIVER_VERSION": ("DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION"),
    # Prometheus sets `exported_` before a workload's label when the scraped exporter has one of its own.
    "pod": ("exported_pod", "pod", "pod_name"),
    "namespace": ("exported_namespace", "namespace", "pod_namespace"),
    "container": ("exported_container", "container", "container_name"),
}
"""Names of a label over the generations, the most trusted first."""
_MEANT = {name: (meant, rank) for meant, names in _SPELLINGS.items() for rank, name in enumerate(names)}
_BEFORE_HOSTNAME = frozenset({*GPU_LABELS[: GPU_LABELS.index(HOSTNAME)], *INSTANCE_LABELS})
_OF_A_BOARD = frozenset({*GPU_LABELS, "nvlink", "nvswitch"}) | _DESCRIPTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One distinct set of labels, understood."""

    labels: Labels
    """In dcgm's order."""
    series: frozenset[tuple[str, str]]
    """What tells the series from others of its family."""
    board: Labels
    """Those of `labels` that are the same for all partitions and workloads of a board."""
    board_series: frozenset[tuple[str, str]]
    """What tells the series from others when only `board` counts."""
    uuid: str
    index: str
    """Value of `gpu`."""
    instance: str
    """GPU_I_ID; empty for a whole board."""


def place(labels: Labels, *, hostname: str, hostname_label: str) -> Place:
    """What `labels` say. `hostname` is for those that name no host.

    Empty and blank values are left out, long ones cut, names are those of the catalogue; where two spellings of one
    label stand side by side, the most trusted counts.
    """
    found: dict[str, tuple[int, str]] = {}
    for name, value in labels:
        if value in _UNKNOWN or name in _DROPPED:
            continue
        meant, rank = _MEANT.get(name, (name, 0))
        if meant not in found or rank < found[meant][0]:
            found[meant] = (rank, value[:MAX_LABEL_LENGTH])
    values = {name: value for name, (_, value) in found.items()}
    if HOSTNAME not in values and hostname:
        values = _with_hostname(values, hostname)
    shown = [(hostname_label if name == HOSTNAME else name, name, value) for name, value in values.items()]
    whole = tuple((label, value) for label, _, value in shown)
    board = tuple((label, value) for label, name, value in shown if name in _OF_A_BOARD)
    return Place(
        labels=whole,
        series=identity(whole),
        board=board,
        board_series=identity(board),
        uuid=values.get("UUID", ""),
        index=values.get("gpu", ""),
        instance=values.get("GPU_I_ID", ""),
    )


def identity(labels: Labels) -> frozenset[tuple[str, str]]:
    """What tells a series with `labels` from the others of its family."""
    return frozenset(pair for pair in labels if pair[0] not in _DESCRIPTIVE)


def _with_hostname(values: dict[str, str], hostname: str) -> dict[str, str]:
    names = list(values)
    at = max((names.index(name) + 1 for name in names if name in _BEFORE_HOSTNAME), default=0)
    pairs = list(values.items())
    return dict([*pairs[:at], (HOSTNAME, hostname), *pairs[at:]])
