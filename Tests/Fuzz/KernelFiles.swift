// Files of `/proc` in which the target chose some of the bytes.

import Linux
import Observation
import StallCore
import TestSupport

extension FuzzedParser {
  static var kernelFiles: [FuzzedParser] {
    [
      FuzzedParser("stat", seeds: [file("stat"), hostileStat]) { text in
        guard let stat = ThreadStat(text.span) else { return }
        expect(
          stat.name.lowerBound > 0 && stat.name.upperBound < text.count, "the name lies outside the text")
      },
      FuzzedParser("status", seeds: [file("status")]) { _ = ProcessStatus($0.span) },
      FuzzedParser("schedstat", seeds: [file("schedstat")]) { _ = SchedulerStatistics($0.span) },
      FuzzedParser("sched", seeds: [file("sched")]) { _ = SchedulerDetail($0.span) },
      FuzzedParser("syscall", seeds: systemCalls) { _ = SystemCallRecord($0.span) },
      FuzzedParser("maps", seeds: [Array(file("maps").prefix(2048)), hostileMaps], run: readMaps),
      FuzzedParser("cgroup", seeds: [file("cgroup"), Array("0::/a:b/c\n1:freezer:/d\n".utf8)]) { text in
        _ = CgroupFreezer.unifiedPath(in: text)
        _ = CgroupFreezer.freezerPath(in: text)
        _ = CgroupQuota.controllerPath(in: text)
      },
      FuzzedParser("wchan", texts: ["do_epoll_wait", "futex_do_wait.isra.0\n", "0"]) {
        _ = KernelFunction.kind(of: $0.span)
      },
      FuzzedParser("statm", seeds: [file("statm"), Array("18446744073709551615 1\n".utf8)]) {
        _ = MemorySize($0.span)
      },
      FuzzedParser("kernel-stack", texts: [kernelStack]) { text in
        let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
        expect(KernelFrame.frames(of: text).count <= lines, "more functions than lines")
      },
      FuzzedParser(
        "task-sample", seeds: [[UInt8](0...255), [UInt8](repeating: 255, count: 512)], run: readTasks),
      FuzzedParser("surroundings", texts: surroundings) { text in
        _ = CgroupQuota.parse(text.span)
        _ = PressureFile.parse(text.span)
        _ = StolenTime.parse(text.span)
        _ = MachineIdleTime.parse(text.span)
        _ = KernelRelease(text.span)
      },
      FuzzedParser("kallsyms", texts: [kernelSymbols], run: findKernelSymbols),
      FuzzedParser(
        "types", seeds: [TypeTableBuilder.kernel.bytes, TypeTableBuilder.program.bytes], run: reduceTypes),
      perfRecords, perfRecordsOfTheKernel,
    ]
  }

  private static func file(_ name: String) -> [UInt8] {
    (try? readPseudoFile("/proc/thread-self/\(name)", limit: Mutator.mostBytes)) ?? []
  }

  private static var hostileStat: [UInt8] {
    Array("7 (a) R 1 2) S 1 7 7 0 -1 4194304".utf8) + Array(String(repeating: " 4", count: 44).utf8)
  }

  private static var systemCalls: [[UInt8]] {
    ["running\n", "-1 0x7fff0 0x401000\n", "232 0x7 0x7fff 0x400 0xffffffffffffffff 0 0x8 0x7ffe 0x40\n"]
      .map { Array($0.utf8) }
  }

  private static let surroundings = [
    "usage_usec 9\nnr_periods 5\nnr_throttled 4\nthrottled_usec 18446744073709551615\n",
    "nr_throttled 4\nthrottled_time 99\n", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3\n",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\nfull avg10=0.00 total=1\n",
    "350735.47 234388.90\n", "6.1.0-13-amd64\0",
  ]

  private static let kernelStack = """
    [<0>] ep_poll+0x3a1/0x3d0
    [<0>] fuse_dev_do_read+0xffffffffffffffff/0x1 [fuse]
    [<0>] 0xffffffffc0a00040

    """

  private static var hostileMaps: [UInt8] {
    Array(
      """
      00400000-00500000 r-xp 00000000 08:01 12                         /tmp/my app  dir/a\\012b (deleted)
      00500000-00600000 rw-p 00000000 00:00 0 \n7ffd0000-7ffe0000 rw-p 00000000 00:00 0                    [stack]
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]

      """.utf8)
  }

