"""What must be set before NumPy is imported."""

from __future__ import annotations

import os

_THREAD_COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def one_blas_thread() -> None:
    """Keep BLAS from starting a thread per core: the arrays are small, and each costs memory. What is set stays."""
    for variable in _THREAD_COUNTS:
        os.environ.setdefault(variable, "1")
