"""Per-rank step times of somebody's own job, from a file, to the same kind of verdict."""
