"""A run as some Prometheus saw it: asking it, within a deadline, for what a diagnosis needs."""
