"""Measurements behind BENCHMARKS.md: `python -m benchmarks`. Not part of the wheel."""
