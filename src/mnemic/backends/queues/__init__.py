"""The two ways by which jobs find workers: by asking the database, and by Redis Streams."""
