"""Learning the weights of `core.fusion` from questions whose evidence is known: `python -m bench.fitting --help`."""
