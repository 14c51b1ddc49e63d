"""The studies' SQL: tables, connection, migrations."""
