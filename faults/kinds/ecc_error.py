"""Memory of a GPU fails: the driver reports an XID that stays, and remaps rows."""

from __future__ import annotations

from faults.effects import EccError, Effects
from faults.kind import Application, Kind, Param
from faults.target import Target

_SEVERE, _MODERATE = 0.75, 0.375
_ROW_REMAPPED, _CONTAINED, _DOUBLE_BIT = 63, 94, 48


class EccErrorKind(Kind):
    """What the intensity means: mild is a remapped row and no more; from moderate on the process on the GPU dies.

    XID 63 records that rows were remapped after correctable errors, and the job runs on. XID 94 is an uncorrectable
    error that was contained: only the process that used the memory is killed. XID 48 is a double-bit error, after which
    the GPU needs a reset. Names and meanings are those of NVIDIA's XID catalogue. Without one of its ranks a
    synchronous job stands still; ending the fault is its restart. XID and rows stay. HBM3 memory interrupted Llama 3's
    training 72 times of 419.
    """

    name = "ecc_error"
    summary = "Memory errors of a GPU: rows are remapped (XID 63), or its process is killed (XID 94, 48)."
    look_at = (
        "The last XID of that GPU, which stays, and its remapped rows: correctable ones when mild, uncorrectable ones "
        "otherwise. Mild costs nothing; moderate and severe stop the job, with that GPU idle and the others at 100 %."
    )
    params = (
        Param(
            name="rows",
            type="integer",
            default=1,
            unit="rows",
            description="Memory rows that are remapped on each target GPU.",
            minimum=1,
            maximum=512,
        ),
    )
    phases = ("collective_wait", "stall")
    metrics = (
        "DCGM_FI_DEV_XID_ERRORS",
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "training_last_step_timestamp_seconds",
        "training_steps_total",
        "DCGM_FI_DEV_GPU_UTIL",
    )
    composition = "Remapped rows add; the last error in the order of the faults' names is the XID that stays."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Report the error, and kill the processes unless it could be corrected."""
        if application.intensity == 0.0:
            return
        severe = application.intensity >= _SEVERE
        correctable = application.intensity < _MODERATE
        xid = _ROW_REMAPPED if correctable else _DOUBLE_BIT if severe else _CONTAINED
        rows = int(application.number("rows"))
        effects.ecc_errors.append(EccError(application.fault, application.ranks, xid, rows, correctable))
        if not correctable:
            effects.dead[application.ranks] = True


KIND = EccErrorKind()
