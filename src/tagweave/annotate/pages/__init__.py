"""The pages: functions from a page request to a response."""
