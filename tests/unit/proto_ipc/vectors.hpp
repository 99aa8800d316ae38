// The golden messages of proto-ipc/vectors, read from the source tree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace starlease::ipc_test {

struct Vector {
  std::string name;
  std::string bytes;
};

/// A file of the folder, whole.
[[nodiscard]] std::string read_vector(const std::filesystem::path& relative);
/// All files of a folder, by name. The newline that ends each text file is taken off.
[[nodiscard]] std::vector<Vector> vectors_of(const std::string& folder);

}  // namespace starlease::ipc_test
