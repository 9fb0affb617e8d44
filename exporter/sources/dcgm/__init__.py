"""An existing dcgm-exporter as a source: its page, read line by line, under the names of today."""
