// sonde-stream: bandwidth by cores, bytes a request, requests a command, sharing and re-reads.
#include <algorithm>
#include <set>

#include "core/parse.h"
#include "core/units.h"
#include "harness/probe.h"

namespace sonde {
namespace {

/// The arrays of all cores together hold so many times what counts as memory: rounding to pages
/// needs a margin.
constexpr double kMargin = 1.1;
/// Where no cache is declared.
constexpr std::int64_t kLeastMemory = 256 * kMiB;
/// Passes over data that stays in a cache: the first may still fetch it.
constexpr std::int64_t kPasses = 8;
constexpr std::int64_t kGrain = 4096;

std::int64_t whole_pages(std::int64_t bytes) {
  return std::max(bytes / kGrain, std::int64_t{1}) * kGrain;
}

/// All instances of the last declared cache; 0 where it is not known.
std::int64_t last_cache_bytes(const DeviceDescription& device) {
  if (device.memory.size() < 2) return 0;  // the last level is the memory itself
  const MemoryLevel& cache = device.memory[device.memory.size() - 2];
  return cache.capacity_bytes.value_or(0) * cache.instances.value_or(1);
}

class Stream : public Probe {
 public:
  const Schema& schema() const override { return stream_schema(); }
  std::string about() const override {
    return "Bandwidth of streaming traffic by cores and kind. Bytes counted: each array once a "
           "pass\n"
           "and core (read and write 1 array, copy 2, triad 3); a read for ownership is not "
           "counted.";
  }

  void add_options(CommandLine& line) override {
    line.text("--bytes", bytes_text_,
              "bytes of one array of one core (default: caches and memory, by what is declared)");
    line.text("--request-bytes", request_text_,
              "bytes of one access or request (default: the device's own)");
    line.text("--requests", requests_text_, "requests one command carries (default: the device's)");
    line.text("--kind", kind_text_, "read, write, copy, triad (default: all the device has)");
    line.choice("--store", store_, {"default", "ordinary", "nt"},
                "stores of write, copy and triad: nt goes past the caches (default: all the device "
                "has)");
    line.choice("--addresses", addresses_, {"private", "shared"},
                "each core its own arrays, or all the same (with --bytes)");
    line.text("--passes", passes_text_, "passes over the same bytes (with --bytes; default: 1)");
    line.text("--tile", shape_.tile, "bytes a core holds in one buffer (default: one command)");
    line.text("--buffers", shape_.buffers, "tiles a core holds at once (default: the device's)");
    line.choice("--pattern", shape_.pattern, {"same", "staggered"},
                "shared addresses: all cores in step, or each from another place");
    line.text("--reread", shape_.reread, "times each tile is read before the next (default: 1)");
    line.text("--alignment", shape_.alignment, "bytes that arrays and rows are aligned to");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    most_ = device.memory_bytes;
    points_.clear();
    offer_ = device.stream;
    if (offer_.kinds.empty()) {
      Place place{selection.cores.value_or(device.cores), kGrain, 1, false, 1, 64};
      add("read", "none", place, "this device has no stream engine");
      return std::move(points_);
    }
    const std::vector<std::string> kinds =
        kind_text_ ? parse_names(*kind_text_, "--kind", offer_.kinds) : offer_.kinds;
    std::vector<std::int64_t> request_sizes = offer_.request_bytes;
    if (request_text_) {
      request_sizes = parse_list(*request_text_, "--request-bytes", true, 1, kMostArray);
    }
    std::int64_t requests = offer_.requests;
    if (requests_text_) requests = parse_one(*requests_text_, "--requests", false, 1, 65536);
    read_shape();
    if (bytes_text_) {
      asked(selection, kinds, request_sizes, requests);
    } else {
      if (passes_text_ || addresses_ != "private") {
        throw UsageError("--passes and --addresses: only with --bytes");
      }
      if (shape_.asked()) {
        throw UsageError(
            "--tile, --buffers, --pattern, --reread and --alignment: only with --bytes");
      }
      standard(selection, kinds, request_sizes, requests);
    }
    return std::move(points_);
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all;
    if (bytes_text_) all["bytes"] = *bytes_text_;
    if (request_text_) all["request-bytes"] = *request_text_;
    if (requests_text_) all["requests"] = *requests_text_;
    if (kind_text_) all["kind"] = *kind_text_;
    if (passes_text_) all["passes"] = *passes_text_;
    if (store_ != "default") all["store"] = store_;
    if (addresses_ != "private") all["addresses"] = addresses_;
    if (shape_.tile) all["tile"] = *shape_.tile;
    if (shape_.buffers) all["buffers"] = *shape_.buffers;
    if (shape_.pattern != "same") all["pattern"] = shape_.pattern;
    if (shape_.reread) all["reread"] = *shape_.reread;
    if (shape_.alignment) all["alignment"] = *shape_.alignment;
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    StreamWork work;
    work.cores = parse_core_set(axis<std::string>(schema(), point, "cores"));
    work.kind = axis<std::string>(schema(), point, "kind");
    work.bytes = axis<std::int64_t>(schema(), point, "bytes");
    work.request_bytes = axis<std::int64_t>(schema(), point, "request_bytes");
    work.requests = axis<std::int64_t>(schema(), point, "requests");
    work.shared = axis<std::string>(schema(), point, "addresses") == "shared";
    work.passes = axis<std::int64_t>(schema(), point, "passes");
    const std::string& store = axis<std::string>(schema(), point, "store");
    if (store != "none") work.store = store;
    work.seed = trial.seed;
    work.tile_bytes = whole(point, "tile_bytes");
    work.buffers = whole(point, "buffers");
    work.reread = whole(point, "reread").value_or(1);
    work.alignment = whole(point, "alignment_bytes").value_or(work.alignment);
    if (work.shared) work.pattern = axis<std::string>(schema(), point, "pattern");
    if (work.shaped() && device.stream() != nullptr && !device.shapes_streams()) {
      throw Skip("no tiles, buffers, order, re-reads or alignment can be asked of " +
                 device.description().name);
    }
    Sample sample = run_verified(device, device.stream(), "stream", work, trial);
    set(schema(), row, "moved_bytes", work.moved_bytes());
    set(schema(), row, "bandwidth_bytes_per_s",
        (Bytes(work.moved_bytes()) / sample.elapsed).value());
    set(schema(), row, "counting",
        work.reread == 1 ? "each array once a pass and core" : "each array as often as it is read");
    return sample;
  }

