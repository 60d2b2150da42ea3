#pragma once

#include <cstdint>

// Measurements as one writes them by hand, without anything of the suite: what cuda_bench compares
// the engines with. Seconds by CUDA events; negative where a call failed.
namespace bare {

/// One block an SM, one thread each, `loads` dependent loads past the nearest cache round a ring of
/// `lines` lines of 128 B of its own.
double chase(int blocks, int shared_bytes, std::int64_t lines, std::int64_t loads);
/// One of `count` cudaMemcpyAsync between two buffers of the card.
double copy(std::int64_t bytes, int count);
/// One kernel over arrays of `bytes`: r (read), w (write), c (copy) or t (triad), 16 B an access.
double stream(char kind, int sms, std::int64_t bytes);

}  // namespace bare
