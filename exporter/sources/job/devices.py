"""Which GPU of this machine a rank means, by UUID or by CUDA_VISIBLE_DEVICES, as CUDA reads that variable.

The list ends at its first invalid entry, a repeated one makes it empty, UUIDs may be shortened as long as they are
unambiguous. Entries are either ordinals or UUIDs: the first one decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from exporter.reading import Gpu
from exporter.sources.job.report import GpuClaim

_HEX = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID = re.compile(rf"(?:GPU-)?({_HEX})", re.IGNORECASE)
_PARTITION = re.compile(rf"MIG-GPU-({_HEX})/\d+/\d+", re.IGNORECASE)
"""The older name of a partition, which tells its board. The newer one, `MIG-` and a UUID, does not."""
_ORDINAL = re.compile(r"\s*([+-]?\d{1,6})")


def find_gpu(claim: GpuClaim, gpus: Sequence[Gpu]) -> Gpu | None:
    """The board that a rank runs on, None when it cannot be told.

    A full UUID stands for itself where `gpus` does not have it: another exporter may read that board. Then the `Gpu`
    has no index. An ordinal means the GPU of that index here: a container that is given some of the GPUs has its own
    numbers, and only UUIDs tell there.
    """
    if claim.uuid:
        return _by_uuid(claim.uuid, gpus)
    found = _by_place(claim, gpus)
    # Numbers of a container, or in CUDA's own order, may mean another board: one of another model gives it away.
    model = dict(found.labels).get("modelName") if found is not None else None
    return None if model and claim.name and _plain(model) != _plain(claim.name) else found


def _plain(model: str) -> str:
    """A product name without what some libraries leave out."""
    return model.lower().removeprefix("nvidia ").strip()


def _by_place(claim: GpuClaim, gpus: Sequence[Gpu]) -> Gpu | None:
    if claim.visible_devices is None:
        return _by_ordinal(claim.device_index, gpus) if claim.device_index is not None else None
    visible = _visible(claim.visible_devices, gpus)
    index = claim.device_index
    if index is None and len(visible) == 1:
        index = 0
    return visible[index] if index is not None and index < len(visible) else None


def _by_uuid(text: str, gpus: Sequence[Gpu]) -> Gpu | None:
    found = _UUID.fullmatch(text) or _PARTITION.fullmatch(text)
    if found is None:
        return None
    uuid = f"GPU-{found[1].lower()}"
    known = (gpu for gpu in gpus if gpu.uuid.lower() == uuid.lower())
    return next(known, Gpu(uuid=uuid, index=""))


def _by_ordinal(ordinal: int, gpus: Sequence[Gpu]) -> Gpu | None:
    return next((gpu for gpu in gpus if gpu.index == str(ordinal)), None)


def _visible(text: str, gpus: Sequence[Gpu]) -> list[Gpu | None]:
    """Boards in the order of the variable. None stands for a partition of an unknown board: it takes a place."""
    entries = text.split(",")
    if entries[0].strip().upper().startswith("MIG-"):
        # CUDA uses one partition, the first.
        return [_by_uuid(entries[0].strip(), gpus)]
    by_uuid = entries[0].strip().upper().startswith("GPU-")
    boards: list[Gpu | None] = []
    for entry in entries:
        board = _by_prefix(entry.strip(), gpus) if by_uuid else _numbered(entry, gpus)
        if board is None:
            break
        if board in boards:
            return []
        boards.append(board)
    return boards


def _by_prefix(prefix: str, gpus: Sequence[Gpu]) -> Gpu | None:
    if not prefix.upper().startswith("GPU-"):
        return None
    matching = [gpu for gpu in gpus if gpu.uuid.lower().startswith(prefix.lower())]
    if matching:
        return matching[0] if len(matching) == 1 else None
    return _by_uuid(prefix, gpus)


def _numbered(entry: str, gpus: Sequence[Gpu]) -> Gpu | None:
    """By the number that an entry begins with, as C reads it: `1gpu` is 1."""
    found = _ORDINAL.match(entry)
    return _by_ordinal(int(found[1]), gpus) if found is not None and int(found[1]) >= 0 else None
