"""The job: one step model per run, from which every number that leaves is derived."""
