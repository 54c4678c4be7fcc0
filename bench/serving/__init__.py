"""How many calls a server answers in a second, how long they take, and whether its memory stays flat.

`loading` makes the calls, `plain` is the route that it is compared with, `__main__` runs both and shows the figures.
"""
