// Decompression of hostile bytes into a file, through a small buffer and never beyond a limit: zlib, zstd and xz.
#ifndef CCOMPRESSION_SHIM_H
#define CCOMPRESSION_SHIM_H

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { ccompression_piece = 65536 };

// memfd_create(2) with MFD_CLOEXEC. The variadic function is declared under _DEFAULT_SOURCE alone.
static inline int ccompression_memory_file(void) { return (int)syscall(SYS_memfd_create, "stallwatch", 1u); }

struct ccompression_output {
  int descriptor;
  uint64_t written;
  uint64_t limit;
};

static inline bool ccompression_write(struct ccompression_output *output, const uint8_t *bytes, size_t count) {
  if (count > output->limit - output->written) return false;
  output->written += count;
  while (count > 0) {
    ssize_t done = write(output->descriptor, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    count -= (size_t)done;
  }
  return true;
}

// Each appends to the file behind `descriptor` and answers how many bytes came out, or −1: damaged, or beyond `limit`.

static inline int64_t ccompression_zlib(const void *bytes, uint32_t count, int descriptor, uint64_t limit) {
  struct ccompression_output output = {descriptor, 0, limit};
  uint8_t piece[ccompression_piece];
  z_stream stream = {.next_in = (uint8_t *)bytes, .avail_in = count};
  if (inflateInit(&stream) != Z_OK) return -1;
  int state = Z_OK;
  bool fits = true;
  while (fits && state == Z_OK) {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    state = inflate(&stream, Z_NO_FLUSH);
    fits = ccompression_write(&output, piece, sizeof piece - stream.avail_out);
  }
  inflateEnd(&stream);
  return fits && state == Z_STREAM_END ? (int64_t)output.written : -1;
}

static inline int64_t ccompression_zstd(const void *bytes, size_t count, int descriptor, uint64_t limit) {
  struct ccompression_output output = {descriptor, 0, limit};
  uint8_t piece[ccompression_piece];
  ZSTD_DStream *stream = ZSTD_createDStream();
  if (!stream) return -1;
  ZSTD_inBuffer in = {bytes, count, 0};
  size_t state = 1;
  bool fits = true;
  // 0 at the end of a frame; an advance of neither side means that the rest is missing.
  while (fits && !ZSTD_isError(state) && (state != 0 || in.pos < in.size)) {
    ZSTD_outBuffer out = {piece, sizeof piece, 0};
    size_t before = in.pos;
    state = ZSTD_decompressStream(stream, &out, &in);
    if (!ZSTD_isError(state)) fits = ccompression_write(&output, piece, out.pos);
    if (state != 0 && out.pos == 0 && in.pos == before) break;
  }
  ZSTD_freeDStream(stream);
  return fits && state == 0 ? (int64_t)output.written : -1;
}

static inline int64_t ccompression_xz(const void *bytes, size_t count, int descriptor, uint64_t limit) {
  struct ccompression_output output = {descriptor, 0, limit};
  uint8_t piece[ccompression_piece];
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, 64 << 20, 0) != LZMA_OK) return -1;
  stream.next_in = (const uint8_t *)bytes;
  stream.avail_in = count;
  lzma_ret state = LZMA_OK;
  bool fits = true;
  while (fits && state == LZMA_OK) {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    state = lzma_code(&stream, LZMA_FINISH);
    fits = ccompression_write(&output, piece, sizeof piece - stream.avail_out);
  }
  lzma_end(&stream);
  return fits && state == LZMA_STREAM_END ? (int64_t)output.written : -1;
}

// The checksum of .gnu_debuglink is zlib's CRC-32.
static inline uint32_t ccompression_crc32(uint32_t crc, const void *bytes, uint32_t count) {
  return (uint32_t)crc32(crc, (const uint8_t *)bytes, count);
}

#endif
