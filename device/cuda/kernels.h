#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::cuda {

/// Threads of a block that sits on a named SM: two such blocks fill an SM of 2,048 threads.
inline constexpr int kSeatThreads = 1024;
/// SMs that a launch can name; a GB200 die pair has 160.
inline constexpr int kMostSms = 256;

/// How blocks find their SM. The grid holds as many blocks as the whole device can hold at once
/// and each waits until all have arrived, so that every SM has some; the first on each named SM
/// takes that SM's role and the others leave. Counters only grow, so nothing is reset in between.
struct Seats {
  std::int16_t role[kMostSms];   ///< of the SM with this number; -1: none
  unsigned long long* arrivals;  ///< in device memory
  unsigned long long target;     ///< arrivals once all blocks of this launch are there
  unsigned* taken;               ///< by SM: the last launch in which its role was taken
  unsigned launch;
};

/// A ring of lines in device memory. Node p of the walk lies at nodes + order[p] * line_bytes and
/// holds the address of the next.
struct Ring {
  char* nodes;
  const std::uint32_t* order;
  std::int64_t lines;
  std::int64_t line_bytes;
};

struct ChaseResult {
  unsigned long long end;  ///< address reached
  unsigned long long cycles;
  unsigned long long ns;  ///< of the walk, on the global timer
  std::int32_t sm;
  std::uint32_t launch;  ///< that wrote this; another: the block did not run
};

struct ProfileResult {
  unsigned long long cycles;
  unsigned long long ns;
  std::uint32_t overhead;  ///< cycles between two readings of the clock with nothing between
  std::uint32_t wrong;     ///< walks that ended at another address
  std::int32_t sm;
  std::uint32_t launch;
};

enum class DuelWork : std::int32_t { none, load, load_throughput, store, register_only };

struct DuelState {
  unsigned long long at_work;  ///< aggressors of all launches that have begun to work
  unsigned opened;             ///< last launch whose window was opened
  unsigned closed;             ///< and closed
};

struct DuelResult {
  unsigned long long begin_ns, end_ns;  ///< victim: its window; aggressor: when it worked
  unsigned long long cycles;            ///< victim: of its window
  unsigned long long operations;        ///< aggressor: of one warp inside the window, in lines
  unsigned long long end;               ///< victim: address reached, or sum of what was read
  std::uint32_t wrong;                  ///< victim: stored words that read back otherwise
  std::int32_t sm;
  std::uint32_t launch;
};

/// Role 0 is the victim, the others are aggressors.
struct Duel {
  Ring ring;                  ///< the victim's
  std::int64_t position;      ///< where its walk is
  std::int64_t loads;         ///< dependent loads timed, or passes of a throughput victim
  char* regions;              ///< one of `region_bytes` a role
  std::int64_t region_bytes;  ///< a multiple of 16 * kSeatThreads
  DuelWork victim;
  DuelWork aggressor;
  unsigned long long at_work;  ///< DuelState::at_work once all aggressors work
  DuelState* state;
  DuelResult* results;  ///< one a role
};

struct StreamResult {
  unsigned long long begin_ns, end_ns;
  std::uint32_t sum;  ///< of the 32-bit words read, modulo 2^32
  std::int32_t sm;
  std::uint32_t launch;
};

enum class StreamKind : std::int32_t { read, write, copy, triad };

/// Arrays of floats; `stride` bytes from one role's array to the next (0: shared).
struct StreamArrays {
  float* target;
  const float* source;
  const float* second;
  std::int64_t stride;
  std::int64_t bytes;  ///< of one array
  std::int64_t passes;
  float value;   ///< that a write stores
  float factor;  ///< of a triad: target = source + factor * second
};

/// Type of the 256 values that operands of a product are made of.
struct GemmFill {
  void* out;
  std::int64_t rows, cols;     ///< of the operand; a row has its own key
  std::int64_t leading;        ///< elements from one stored row to the next
  bool transposed;             ///< stored column by column: element (r, c) at c * leading + r
  std::uint64_t key_base;      ///< key_of's state before the row is mixed in
  const std::uint16_t* table;  ///< bits of each value, in device memory
  bool bytes;                  ///< elements of one byte, else two
};

