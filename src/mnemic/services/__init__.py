"""One use case per file: opens the transaction, asks core, calls ports."""