 private:
  static constexpr std::int64_t kMostArray = 4096 * kGiB;

  struct Place {
    std::vector<CoreName> cores;
    std::int64_t bytes = 0;  ///< of one array of one core
    std::int64_t requests = 1;
    bool shared = false;
    std::int64_t passes = 1;
    std::int64_t request_bytes = 0;
  };

  void add(const std::string& kind, const std::string& store, const Place& place,
           std::string skip = "") {
    Point point;
    point.axes = {format_core_set(place.cores),
                  kind,
                  place.bytes,
                  place.request_bytes,
                  place.requests,
                  place.shared ? "shared" : "private",
                  place.passes,
                  store,
                  shape_.tile_bytes,
                  shape_.buffers_count,
                  place.shared ? Cell(shape_.pattern) : Cell(),
                  shape_.reread_count,
                  shape_.alignment_bytes};
    for (const Cell& cell : point.axes) {
      if (cell.index() == 0) continue;  // not asked for
      point.label += (point.label.empty() ? "" : "/") + format_cell(cell);
    }
    StreamWork work;
    work.kind = kind;
    const auto cores = static_cast<std::int64_t>(place.cores.size());
    // Divided, because the product of a large size and many cores passes 2^63.
    const std::int64_t parts = work.arrays() * (place.shared ? 1 : cores);
    if (skip.empty() && most_ && place.bytes > *most_ / parts) {
      skip = std::to_string(parts) + " arrays of " + format_size(Bytes(place.bytes)) +
             " are beyond the " + format_size(Bytes(*most_)) + " this device may allocate";
    }
    point.skip = std::move(skip);
    // 10 GB/s, and touching every page first: for --dry-run and a budget's first guess.
    point.estimate_s = 1e-3 + static_cast<double>(place.bytes) * static_cast<double>(parts) *
                                  static_cast<double>(1 + place.passes) / 10e9;
    points_.push_back(std::move(point));
  }

  /// With every kind of store that was asked for, or only the usual one; a read has none.
  void add_stores(const std::string& kind, const Place& place, bool usual_only = false) {
    if (kind == "read") return add(kind, "none", place);
    if (store_ != "default") return add(kind, store_, place);
    for (const std::string& store : offer_.stores) {
      add(kind, store, place);
      if (usual_only) break;
    }
  }

  static std::optional<std::int64_t> whole(const Point& point, std::string_view name) {
    const Cell& cell = point.axes[stream_schema().index(name)];
    if (const auto* value = std::get_if<std::int64_t>(&cell)) return *value;
    return std::nullopt;
  }

  void read_shape() {
    const auto cell = [](const std::optional<std::string>& text, const char* option, bool size,
                         std::int64_t most) {
      return text ? Cell(parse_one(*text, option, size, 1, most)) : Cell();
    };
    shape_.tile_bytes = cell(shape_.tile, "--tile", true, kMostArray);
    shape_.buffers_count = cell(shape_.buffers, "--buffers", false, 1024);
    shape_.reread_count = cell(shape_.reread, "--reread", false, 1'000'000);
    shape_.alignment_bytes = cell(shape_.alignment, "--alignment", true, kMostArray);
    if (shape_.pattern != "same" && addresses_ != "shared") {
      throw UsageError("--pattern " + shape_.pattern + ": only with --addresses shared");
    }
  }

