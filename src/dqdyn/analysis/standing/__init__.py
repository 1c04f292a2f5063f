"""Robots that stand on their own feet under whole-body control: setting, balance, and pushes that they survive."""
