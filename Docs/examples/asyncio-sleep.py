"""An asyncio program that stalls: each SIGUSR1 calls time.sleep(0.8) in a callback of the loop."""

import asyncio
import os
import signal
import time


def reload_settings():
    time.sleep(0.8)


async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, reload_settings)
    print("ready", os.getpid(), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
