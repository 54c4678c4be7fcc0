#!/bin/sh
# Makes the database of Mnemic, owned by a role that is no superuser: only then do row-level checks hold.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --set password="$MNEMIC_PASSWORD" <<'SQL'
CREATE ROLE mnemic LOGIN PASSWORD :'password' NOSUPERUSER NOBYPASSRLS;
CREATE DATABASE mnemic OWNER mnemic;
\connect mnemic
CREATE EXTENSION IF NOT EXISTS vector;
SQL
