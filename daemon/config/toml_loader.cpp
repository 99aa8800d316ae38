// toml++ to raw entries; its exceptions end here.
#include "daemon/config/toml_loader.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "daemon/config/read_file.hpp"

namespace starlease::config {
namespace {

class Walker {
 public:
  explicit Walker(const std::string& file) : file_(file) {}

  void table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      if (const auto* inner = node.as_table()) {
        this->table(*inner, path + ".");
      } else if (const auto* array = node.as_array(); array && holds_tables(*array)) {
        tables(*array, path);
      } else {
        entries_.push_back({path, value(node), origin(node)});
      }
    }
  }

  [[nodiscard]] RawEntries take() && { return std::move(entries_); }

 private:
  [[nodiscard]] Origin origin(const toml::node& node) const {
    return {fmt::format("{}:{}", file_, node.source().begin.line)};
  }

  static bool holds_tables(const toml::array& array) {
    return !array.empty() && array.is_homogeneous(toml::node_type::table);
  }

  /// The n-th table of [[path]] gets the prefix "path.n."; one without keys is noted too.
  void tables(const toml::array& array, const std::string& path) {
    std::size_t index = 0;
    for (const auto& element : array) {
      const std::string name = fmt::format("{}.{}", path, index++);
      if (element.as_table()->empty()) {
        entries_.push_back({name, Unsupported{"empty"}, origin(element)});
      }
      table(*element.as_table(), name + ".");
    }
  }

  static RawValue value(const toml::node& node) {
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* array = node.as_array()) return list(*array);
    if (node.is_floating_point()) return Unsupported{"a number with a fraction"};
    return Unsupported{"a date or time"};
  }

  static RawValue list(const toml::array& array) {
    std::vector<std::string> items;
    for (const auto& element : array) {
      const auto* text = element.as_string();
      if (text == nullptr) return Unsupported{"a list of other things than text"};
      items.push_back(text->get());
    }
    return items;
  }

  const std::string& file_;
  RawEntries entries_;
};

}  // namespace

base::Result<RawEntries, Problems> parse_toml(std::string_view text, const std::string& file) {
  try {
    const toml::table root = toml::parse(text);
    Walker walker(file);
    walker.table(root, "");
    return std::move(walker).take();
  } catch (const toml::parse_error& error) {
    return base::failed(Problems{
        {fmt::format("{}:{}", file, error.source().begin.line), std::string(error.description())}});
  }
}

base::Result<RawEntries, Problems> load_toml(const std::string& file) {
  const auto text = read_file(file, max_file_bytes);
  if (!text) return base::failed(Problems{{file, text.error()}});
  return parse_toml(*text, file);
}

}  // namespace starlease::config
