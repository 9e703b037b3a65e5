"""Which part of a memory system earned its result? Ablations of agent memories, run honestly."""

__version__ = "0.1.0"
