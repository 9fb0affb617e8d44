"""The compose stack through the Docker SDK, from the host: its state, and failures of the monitoring itself."""
