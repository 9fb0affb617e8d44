"""Remedies, one module for each place where they act; each module ends in REMEDIES."""
