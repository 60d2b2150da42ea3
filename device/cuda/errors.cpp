#include "device/cuda/errors.h"

#include <atomic>

#include "core/error.h"

namespace sonde::cuda {
namespace {

/// As the runtime itself: one context a process.
std::atomic<bool> lost{false};

}  // namespace

Fault fault_of(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return Fault::memory;
    // Errors of a running kernel or of the chip: driver_types.h says of each that "this leaves the
    // process in an inconsistent state and any further CUDA work will return the same error".
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return Fault::context;
    default:
      return Fault::call;
  }
}

void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // what is not lost must not fail the next call too
  const std::string text =
      what + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  const Fault fault = fault_of(code);
  if (fault == Fault::memory) throw Skip(text);
  if (fault == Fault::context) lost = true;
  throw PointFailure(text);
}

bool context_is_lost() { return lost; }
void forget_lost_context() { lost = false; }

}  // namespace sonde::cuda
