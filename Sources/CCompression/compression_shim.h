// Decompression of hostile bytes into a file, through a small buffer and never beyond a limit: zlib, zstd and xz.
#ifndef CCOMPRESSION_SHIM_H
#define CCOMPRESSION_SHIM_H

#include <errno.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
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

// Takes `size` bytes out of a zlib stream at once; false if it is damaged, or holds fewer or more.
static inline bool ccompression_inflate(const void *bytes, size_t count, void *out, size_t size) {
  struct libdeflate_decompressor *stream = libdeflate_alloc_decompressor();
  bool isWhole = stream && libdeflate_zlib_decompress(stream, bytes, count, out, size, NULL) == LIBDEFLATE_SUCCESS;
  libdeflate_free_decompressor(stream);
  return isWhole;
}

// Straight into the pages of the file. `limit` is the size that the stream states.
static inline int64_t ccompression_zlib(const void *bytes, size_t count, int descriptor, uint64_t limit) {
  off_t start = lseek(descriptor, 0, SEEK_CUR);
  size_t before = (size_t)start % 4096;
  if (limit == 0) return 0;
  if (start < 0 || ftruncate(descriptor, start + (off_t)limit)) return -1;
  uint8_t *pages =
      mmap(NULL, before + limit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, start - (off_t)before);
  if (pages == MAP_FAILED) return -1;
  bool isWhole = ccompression_inflate(bytes, count, pages + before, limit);
  munmap(pages, before + limit);
  return isWhole && lseek(descriptor, start + (off_t)limit, SEEK_SET) >= 0 ? (int64_t)limit : -1;
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

// The checksum of .gnu_debuglink is the CRC-32 of gzip.
static inline uint32_t ccompression_crc32(uint32_t crc, const void *bytes, size_t count) {
  return libdeflate_crc32(crc, bytes, count);
}

#endif
