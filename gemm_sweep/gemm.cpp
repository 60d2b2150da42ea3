// sonde-gemm: the GEMM sweep, 1,055 shapes of open-weight models by default.
#include <algorithm>

#include "core/parse.h"
#include "gemm_sweep/order.h"
#include "harness/probe.h"

namespace sonde {
namespace {

class Gemm : public Probe {
 public:
  const Schema& schema() const override { return gemm_schema(); }
  std::string about() const override {
    return "Time of C[M,N] = A[M,K] x B[K,N] over many shapes, checked against a reference. The "
           "rate\n"
           "counts useful work, 2 M N K.";
  }

  void add_options(CommandLine& line) override {
    line.text("--shape", shape_text_, "MxNxK, or several separated by commas");
    line.text("--shapes", file_, "CSV file with columns m, n, k and, optionally, label");
    line.text("--dtype", dtype_text_, "types of the operands (default: bf16, or the device's own)");
    line.text("--blocks", blocks_text_, "most cores to use, or several numbers (default: all)");
    line.text("--kernel", kernel_, "auto (the device's own choice) or one it can force");
    line.flag("--warm", warm_,
              "the same operands each time (default: rotated beyond the last cache)");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (shape_text_ && file_) throw UsageError("--shape and --shapes exclude each other");
    if (blocks_text_ && selection.cores) {
      throw UsageError("--blocks and --cores exclude each other");
    }
    const bool offered = !device.gemm.kernels.empty();
    if (offered && parse_names(kernel_, "--kernel", device.gemm.kernels).size() != 1) {
      throw UsageError("--kernel " + kernel_ + ": one kernel a sweep");
    }
    std::vector<std::string> dtypes = {offered ? device.gemm.dtypes.front() : "bf16"};
    // What the device cannot multiply is skipped by it with the reason.
    if (dtype_text_) dtypes = parse_names(*dtype_text_, "--dtype", all_types());
    std::vector<Cell> blocks = {Cell()};
    if (blocks_text_) {
      blocks.clear();
      for (std::int64_t n : parse_list(*blocks_text_, "--blocks", false, 1, 65536)) {
        blocks.emplace_back(n);
      }
    }
    cores_ = selection.cores ? Cell(format_core_set(*selection.cores)) : Cell();
    const std::vector<Shape> shapes = shape_text_ ? parse_shapes(*shape_text_, "--shape")
                                      : file_     ? read_shapes(*file_)
                                                  : standard_shapes();
    const auto ways = static_cast<std::int64_t>(dtypes.size() * blocks.size());
    std::vector<Point> points;
    const std::vector<Visit> visits = visits_of(
        shapes, {.budget_s = selection.budget_s,
                 .seed = selection.seed,
                 .listed = selection.listed,
                 .estimate_s = [&](const Shape& shape) { return estimate_s(shape, device); }});
    sweep_ = visits.size() > shapes.size();
    // Shape after shape, so that packed weights and rotated operands are kept between the
    // repetitions of one: making them takes longer than most products. Types and numbers of cores
    // take turns at each.
    std::int64_t turn = 0;
    for (const std::string& dtype : dtypes) {
      for (const Cell& most : blocks) {
        for (const Visit& visit : visits) {
          for (const Way& way : ways_of(visit, dtype, device.gemm)) {
            Point point = point_of(visit, way, most, offered);
            point.estimate_s = estimate_s(visit.shape, device);
            point.batch = visit.turn * ways + turn;
            points.push_back(std::move(point));
          }
        }
        ++turn;
      }
    }
    return points;
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all = {{"kernel", kernel_}};
    if (shape_text_) all["shape"] = *shape_text_;
    if (file_) all["shapes"] = *file_;
    if (dtype_text_) all["dtype"] = *dtype_text_;
    if (blocks_text_) all["blocks"] = *blocks_text_;
    if (warm_) all["warm"] = "yes";
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    GemmWork work;
    work.m = axis<std::int64_t>(schema(), point, "m");
    work.n = axis<std::int64_t>(schema(), point, "n");
    work.k = axis<std::int64_t>(schema(), point, "k");
    work.dtype = axis<std::string>(schema(), point, "dtype");
    work.kernel = axis<std::string>(schema(), point, "kernel");
    work.seed = trial.seed;
    const Cell& blocks = point.axes[schema().index("blocks")];
    if (const auto* most = std::get_if<std::int64_t>(&blocks)) work.blocks = *most;
    const Cell& cores = point.axes[schema().index("cores")];
    if (const auto* set = std::get_if<std::string>(&cores)) work.cores = parse_core_set(*set);
    work.warm = axis<std::string>(schema(), point, "state") == "warm";
    if (sweep_) settle(device, work);
    Sample sample = run_verified(device, device.gemm(), "GEMM", work, trial);
    // A device that places a product itself shows it by the cores that ran.
    const bool more =
        work.blocks && (sample.placement.empty() ||
                        static_cast<std::int64_t>(sample.placement.size()) > *work.blocks);
    const bool others =
        !work.cores.empty() && format_core_set(sample.placement) != format_core_set(work.cores);
    if (more || others) throw Skip("this device chooses the cores of a GEMM itself");
    for (const auto& [pipe, time] : sample.busy) {
      set(schema(), row, pipe + "_busy_s", time.value());
    }
    set(schema(), row, "flop", work.flop());
    set(schema(), row, "flop_per_s", work.flop() / sample.elapsed.value());
    set(schema(), row, "least_bytes", work.least_bytes());
    set(schema(), row, "intensity_flop_per_byte", work.intensity());
    return sample;
  }

