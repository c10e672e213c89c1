"""The pages: functions from a visit to a response."""
