"""The first page: what lies below a folder, in a few words."""
