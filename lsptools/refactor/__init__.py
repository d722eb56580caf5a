"""Refactorings: each reads a snapshot and returns a plan; its checks stand beside it."""
