"""Readers of other people's files: each turns one format into messages, and stores nothing itself."""
