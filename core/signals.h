#pragma once

namespace sonde {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP that only set a flag: what is being measured or
/// drawn is ended in order, then the program ends with exit 3. A second signal ends it at once.
/// SIGPIPE is ignored, so that a closed pipe becomes a write error with a message.
void catch_signals();

/// The signal that arrived, 0 if none.
int caught_signal();

/// Throws Error with ExitCode::interrupted when a signal has arrived: for programs whose files are
/// written whole or not at all, at places where stopping leaves nothing behind.
void stop_if_interrupted();

}  // namespace sonde
