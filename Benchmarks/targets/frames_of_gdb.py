"""Run by gdb: prints for each thread of the process the addresses of its frames, innermost first."""

import gdb  # ty: ignore

for thread in gdb.selected_inferior().threads():
    thread.switch()
    print(f"TID {thread.ptid[1] or thread.ptid[0]}:")
    try:
        frame = gdb.newest_frame()
        for number in range(256):
            # Inlined calls share the frame of their caller; tail calls have left none, and are guessed from debug information.
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                print(f"#{number} {frame.pc():#x}")
            frame = frame.older()
            if frame is None:
                break
    except gdb.error as problem:
        print(f"ended: {problem}")
