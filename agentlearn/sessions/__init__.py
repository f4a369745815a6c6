"""Sessions: the only room that knows how any agent writes."""
