"""How well documents are read and found: real public ones of many formats, and forty questions with their places."""
