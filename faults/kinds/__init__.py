"""One module per kind of fault. Each ends in `KIND = …` and is found by being here."""
