"""The rows of the table, in its order. Each has REQUIREMENTS, and `measure`, which yields a result for each of them."""

from rows import calm, stop_time, node_dump, pause, start, memory, latency, crowd

ROWS = [calm, stop_time, node_dump, pause, start, memory, latency, crowd]
