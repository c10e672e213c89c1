"""Metrics, significance and reports."""