  /// The promise is: ascending, and none overlapping another.
  private static func readMaps(_ text: [UInt8]) {
    let map = MemoryMap(parsing: text)
    var end: UInt64 = 0
    for region in map.regions {
      expect(region.start >= end && region.start < region.end, "the mappings are out of order")
      end = region.end
      expect(map.region(containing: region.start) == region, "a mapping is not found")
      expect(map.region(containing: region.end - 1) == region, "a mapping's last byte is not found")
    }
    for address in [0, end, .max] { _ = map.region(containing: address) }
  }
}

// None of these bytes is the target's. But what the kernel tells of its types is read in the watch itself.
extension FuzzedParser {
  private static func reduceTypes(_ bytes: [UInt8]) {
    guard let kernel = TypeTable(KernelBytes(bytes)),
      let program = TypeTable(KernelBytes(TypeTableBuilder.program.bytes))
    else { return }
    let reduced = ReducedTypes(of: kernel, for: program).bytes
    expect(TypeTable(KernelBytes(reduced)) != nil, "the smaller table is none")
    _ = ReducedTypes(of: program, for: kernel)
  }
}

// What the task iterator writes: one record after the other, or one in the memory that it shares.
extension FuzzedParser {
  private static func readTasks(_ bytes: [UInt8]) {
    let data = unsafe bytes.span.bytes
    for position in stride(from: 0, through: bytes.count, by: 8) {
      if let thread = ThreadSample(data, at: position) {
        expect(position + ThreadSample.byteCount <= bytes.count, "a sample lies outside the data")
        read(thread)
      }
      guard let sample = TaskSample(data.extracting(droppingFirst: position)) else { continue }
      read(sample.thread)
      expect((sample.runNanosecondsAtArrival ?? 0) <= sample.thread.runNanoseconds, "it ran before it came")
      _ = (sample.isFrozen, sample.departedAt, sample.image, sample.startTicks)
    }
  }

  private static func read(_ thread: ThreadSample) {
    expect("RSDTtXZPI".utf8.contains(thread.state), "a state that has no letter")
    thread.withName { expect($0.count <= 16, "a name without an end") }
    _ = (thread.isKernelThread, thread.registers, thread.isWide)
  }
}

// The kernel's own records hold registers and stack bytes of the target.
extension FuzzedParser {
  static var perfRecords: FuzzedParser {
    perfRecords("perf-records", PerfSampleLayout(userRegisters: [.rsp, .rip], stackBytes: 32), chain: [])
  }

  static var perfRecordsOfTheKernel: FuzzedParser {
    var layout = PerfSampleLayout(userRegisters: [.rsp, .rip], stackBytes: 32)
    layout.includesKernel = true
    let chain: [UInt64] = [3, 0 &- 128, 0xFFFF_FFFF_8100_0010, 0xFFFF_FFFF_8200_0000]
    return perfRecords("perf-records-of-the-kernel", layout, chain: chain)
  }

  private static func perfRecords(
    _ name: String, _ layout: PerfSampleLayout, chain: [UInt64]
  ) -> FuzzedParser {
    let body = [77] + chain + [2, 0x7000, 0x4000, 32, 1, 2, 3, 4, 32]
    let words = [9 | UInt64(body.count + 1) * 8 << 48] + body
    return FuzzedParser(name, seeds: [words.flatMap(\.inputBytes)]) { bytes in
      var position = 0
      var last = -1
      while let record = unsafe PerfRecord.next(in: bytes.span.bytes, at: &position, layout) {
        expect(position > last && position <= bytes.count, "a record ends outside the data")
        last = position
        guard case .sample(let sample) = record else { continue }
        expect(
          sample.stack.lowerBound >= 0 && sample.stack.upperBound <= position,
          "a stack lies outside its record")
        expect(
          sample.kernelAddresses.count <= 127 && sample.kernelAddresses.allSatisfy { $0 >> 63 == 1 },
          "an address is none of the kernel")
      }
    }
  }

  private static let kernelSymbols = """
    0000000000000000 A fixed_percpu_data
    ffffffff81000000 T _stext
    ffffffff81000040 t ksys_read
    ffffffffc0a00000 t helper\t[module]

    """

  private static func findKernelSymbols(_ text: [UInt8]) {
    var symbols = KernelSymbols()
    let used = symbols.take(text.span)
    expect(used <= text.count, "more was taken than was there")
    symbols.finish()
    for address in [0, 1, 0xFFFF_FFFF_8100_0000, 0xFFFF_FFFF_8100_0041, .max] as [UInt64] {
      guard let symbol = symbols.symbol(at: address) else { continue }
      expect(symbol.start <= address, "a function begins behind its address")
    }
  }
}
