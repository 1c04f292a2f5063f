"""The papers' steps one by one and as printed."""