  void asked(const Selection& selection, const std::vector<std::string>& kinds,
             const std::vector<std::int64_t>& request_sizes, std::int64_t requests) {
    std::int64_t passes = 1;
    if (passes_text_) passes = parse_one(*passes_text_, "--passes", false, 1, 1'000'000);
    for (std::int64_t bytes : parse_list(*bytes_text_, "--bytes", true, 1, kMostArray)) {
      for (std::int64_t request :
           request_text_ ? request_sizes : std::vector<std::int64_t>{request_sizes.front()}) {
        for (const std::string& kind : kinds) {
          add_stores(kind, {selection.cores.value_or(
                                selection.device.cores_of(selection.device.kinds().front())),
                            bytes, requests, addresses_ == "shared", passes, request});
        }
      }
    }
  }

  /// Memory by number of cores, kind, store and request; caches by re-reading; shared addresses.
  void standard(const Selection& selection, const std::vector<std::string>& kinds,
                const std::vector<std::int64_t>& request_sizes, std::int64_t requests) {
    const DeviceDescription& device = selection.device;
    std::vector<std::int64_t> caches;
    for (std::size_t i = 0; i + 1 < device.memory.size(); ++i) {
      if (const auto bytes = device.memory[i].capacity_bytes) caches.push_back(*bytes);
    }
    const std::int64_t from = device.memory_from_bytes().value_or(0);
    const std::int64_t last = last_cache_bytes(device);
    const std::int64_t memory =
        std::max(kLeastMemory, static_cast<std::int64_t>(kMargin * static_cast<double>(from)));
    const std::vector<CoreName> chosen = selection.cores.value_or(device.cores);
    const std::int64_t request = request_sizes.front();
    const auto share = [](std::int64_t total, std::size_t cores) {
      return whole_pages(total / static_cast<std::int64_t>(cores));
    };
    // Filling and checking arrays beyond a cache takes a real device longer than all else.
    const bool brief = selection.quick && device.time_source != TimeSource::modelled;
    bool first_kind = true;
    for (const std::string& core_kind : device.kinds()) {
      std::vector<CoreName> cores;
      std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(cores),
                   [&](const CoreName& core) { return core.kind == core_kind; });
      if (cores.empty()) continue;
      const std::size_t all = cores.size();
      for (const std::string& kind : kinds) {
        add_stores(kind, {cores, share(memory, all), requests, false, 1, request}, brief);
      }
      const bool reads = std::find(kinds.begin(), kinds.end(), "read") != kinds.end();
      const auto some = [&](std::size_t count) {
        return std::vector<CoreName>(cores.begin(),
                                     cores.begin() + static_cast<std::ptrdiff_t>(count));
      };
      for (std::size_t count = 1; count < all; count *= selection.quick ? 4 : 2) {
        for (const std::string& kind : kinds) {
          if (selection.quick && kind != "read") continue;
          add_stores(kind, {some(count), share(memory, count), requests, false, 1, request}, true);
        }
      }
      // What stays in a cache: half of it for all cores together, and of each core's own.
      if (last > 0 && !brief) {
        for (const std::string& kind : kinds) {
          if (selection.quick && kind != "read") continue;
          add_stores(kind, {cores, share(last / 2, all), requests, false, kPasses, request}, true);
        }
        if (reads) {
          add("read", "none", {cores, whole_pages(last / 2), requests, true, kPasses, request});
        }
      }
      if (!first_kind) continue;
      first_kind = false;
      if (!caches.empty()) caches.pop_back();  // the last one was walked above
      for (std::int64_t cache : caches) {
        for (const std::string& kind : kinds) {
          if (selection.quick && kind != "read") continue;
          add_stores(kind, {some(1), whole_pages(cache / 2), requests, false, kPasses, request},
                     true);
        }
      }
      if (!reads) continue;
      for (std::int64_t size : brief ? std::vector<std::int64_t>{request} : request_sizes) {
        for (std::int64_t count : std::set<std::int64_t>{1, requests}) {
          add("read", "none", {cores, share(memory, all), count, false, 1, size});
        }
      }
    }
  }

  /// How a core's bytes are cut, ordered and repeated, as asked; an empty cell: not asked.
  struct Shape {
    std::optional<std::string> tile, buffers, reread, alignment;
    std::string pattern = "same";
    Cell tile_bytes, buffers_count, reread_count, alignment_bytes;
    bool asked() const { return tile || buffers || reread || alignment || pattern != "same"; }
  } shape_;
  std::optional<std::string> bytes_text_, request_text_, requests_text_, kind_text_, passes_text_;
  std::string store_ = "default";
  std::string addresses_ = "private";
  StreamOffer offer_;
  std::optional<std::int64_t> most_;
  std::vector<Point> points_;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Stream>(); }

}  // namespace sonde
