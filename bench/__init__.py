"""Measures speed and size, always as a ratio to a floor in the same run: `python -m bench --help`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would go on spinning in the time of the next rival
