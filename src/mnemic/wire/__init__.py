"""How verbs, values and errors travel: between a server and its clients, and onto a screen as JSON."""
