"""The relational store: schema, migrations, SQLite and later PostgreSQL."""
