#include "report/gnuplot.h"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/files.h"
#include "core/parse.h"
#include "report/child.h"
#include "report/plot_script.h"

namespace sonde {

bool complete_picture(const std::filesystem::path& path, const std::string& form) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::string content = read_file(path);
  if (form == "png") {
    static constexpr std::string_view kBegin("\x89PNG\r\n\x1a\n", 8);
    static constexpr std::string_view kEnd("IEND\xae\x42\x60\x82", 8);
    return content.size() > kBegin.size() + kEnd.size() && content.starts_with(kBegin) &&
           content.ends_with(kEnd);
  }
  if (form == "pdf") {
    const std::size_t end = content.find_last_not_of("\r\n");
    return content.starts_with("%PDF-") && end != std::string::npos &&
           std::string_view(content).substr(0, end + 1).ends_with("%%EOF");
  }
  const std::size_t last = content.find_last_not_of(" \r\n\t");
  return last != std::string::npos && content.find("<svg") != std::string::npos &&
         std::string_view(content).substr(0, last + 1).ends_with("</svg>");
}

namespace {

/// The lines of a message joined, so that it stays one line.
std::string one_line(const std::string& text) {
  std::istringstream lines(text);
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r^");
    if (first == std::string::npos) continue;
    if (!joined.empty()) joined += " | ";
    joined += line.substr(first, 300);
    if (joined.size() > 1000) break;
  }
  std::replace_if(
      joined.begin(), joined.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; },
      ' ');
  return joined;
}

struct Picture {
  std::string id, form, draft;
  std::filesystem::path final_path;
};

/// CPUs that this process may run on: as many pictures are drawn at a time.
int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// " canvas pdfcairo svg ... "; nullopt when gnuplot did not answer.
std::optional<std::string> terminals_of(const std::filesystem::path& program,
                                        const std::filesystem::path& dir, double seconds) {
  const std::vector<PlotResult> answer =
      run_children({{program, {"-e", "print GPVAL_TERMINALS"}, dir}}, 1, seconds);
  const std::string text = " " + one_line(answer.front().error_text) + " ";
  if (!answer.front().ok() || text.find(" svg ") == std::string::npos) return std::nullopt;
  return text;
}
/// Whatever ends the drawing, no draft stays.
struct DraftSweep {
  const std::vector<Picture>& pictures;
  const std::filesystem::path& dir;
  ~DraftSweep() {
    std::error_code ignored;
    for (const Picture& picture : pictures) std::filesystem::remove(dir / picture.draft, ignored);
  }
};

}  // namespace

DrawResult draw_figures(const std::vector<Figure>& figures, const std::filesystem::path& dir,
                        const DrawOptions& options) {
  DrawResult result;
  std::vector<Picture> pictures;
  std::error_code error;
  const std::vector<std::string>& forms = options.look.forms;
  for (const Figure& figure : figures) {
    write_plot_script(figure, dir / (figure.id + ".gp"), options.look);
    for (const std::string& form : picture_forms()) {
      const std::filesystem::path path = dir / (figure.id + "." + form);
      std::filesystem::remove(path, error);  // never older than its data
      if (std::find(forms.begin(), forms.end(), form) == forms.end()) continue;
      // The folder is locked: a draft that a killed program left is drawn over.
      pictures.push_back({figure.id, form, "." + figure.id + ".draft." + form, path});
    }
  }
  if (pictures.empty()) return result;
  const DraftSweep sweep{pictures, dir};
  const std::filesystem::path program = find_on_path(options.program);
  if (program.empty()) {
    result.errors.emplace_back(
        "gnuplot is not on PATH, so there are no pictures: install the package gnuplot-nox");
    return result;
  }
  bool plain = false;
  if (const auto terminals = terminals_of(program, dir, options.seconds)) {
    const auto has = [&](const std::string& name) {
      return terminals->find(" " + name + " ") != std::string::npos;
    };
    const auto without = [&](const std::string& form, const std::string& terminal) {
      if (std::erase_if(pictures, [&](const Picture& one) { return one.form == form; }) > 0) {
        result.errors.push_back("no " + form + ": " + program.string() + " has no " + terminal +
                                " terminal; the package gnuplot-nox has it");
      }
    };
    plain = !has("pngcairo");
    if (plain && !has("png")) without("png", "pngcairo");
    if (!has("pdfcairo")) without("pdf", "pdfcairo");
  }
  std::vector<Command> commands;
  for (const Picture& picture : pictures) {
    // Names made from figure ids: nothing from data reaches the command line.
    const std::string settings =
        "form='" + picture.form + "'; target='" + picture.draft + "'" + (plain ? "; plain=1" : "");
    commands.push_back({program, {"-e", settings, picture.id + ".gp"}, dir});
    if (options.tell) {
      options.tell("in " + dir.string() + ": " + program.string() + " -e \"" + settings + "\" " +
                   picture.id + ".gp");
    }
  }
  const std::vector<PlotResult> outcomes = run_children(
      commands, options.parallel > 0 ? options.parallel : allowed_cpus(), options.seconds);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Picture& picture = pictures[i];
    const PlotResult& outcome = outcomes[i];
    const std::filesystem::path draft = dir / picture.draft;
    const std::string name = picture.id + "." + picture.form;
    const std::string said = one_line(outcome.error_text);
    std::string problem;
    if (!outcome.started) {
      problem = "could not be started: " + outcome.problem;
    } else if (outcome.timed_out) {
      problem = "did not end within " + format_number(options.seconds) + " s and was stopped";
    } else if (outcome.signal != 0) {
      problem = "was ended by signal " + std::to_string(outcome.signal);
    } else if (outcome.exit_status != 0) {
      problem = "ended with status " + std::to_string(outcome.exit_status);
    } else if (!complete_picture(draft, picture.form)) {
      problem = "left no complete picture";
    }
    if (problem.empty()) {
      std::filesystem::rename(draft, picture.final_path, error);
      if (error) problem = "drew it, but it could not be renamed: " + error.message();
    }
    if (!problem.empty()) {
      result.errors.push_back(name + ": gnuplot (package gnuplot-nox) " + problem +
                              (said.empty() ? "" : ": " + said));
      continue;
    }
    result.pictures.push_back(picture.final_path);
    if (!said.empty()) {
      result.warnings.push_back(name + ": gnuplot said: " + said);
    }
  }
  return result;
}

}  // namespace sonde
