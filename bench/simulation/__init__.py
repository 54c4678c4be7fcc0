"""A simulation of many workers and very many cubes by discrete events, with the sharding and fairness code of Mnemic.

What decides whose turn it is (`mnemic.core.fairness`), how kinds differ (`mnemic.model.job`) and which stream a cube's
jobs go to is the real code; time, workers and the work itself are made up. `python -m bench.simulation` prints what
comes of it.
"""
