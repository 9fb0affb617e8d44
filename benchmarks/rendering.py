"""How much faster a page is rendered than by the reference client."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.row import Row

FASTER = 15.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Ratio to `prometheus_client.generate_latest` on the same samples, which must be equal after parsing."""
    from tests.exporter.bench_render import measure

    found = measure(gpus=40, repeats=1) if quick else measure()
    detail = (
        f"{found['samples']:,} samples, equal after parsing; {found['ours_seconds']:.3f} s against "
        f"{found['prometheus_client_seconds']:.3f} s, medians in alternation"
    )
    yield Row("rendering against `generate_latest`", float(found["ratio"]), "×", at_least=FASTER, detail=detail)
    yield Row("rendering, per sample", float(found["ours_microseconds_per_sample"]), "µs")
