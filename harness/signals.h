#pragma once

namespace sonde {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP that only set a flag: the sample being taken is
/// finished and written, then the run ends with exit 3. A second signal ends the program at once.
/// SIGPIPE is ignored, so that a closed pipe becomes a write error with a message.
void catch_signals();

/// The signal that arrived, 0 if none.
int caught_signal();

}  // namespace sonde
