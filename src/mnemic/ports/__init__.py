"""What Mnemic needs from outside, one small Protocol each."""
