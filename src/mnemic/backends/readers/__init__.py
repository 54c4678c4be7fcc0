"""Files to text: each is read in a process of its own (`apart.py`, `child.py`), by the module of its family."""
