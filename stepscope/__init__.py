"""A lab that shows why a training cluster can report 99 % GPU utilization and do a fifth of the work."""

__version__ = "0.1.0"
