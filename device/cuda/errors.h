#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace sonde::cuda {

/// What an error code of the runtime means for the point that met it.
enum class Fault {
  memory,   ///< no room: the point is skipped
  call,     ///< this call alone failed
  context,  ///< every later call of this process fails too, until its context is made anew
};
Fault fault_of(cudaError_t code);

/// Nothing for success. Throws Skip for memory, else PointFailure, naming `what` and the error.
/// A lost context is remembered.
void check(cudaError_t code, const std::string& what);

/// Whether check() saw the context of this process lost since the last forget_lost_context().
bool context_is_lost();
void forget_lost_context();

}  // namespace sonde::cuda