// Launchers. Each returns cudaGetLastError() of its launch.

/// Waits on the device until *flag (mapped host memory) is `epoch`, at most 2 s; then it writes
/// `epoch` to *gave_up.
cudaError_t launch_gate(cudaStream_t stream, const volatile unsigned* flag, unsigned epoch,
                        volatile unsigned* gave_up);
/// Blocks that one SM can hold at once of each kernel with seats. A launch has that many an SM.
cudaError_t count_latency_seats(int* chase, int* profiles, int* duels);
cudaError_t count_stream_seats(StreamKind kind, int request_bytes, int* streams);
cudaError_t launch_ring(cudaStream_t stream, const Ring& ring, const std::uint32_t* next,
                        std::int64_t copies);
cudaError_t launch_placed_chase(cudaStream_t stream, int blocks, const Seats& seats,
                                const Ring& ring, const std::int64_t* positions, std::int64_t lap,
                                std::int64_t loads, ChaseResult* results);
/// One block an SM by its shared memory; block b walks copy b of the ring from position 0.
cudaError_t launch_free_chase(cudaStream_t stream, std::int64_t blocks, int shared_bytes,
                              const Ring& ring, std::int64_t loads, unsigned launch,
                              ChaseResult* results);
cudaError_t launch_profile(cudaStream_t stream, int blocks, const Seats& seats, char* base,
                           const std::int64_t* offsets, std::int64_t count, int passes,
                           float* cycles, ProfileResult* result);
cudaError_t launch_duel(cudaStream_t stream, int blocks, const Seats& seats, const Duel& duel);
cudaError_t launch_stream(cudaStream_t stream, int blocks, const Seats& seats, StreamKind kind,
                          int request_bytes, const StreamArrays& arrays, StreamResult* results);

/// Copies with all SMs, 16 bytes an access where both addresses allow it.
cudaError_t launch_copy(cudaStream_t stream, int sms, void* target, const void* source,
                        std::int64_t bytes);
/// Fills with the pattern of device/common/pattern.h, each word inverted where asked.
cudaError_t launch_fill(cudaStream_t stream, void* target, std::int64_t bytes, std::uint64_t seed,
                        bool inverted);
/// Lowers *first to the first byte that differs from the pattern.
cudaError_t launch_compare(cudaStream_t stream, const void* found, std::int64_t bytes,
                           std::uint64_t seed, unsigned long long* first);
/// Array of floats: whole numbers below 2^20 from the pattern, or all `value`.
cudaError_t launch_fill_floats(cudaStream_t stream, float* out, std::int64_t count,
                               std::uint64_t seed, bool constant, float value);
/// Adds the words of such an array, made from its formula and not from memory, to *sum.
cudaError_t launch_expected_sum(cudaStream_t stream, std::int64_t count, std::uint64_t seed,
                                unsigned long long* sum);
/// Lowers *first to the first element that is not what the stream should have left.
cudaError_t launch_check_stream(cudaStream_t stream, StreamKind kind, const float* found,
                                std::int64_t count, std::uint64_t seed, std::uint64_t second_seed,
                                float value, float factor, unsigned long long* first);

cudaError_t launch_gemm_fill(cudaStream_t stream, const GemmFill& fill);
/// Adds the number of elements that are not finite (all exponent bits set) to *count.
cudaError_t launch_count_not_finite(cudaStream_t stream, const void* data, std::int64_t elements,
                                    std::uint16_t exponent_mask, bool bytes,
                                    unsigned long long* count);
/// Elements (rows[i], cols[j]) of a row-major matrix of 16-bit elements: read into, or set to NaN.
cudaError_t launch_sample(cudaStream_t stream, std::uint16_t* matrix, std::int64_t leading,
                          const std::int64_t* rows, int row_count, const std::int64_t* cols,
                          int col_count, std::uint16_t* values, bool poison);

}  // namespace sonde::cuda
