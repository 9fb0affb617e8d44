"""How right the verdicts are: random incidents, seen as scrapes show them, and what was said about them."""
