"""How much faster a page of a dcgm-exporter is parsed than by the reference client."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.row import Row

FASTER = 15.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Ratio to `prometheus_client.parser` on the same page, in which both must find the same."""
    from tests.exporter.dcgm.bench_parse import measure

    found = measure(gpus=8, repeats=1) if quick else measure()
    detail = (
        f"{found['samples']:,} clean samples, equal; {found['ours_seconds']:.3f} s against "
        f"{found['prometheus_client_seconds']:.3f} s, medians in alternation; to the finished reading "
        f"{found['to_a_reading_seconds']:.3f} s"
    )
    yield Row("parsing against `prometheus_client.parser`", float(found["ratio"]), "×", at_least=FASTER, detail=detail)
    yield Row("parsing, per sample", float(found["ours_microseconds_per_sample"]), "µs")
