// The main function of a fuzz target where libFuzzer is not to be had: runs seeds, their mutations
// and random bytes through LLVMFuzzerTestOneInput. No coverage feedback; it is the smoke test,
// libFuzzer (-Dfuzz=true) is the search. Every input follows from (seed, index) alone, so that a
// failure is repeated with the line it prints.
//
//   TARGET [--runs N] [--seed S] [--only INDEX] [CORPUS_FILE_OR_FOLDER...]

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<std::uint8_t>;
using Engine = std::mt19937_64;

/// Longer inputs find little that shorter ones do not, and cost more.
constexpr std::size_t max_input_bytes = 4096;
constexpr std::uint64_t default_runs = 100'000;

struct Options {
  std::uint64_t runs = default_runs;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only;
  std::vector<Bytes> corpus;
};

/// What the death message says; set before each input.
std::uint64_t current_seed = 0;
std::uint64_t current_index = 0;

void tell_how_to_repeat() {
  std::array<char, 128> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "fuzz: repeat with --seed %llu --only %llu\n",
                    static_cast<unsigned long long>(current_seed),
                    static_cast<unsigned long long>(current_index));
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, text.data(), static_cast<std::size_t>(size));
}

void on_abort(int) { tell_how_to_repeat(); }

std::uint64_t below(Engine& engine, std::uint64_t bound) {
  return bound == 0 ? 0 : engine() % bound;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void add_corpus(std::vector<Bytes>& corpus, const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    corpus.push_back(read_file(path));
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);  // The folder's own order differs between machines; inputs must not.
  for (const auto& file : files) corpus.push_back(read_file(file));
}

Bytes random_bytes(Engine& engine) {
  Bytes input(below(engine, 256));
  for (auto& byte : input) byte = static_cast<std::uint8_t>(engine());
  return input;
}

/// One small change: a flipped bit, a telling byte, a cut, a repeat, or a piece of another seed.
void mutate(Engine& engine, Bytes& input, const std::vector<Bytes>& corpus) {
  static constexpr std::array<std::uint8_t, 12> telling = {0,    1,   0x7f, 0x80, 0xff, '"',
                                                           '\\', '{', '}',  '[',  '0',  '-'};
  if (input.empty()) input = random_bytes(engine);
  if (input.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(below(engine, input.size()));
  const auto here = input.begin() + at;
  switch (below(engine, 6)) {
    case 0:
      *here = static_cast<std::uint8_t>(*here ^ (1U << below(engine, 8)));
      break;
    case 1:
      *here = telling[below(engine, telling.size())];
      break;
    case 2:
      input.insert(here, telling[below(engine, telling.size())]);
      break;
    case 3:
      input.erase(
          here, here + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(1 + below(engine, 16)),
                                                input.end() - here));
      break;
    case 4: {
      const Bytes piece(here, here + std::min<std::ptrdiff_t>(32, input.end() - here));
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(engine, input.size())),
                   piece.begin(), piece.end());
      break;
    }
    case 5: {
      const Bytes& other = corpus[below(engine, corpus.size())];
      if (other.empty()) break;
      const auto from = static_cast<std::ptrdiff_t>(below(engine, other.size()));
      input.insert(here, other.begin() + from, other.end());
      break;
    }
    default:
      break;
  }
  if (input.size() > max_input_bytes) input.resize(max_input_bytes);
}

/// The input of one index: first the seeds as they are, then one in eight random, the others
/// mutated seeds.
Bytes make_input(const Options& options, std::uint64_t index) {
  if (index < options.corpus.size()) return options.corpus[index];
  Engine engine(options.seed * 0x9e3779b97f4a7c15ULL + index);
  if (options.corpus.empty() || below(engine, 8) == 0) return random_bytes(engine);
  Bytes input = options.corpus[below(engine, options.corpus.size())];
  const auto changes = 1 + below(engine, 6);
  for (std::uint64_t change = 0; change < changes; ++change) mutate(engine, input, options.corpus);
  return input;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      add_corpus(options.corpus, argument);
      continue;
    }
    std::uint64_t number = 0;
    if (i + 1 == argc || !read_number(argv[++i], number)) return std::nullopt;
    if (argument == "--runs")
      options.runs = number;
    else if (argument == "--seed")
      options.seed = number;
    else if (argument == "--only")
      options.only = number;
    else
      return std::nullopt;
  }
  return options;
}

void run_one(const Options& options, std::uint64_t index) {
  current_index = index;
  // An exact allocation: one byte read past the input is one that the sanitizer sees.
  Bytes input = make_input(options, index);
  input.shrink_to_fit();
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "usage: %s [--runs N] [--seed S] [--only INDEX] [CORPUS...]\n", argv[0]);
    return 2;
  }
  current_seed = options->seed;
  std::signal(SIGABRT, on_abort);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(tell_how_to_repeat);
  if (options->only) {
    run_one(*options, *options->only);
    return 0;
  }
  for (std::uint64_t index = 0; index < options->runs; ++index) run_one(*options, index);
  std::printf("fuzz: %llu inputs from %zu seeds, seed %llu\n",
              static_cast<unsigned long long>(options->runs), options->corpus.size(),
              static_cast<unsigned long long>(options->seed));
  return 0;
}
