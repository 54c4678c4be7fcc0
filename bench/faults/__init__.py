"""The fault campaign: processes that add and that work, and what happens to them and to their servers meanwhile.

`./dev faults` runs it. A message is acknowledged when `add` has returned; whoever added it writes that into a ledger
then. When all is over, the ledgers, the rows and a run of the same input that nobody disturbed must agree.
"""
