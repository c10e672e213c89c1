"""The pages: functions from a request to a response."""
