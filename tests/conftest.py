"""Puts this folder on the import path: tests in subfolders use the modules beside this file."""
