"""The rules as code: recording rules, both sets of alerts, and the times of each profile."""
