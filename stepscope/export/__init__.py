"""`stepscope export`: real GPUs and training jobs of one node as one page for Prometheus. Needs no NumPy."""
