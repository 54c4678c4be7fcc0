"""Doors for programs that were written for other systems: their classes, with their arguments and their replies."""
