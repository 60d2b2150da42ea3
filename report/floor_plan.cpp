#include "report/floor_plan.h"

#include <algorithm>
#include <cmath>

#include "report/plot_script.h"

namespace sonde {
namespace {

// In core boxes.
constexpr double kGap = 0.25;
constexpr double kTitle = 0.7;  // above what is inside a group
constexpr double kCoreHeight = 0.6;
constexpr double kWiderThanHigh = 1.7;

/// Fills by depth, light to dark, cores last.
constexpr const char* kFills[] = {"#eef3f8", "#dbe7f2", "#c4d8ea", "#adc8e2"};
constexpr const char* kCoreFill = "#ffffff";

/// One group or core with what is inside it, laid out from (0, 0).
struct Plan {
  double width = 0, height = 0;
  std::vector<FloorBox> boxes;
};

Plan core_plan(const CoreName& core, int depth) {
  return {1, kCoreHeight, {{0, 0, 1, kCoreHeight, depth, true, core.str()}}};
}

/// Side by side in rows, as many in a row as make the whole about kWiderThanHigh.
Plan in_rows(const std::vector<Plan>& plans) {
  double area = 0, widest = 0;
  for (const Plan& plan : plans) {
    area += (plan.width + kGap) * (plan.height + kGap);
    widest = std::max(widest, plan.width);
  }
  const double most = std::max(widest, std::sqrt(area * kWiderThanHigh));
  Plan all;
  double x = 0, y = 0, row = 0;
  for (const Plan& plan : plans) {
    if (x > 0 && x + plan.width > most + 1e-9) {
      x = 0;
      y += row + kGap;
      row = 0;
    }
    for (FloorBox box : plan.boxes) {
      box.left += x;
      box.right += x;
      box.bottom += y;
      box.top += y;
      all.boxes.push_back(std::move(box));
    }
    all.width = std::max(all.width, x + plan.width);
    row = std::max(row, plan.height);
    x += plan.width + kGap;
  }
  all.height = y + row;
  return all;
}

Plan group_plan(const TreeNode& node, const std::string& text, int depth) {
  std::vector<Plan> plans;
  for (std::size_t g = 0; g < node.inside.size(); ++g) {
    plans.push_back(group_plan(node.inside[g], std::to_string(g + 1), depth + 1));
  }
  for (const CoreName& core : node.cores) plans.push_back(core_plan(core, depth + 1));
  const Plan inside = in_rows(plans);
  Plan plan{inside.width + 2 * kGap, inside.height + kGap + kTitle, {}};
  plan.boxes.push_back({0, 0, plan.width, plan.height, depth, false, text});
  for (FloorBox box : inside.boxes) {
    box.left += kGap;
    box.right += kGap;
    box.bottom += kTitle;
    box.top += kTitle;
    plan.boxes.push_back(std::move(box));
  }
  return plan;
}

std::string number(double value) { return std::to_string(value); }

}  // namespace

std::vector<FloorBox> floor_plan(const CoreTree& tree) {
  return group_plan(nested(tree, tree.order), "", -1).boxes;
}

int floor_plan_height(const std::vector<FloorBox>& boxes) {
  if (boxes.empty()) return 200;
  const double shape = boxes.front().top / boxes.front().right;
  return static_cast<int>(std::clamp(120 + 900 * shape, 240.0, 1600.0));
}

void write_floor_plan(std::ostream& out, const std::vector<FloorBox>& boxes, double units) {
  const double width = boxes.front().right, height = boxes.front().top;
  // Downwards, so that the first group is at the top left.
  out << "unset border\nunset tics\nunset key\nunset grid\nset xrange [0:" << number(width)
      << "]\nset yrange [" << number(height) << ":0]\nset lmargin 1\nset rmargin 1\n";
  const double scale = std::min(1.0, 14 / width * units / 960);  // names shrink with their boxes
  const int core_size = std::max(3, static_cast<int>(std::lround(11 * scale)));
  int object = 1;
  for (const FloorBox& box : boxes) {
    if (box.depth < 0) continue;
    const char* fill = box.core ? kCoreFill
                                : kFills[std::min<std::size_t>(static_cast<std::size_t>(box.depth),
                                                               std::size(kFills) - 1)];
    out << "set object " << object << " rectangle from " << number(box.left) << ", "
        << number(box.bottom) << " to " << number(box.right) << ", " << number(box.top)
        << " front fillcolor rgb '" << fill
        << "' fillstyle solid 1 border linecolor rgb '#5b7083' linewidth 1\n";
    if (!box.text.empty()) {
      const double x = box.core ? (box.left + box.right) / 2 : box.left + kGap;
      const double y = box.core ? (box.bottom + box.top) / 2 : box.bottom + kTitle / 2;
      out << "set label " << object << ' ' << plot_text(box.text, 16) << " at " << number(x) << ", "
          << number(y) << (box.core ? " center" : " left") << " front noenhanced font ',"
          << core_size << "' textcolor rgb '#223344'\n";
    }
    ++object;
  }
  out << "plot NaN notitle\n";
}

}  // namespace sonde
