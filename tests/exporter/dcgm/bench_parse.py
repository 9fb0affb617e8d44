"""How much faster a page is parsed than by prometheus_client: `python -m tests.exporter.dcgm.bench_parse` prints JSON.

Both read the same clean page of a dcgm-exporter and must find the same. What the source does beyond, to the finished
reading, is measured apart.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable

from prometheus_client.parser import text_string_to_metric_families

from exporter.sources.dcgm.normalise import Normaliser
from exporter.sources.dcgm.parser import parse

FAMILIES, GPUS = 60, 160
"""9,600 samples."""


def clean_page(*, families: int = FAMILIES, gpus: int = GPUS) -> str:
    """A page with the labels of a current dcgm-exporter in a cluster."""
    text = []
    for index in range(families):
        name = f"DCGM_FI_DEV_FIELD_{index}"
        text.append(f"# HELP {name} Some field (in its unit).\n# TYPE {name} gauge\n")
        text += [f"{name}{{{_labels(gpu)}}} {_value(index, gpu)}\n" for gpu in range(gpus)]
    return "".join(text)


def _labels(gpu: int) -> str:
    return (
        f'gpu="{gpu}",UUID="GPU-{gpu:08d}-aaaa-bbbb-cccc-{gpu:012d}",pci_bus_id="00000000:{gpu:02X}:00.0",'
        f'device="nvidia{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="lab-node-a",'
        f'DCGM_FI_DRIVER_VERSION="550.90.07",container="main",namespace="ml",pod="train-{gpu}"'
    )


def _value(family: int, gpu: int) -> str:
    return str(family * 1_000 + gpu) if family % 2 else f"{gpu / (family + 1):f}"


def measure(*, families: int = FAMILIES, gpus: int = GPUS, repeats: int = 9) -> dict[str, float | int]:
    """Median seconds of both, in alternation, and their ratio. AssertionError when the results differ."""
    text = clean_page(families=families, gpus=gpus)
    _assert_equal(text)
    ours: list[float] = []
    theirs: list[float] = []
    whole: list[float] = []
    normaliser = Normaliser(hostname="lab-node-a", hostname_label="Hostname")
    for _ in range(repeats):
        _timed(lambda: parse(text), ours)
        _timed(lambda: list(text_string_to_metric_families(text)), theirs)
        _timed(lambda: normaliser(parse(text)), whole)
    samples = families * gpus
    mine, reference = statistics.median(ours), statistics.median(theirs)
    return {
        "samples": samples,
        "ours_seconds": round(mine, 4),
        "prometheus_client_seconds": round(reference, 4),
        "to_a_reading_seconds": round(statistics.median(whole), 4),
        "ours_microseconds_per_sample": round(1e6 * mine / samples, 3),
        "ratio": round(reference / mine, 1),
    }


def _assert_equal(text: str) -> None:
    found = parse(text)
    reference = list(text_string_to_metric_families(text))
    assert [(row.name, dict(row.labels), row.value) for row in found.rows] == [
        (sample.name, sample.labels, sample.value) for family in reference for sample in family.samples
    ]
    assert found.types == {family.name: family.type for family in reference}
    assert found.helps == {family.name: family.documentation for family in reference}


def _timed(work: Callable[[], object], into: list[float]) -> None:
    gc.collect()
    started = time.perf_counter()
    work()
    into.append(time.perf_counter() - started)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
