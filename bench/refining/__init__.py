"""What a language model makes of a conversation: memories drawn by rules, by a local model and by a scripted one.

`python -m bench.refining --mode rules|local|scripted` plays the demo conversation through the library's face and prints
what was made of it and what that cost. `gold.jsonl` is what a careful reader draws from the conversation, and lures
that must not be believed; `CHECKED.md` lists the memories that were checked by hand.
"""
