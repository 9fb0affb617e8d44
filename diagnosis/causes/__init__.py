"""One module per family of causes. Each ends in `CAUSES = (…,)` and is found by being here."""
