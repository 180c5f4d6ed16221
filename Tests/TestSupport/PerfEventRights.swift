// What this machine allows to perf events, found out by doing it.

internal import Linux

/// Whether we may sample a thread of our own.
package let isSamplingAllowed =
  (try? PerfEvent(PerfEventAttributes(.processorTime(nanoseconds: 1_000_000)), thread: 0, dataPages: 1))
  != nil

/// Whether we may also see what it does in the kernel, by name.
package let isKernelShown: Bool = {
  var layout = PerfSampleLayout(userRegisters: [])
  layout.includesKernel = true
  let attributes = PerfEventAttributes(.processorTime(nanoseconds: 1_000_000), samples: layout)
  return (try? PerfEvent(attributes, thread: 0, dataPages: 1)) != nil
    && (try? KernelSymbols.read()) != nil
}()

/// Whether we may set a breakpoint in one.
package let isBreakpointAllowed =
  (try? ExecutionBreakpoint(thread: 0, address: 0x1000, fires: 1)) != nil
