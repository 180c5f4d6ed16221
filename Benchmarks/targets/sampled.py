"""An asyncio loop that stalls when it is told to: `block SECONDS` sleeps, `compute SECONDS` computes, in two functions."""

import asyncio
import sys
import time


def parse_rows(end):
    total = 0
    while time.monotonic() < end:
        total += sum(value * value for value in range(2000))
    return total


def sort_rows(end):
    while time.monotonic() < end:
        sorted((value * 7919) % 1000 for value in range(1000))


def obey(words):
    how, seconds = words[0], float(words[1])
    end = time.monotonic() + seconds
    if how == "block":
        time.sleep(seconds)
    while time.monotonic() < end:
        parse_rows(min(end, time.monotonic() + 0.02))
        sort_rows(min(end, time.monotonic() + 0.01))
    print("over", flush=True)


async def main():
    loop = asyncio.get_running_loop()
    commands = asyncio.Queue()
    loop.add_reader(sys.stdin, lambda: commands.put_nowait(sys.stdin.readline().split()))
    print("ready", flush=True)
    while words := await commands.get():
        obey(words)


asyncio.run(main())
