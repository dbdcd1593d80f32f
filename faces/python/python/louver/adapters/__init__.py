"""Louver inside the frameworks people use. Each hooks the request, never the stored history."""
