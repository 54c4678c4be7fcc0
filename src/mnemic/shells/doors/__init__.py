"""Doors for clients that were written for other systems: their paths, fields and envelopes, over our verbs.

`cloud`, `product` and `openai` each have `router(memory, threads)`, the prefixes of their paths, and `tell`, which
tells an error as clients there expect it. What a door can do it does; the rest it refuses by name, so that nothing
that is asked for is silently left out.
"""
