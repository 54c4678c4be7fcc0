"""The scheduler, measured on the real system: throughput, acknowledging beside a full queue, and fair sharing.

Each engine (SQLite, PostgreSQL with the database's queue, PostgreSQL with Redis Streams) is set beside a bare loop over
it in the same run: insert and commit, and XADD, XREADGROUP and XACK. Workers are processes of `mnemic worker`.
"""
