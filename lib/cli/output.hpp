// What a person or a script reads: each result as lines of text or as one JSON object. The objects
// have the members of the protocol's answers. Errors are one line on standard error, and with
// --json an object on standard output too.
#pragma once

#include <string>
#include <vector>

#include <starlease/client.hpp>

#include "lib/cli/arguments.hpp"

namespace starlease::cli {

class Output {
 public:
  explicit Output(bool json) : json_(json) {}

  [[nodiscard]] bool json() const { return json_; }
  /// Writes `json` or `text`, whichever is wanted, and flushes.
  void print(const std::string& json, const std::string& text) const;

  void pong(const Pong& pong, const SessionInfo& session) const;
  /// `code` is lease_acquired or lease_renewed; `session` where a later command is to resume it.
  void grant(std::string_view code, const Grant& grant, const SessionInfo* session) const;
  void released(const Released& released) const;
  void invalidated(const Invalidated& invalidated, Operation operation) const;
  /// To standard error, as it is.
  void warn(const std::string& text) const;
  void commit(const Commit& commit) const;
  void document(const Document& document) const;
  void inspection(const Inspection& inspection) const;
  void resolution(const Resolution& resolution, Operation operation) const;
  /// `more`: there are others that were not wanted.
  void leases(const std::vector<LeaseInfo>& leases, bool more) const;
  void history(const std::vector<Inspection>& endings, bool more) const;
  void event(const Event& event) const;
  void exit_codes() const;

  /// Reports a failure and returns the exit code for it.
  ExitCode failure(const Error& error, bool waited = false) const;

 private:
  bool json_;
};

/// A lease as rows of a table for a person.
[[nodiscard]] std::string lease_rows(const LeaseInfo& lease);
/// The line on standard error for a failure: code, field, sentence and what to do.
[[nodiscard]] std::string error_line(const Error& error, bool waited);
/// The members of an error answer.
[[nodiscard]] std::string error_json(const Error& error);
/// What is left of the grant's validity, in whole milliseconds; negative where it has ended.
[[nodiscard]] std::int64_t valid_for_ms(const Grant& grant);

}  // namespace starlease::cli
