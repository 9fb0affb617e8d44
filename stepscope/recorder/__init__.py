"""What a training script imports: where its time goes, step by step, told to the exporter. Standard library only."""

from stepscope.recorder.recorder import StepRecorder

__all__ = ["StepRecorder"]
