"""The boards, one module each with a `BOARD`. The module's name gives the file and the uid: `the_trap`, `the-trap`."""
