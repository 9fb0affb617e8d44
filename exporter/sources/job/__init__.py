"""A training job as a source: what its recorders report."""
