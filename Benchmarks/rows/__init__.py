"""The rows of the table, in its order. Each has REQUIREMENTS, and `measure`, which yields a result for each of them."""

from rows import calm, stop_time, node_dump, pause, start, memory, latency, sampling, crowd
from rows import untouched, gaps, frames, samples, looks, signalled_dump, redis

ROWS = [calm, stop_time, node_dump, pause, start, memory, latency, sampling, crowd]
# What is seen without a stop.
ROWS += [untouched, gaps, frames, samples, looks, signalled_dump, redis]
