"""Which GPU a rank computes on, as far as this process can tell without starting CUDA."""

from __future__ import annotations

from typing import Any

from stepscope.recorder.settings import Settings, is_label


def environment_claim(settings: Settings) -> dict[str, object]:
    """What the environment says."""
    return {} if settings.visible_devices is None else {"visible_devices": settings.visible_devices}


def device_claim(torch: Any) -> dict[str, object]:
    """What CUDA says of the current device of the calling thread: index, name and UUID where torch knows it."""
    index = int(torch.cuda.current_device())
    found: dict[str, object] = {"device_index": index}
    properties = torch.cuda.get_device_properties(index)
    name, uuid = str(getattr(properties, "name", "")), str(getattr(properties, "uuid", "") or "")
    if uuid and not uuid.startswith(("GPU-", "MIG-")):
        uuid = f"GPU-{uuid}"
    found.update((key, text) for key, text in (("name", name), ("uuid", uuid)) if text and is_label(text))
    return found
