"""Real clients of other makers at a real server of ours, with a transcript of what was said: one file a client."""
