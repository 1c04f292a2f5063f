"""Quaternions and dual quaternions over any scalar."""
