"""Doors for clients that were written for other systems: their paths, fields and envelopes, over our verbs.

`cloud`, `product` and `openai` have each `router(memory, threads)`, the prefixes of their paths, and `tell`, which tells
an error as clients there expect it. A door takes what it can do, and refuses the rest by name: nothing that is asked
for is silently left out.
"""