 private:
  /// An accelerator's clock falls within the first seconds of heavy products: the shapes that come
  /// first would be measured at another clock than the rest. A CPU's clock settles within a run.
  void settle(Device& device, GemmWork work) {
    constexpr double kSettleSeconds = 3;
    const TimeSource source = device.description().time_source;
    if (settled_ || source == TimeSource::host_clock || device.gemm() == nullptr) return;
    settled_ = true;
    work.m = work.n = work.k = 8192;
    work.kernel = "auto";
    // Modelled time begins with the step; a resume goes on from where it was, settled.
    const double end = kSettleSeconds + (source == TimeSource::modelled ? 0 : device.now().value());
    try {
      device.gemm()->prepare(work);
      while (device.now().value() < end) device.gemm()->run({work.seed, -1, 0});
    } catch (const Skip&) {
      // a device too small for it settles with what it measures
    }
  }

  static std::vector<std::string> all_types() {
    std::vector<std::string> names;
    for (const GemmType& type : kGemmTypes) names.emplace_back(type.name);
    return names;
  }

  /// For --dry-run and a budget's first guess, which later samples correct: at the device's stated
  /// roofs, else at what a server CPU core or two do, and filling the operands.
  static double estimate_s(const Shape& shape, const DeviceDescription& device) {
    const GemmWork work = work_of(shape);
    return 1e-3 + work.flop() / device.roof("bf16_flop_per_s").value_or(300e9) +
           work.least_bytes() / device.roof("memory_bytes_per_s").value_or(10e9);
  }

  struct Way {
    std::string dtype, kernel;
  };
  /// How a visit is made: as asked, but a register loop also in FP32 and without matrix units, for
  /// comparison, where the device has such loops.
  std::vector<Way> ways_of(const Visit& visit, const std::string& dtype,
                           const GemmOffer& offer) const {
    if (visit.role != kRegisterRole) return {{dtype, kernel_}};
    const auto has = [&](const char* kernel) {
      return std::find(offer.kernels.begin(), offer.kernels.end(), kernel) != offer.kernels.end();
    };
    if (!has(kRegisterKernel) || kernel_ == kRegisterKernel) return {};
    std::vector<Way> ways = {{dtype, kRegisterKernel}};
    if (has(kRegisterVectorKernel) && dtype == "bf16") {
      ways.push_back({dtype, kRegisterVectorKernel});
    }
    if (dtype != "fp32") ways.push_back({"fp32", kRegisterKernel});
    return ways;
  }

  Point point_of(const Visit& visit, const Way& way, const Cell& blocks, bool offered) const {
    const Shape& shape = visit.shape;
    const auto text = [](const std::string& words) { return words.empty() ? Cell() : Cell(words); };
    Point point;
    point.axes = {shape.m,    shape.n,           shape.k, way.dtype,
                  way.kernel, text(shape.label), blocks,  warm_ ? "warm" : "rotated",
                  cores_,     text(visit.role)};
    point.label =
        std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
    point.skip = visit.skip;
    if (!offered) {
      point.skip = "this device has no GEMM engine";
    } else if (shape.m == 0 || shape.n == 0 || shape.k == 0) {
      point.skip = "no work: a dimension is 0";
    }
    return point;
  }

  std::optional<std::string> blocks_text_;
  std::optional<std::string> shape_text_;
  std::optional<std::string> file_;
  std::optional<std::string> dtype_text_;
  std::string kernel_ = "auto";
  bool warm_ = false;
  bool sweep_ = false;    ///< more than a few shapes
  bool settled_ = false;  ///< the device, by this process
  Cell cores_;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Gemm>(); }

}  // namespace sonde
