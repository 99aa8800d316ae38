// The command line, on CLI11; see the header.
#include "lib/cli/arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>

#include "lib/base/rfc3339.hpp"
#include "lib/cli/texts.hpp"

namespace starlease::cli {
namespace {

constexpr const char* identity_help =
    "IDENTITY is tenant/program/namespace/target/actor[/workflow[/class]], or the same in options.";

/// What was typed of an identity; complete() checks it once everything is parsed.
struct TypedIdentity {
  std::string text;
  std::string tenant, program, target_namespace, target, actor, workflow, operation_class;

  void add_to(CLI::App& app) {
    app.add_option("identity", text, "What is locked, in one word")->type_name("IDENTITY");
    app.add_option("--tenant", tenant, "tenant_id")->type_name("T");
    app.add_option("--program", program, "program_id")->type_name("P");
    app.add_option("--namespace", target_namespace, "target_namespace")->type_name("N");
    app.add_option("--target", target, "target_id")->type_name("X");
    app.add_option("--actor", actor, "actor_name")->type_name("A");
    app.add_option("--workflow", workflow, "workflow_name (default: default)")->type_name("W");
    app.add_option("--class", operation_class, "operation_class (default: default)")
        ->type_name("C");
    app.footer(identity_help);
  }

  [[nodiscard]] bool typed() const { return !text.empty() || any_option(); }

  [[nodiscard]] Identity complete() const {
    if (text.empty()) return from_options();
    if (any_option()) throw CLI::ValidationError("identity", "give IDENTITY or options, not both");
    auto parsed = parse_identity(text);
    if (!parsed) {
      throw CLI::ValidationError(
          "identity", "must be tenant/program/namespace/target/actor[/workflow[/class]]");
    }
    return *std::move(parsed);
  }

 private:
  [[nodiscard]] bool any_option() const {
    return !(tenant + program + target_namespace + target + actor + workflow + operation_class)
                .empty();
  }
  [[nodiscard]] Identity from_options() const {
    const std::pair<const char*, const std::string&> required[] = {
        {"--tenant", tenant},
        {"--program", program},
        {"--namespace", target_namespace},
        {"--target", target},
        {"--actor", actor}};
    if (!any_option()) {
      throw CLI::ValidationError(
          "IDENTITY", "is missing: tenant/program/namespace/target/actor[/workflow[/class]]");
    }
    for (const auto& [option, value] : required) {
      if (value.empty()) {
        throw CLI::ValidationError(
            "identity", std::string(option) + " is missing; give it, or IDENTITY in one word");
      }
    }
    Identity identity{tenant, program, target_namespace, target, actor};
    if (!workflow.empty()) identity.workflow_name = workflow;
    if (!operation_class.empty()) identity.operation_class = operation_class;
    return identity;
  }
};

/// Calls `set` with the duration that is typed for `name`.
CLI::Option* duration_option(CLI::App& app, const std::string& name,
                             std::function<void(Duration)> set, const std::string& help) {
  const auto read = [set = std::move(set), name](const CLI::results_t& typed) {
    const auto duration = parse_duration(typed.back());
    if (!duration)
      throw CLI::ValidationError(name, "must be 1ms to 366 days: 1500, 1500ms, 30s, 5m, 2h");
    set(*duration);
    return true;
  };
  return app.add_option(name, read, help)->type_name("DURATION");
}

void acquire_options(CLI::App& app, AcquireOptions& o) {
  duration_option(
      app, "--ttl", [&o](Duration d) { o.ttl = d; },
      "How long one grant lasts (default: the daemon's)");
  duration_option(
      app, "--max-lifetime", [&o](Duration d) { o.maximum_lifetime = d; },
      "When the lease ends in spite of renewal");
  duration_option(
      app, "--wait", [&o](Duration d) { o.wait = d; },
      "Wait so long for a lease that another holds (default: not at all)");
  app.add_option("--request-id", o.request_id, "Name of the attempt; a repetition gets the same");
  app.add_option("--execution-id", o.execution_id, "Carried in the envelope");
  app.add_option("--job-id", o.job_id, "Kept in the record");
  app.add_option("--trace-id", o.trace_id, "Carried in the envelope");
  app.add_option("--metadata", o.metadata_json, "JSON object kept in the record, 4096 bytes");
}

void lease_options(CLI::App& app, LeaseArguments& lease) {
  app.add_option("--lease-id", lease.lease_id, "As acquire printed it")->required();
  app.add_option("--token", lease.token, "The fencing token")->required();
  app.add_option("--request-id", lease.request_id, "Name of the attempt");
}

constexpr std::array operations = {Operation::acquire, Operation::renew,         Operation::release,
                                   Operation::commit,  Operation::force_release, Operation::revoke};
constexpr std::array document_types = {DocumentType::target_state, DocumentType::result,
                                       DocumentType::checkpoint, DocumentType::terminal_state,
                                       DocumentType::schedule};

/// The value of that name; the options take no other.
template <class Enum, std::size_t N>
const Enum* named(const std::array<Enum, N>& values, const std::string& text) {
  return std::ranges::find_if(values, [&](Enum value) { return name(value) == text; });
}

/// Everything that CLI11 writes into; commands take their part when they were typed.
struct Parser {
  CLI::App app{"Leases on targets, held by the starleased sidecar of this host.", "starlease"};
  Invocation invocation;
  /// What stands behind "--".
  std::vector<std::string> tail;
  bool has_tail = false;

  AcquireArguments acquire;
  RenewArguments renew;
  ReleaseArguments release;
  InspectArguments inspect;
  ResolveArguments resolve;
  WatchArguments watch;
  RunArguments run;
  CommitArguments commit;
  DocumentArguments document;
  KeygenArguments keygen;
  InvalidateArguments invalidate;
  DocumentWrite write;
  std::string document_type = "result";
  std::string next_due_at;
  std::string operation = "acquire";
  ListArguments list;
  std::string list_by = "owner";
  HistoryArguments history;
  TypedIdentity identity;

  Parser() {
    // Before there are subcommands: they inherit it, and so take the common options behind them.
    app.fallthrough();
    app.set_version_flag("--version", "starlease " STARLEASE_VERSION);
    common();
    leases();
    questions();
    runner();
    documents();
    administration();
    lists();
    app.require_subcommand(1);
  }

  CLI::App& command(const char* name, const char* help, std::function<Command()> make) {
    CLI::App& sub = *app.add_subcommand(name, help);
    sub.callback([this, make = std::move(make)] { invocation.command = make(); });
    return sub;
  }

  void common() {
    CommonArguments& c = invocation.common;
    app.add_option("--socket", c.socket,
                   "The daemon's socket (STARLEASE_SOCKET, or /run/starlease/starleased.sock)");
    app.add_option("--admin-socket", c.admin_socket,
                   "The admin socket (STARLEASE_ADMIN_SOCKET, or /run/starlease/admin.sock)");
    app.add_flag("--json", c.json, "One JSON object for each result");
    duration_option(
        app, "--timeout", [&c](Duration d) { c.timeout = d; },
        "For each operation (default: 5s, and --wait)");
    app.add_option("--instance", c.instance, "Take over this session; with --resume")
        ->envname("STARLEASE_INSTANCE");
    app.add_option("--resume", c.resume, "Its secret; better given as STARLEASE_RESUME")
        ->envname("STARLEASE_RESUME");
  }

  void leases() {
    CLI::App& a = command("acquire", "Acquire a lease and hold it until stdin closes", [this] {
      acquire.options.identity = identity.complete();
      acquire.options.keep_on_disconnect = acquire.detach;
      return acquire;
    });
    identity.add_to(a);
    acquire_options(a, acquire.options);
    a.add_flag("--detach", acquire.detach,
               "Print the lease and leave it to later commands; it is not renewed by itself then");
    CLI::App& r = command("renew", "Extend a lease of a resumed session", [this] {
      require_session("renew");
      return renew;
    });
    lease_options(r, renew);
    duration_option(r, "--ttl", [this](Duration d) { renew.ttl = d; }, "How long from now");
    CLI::App& e = command("release", "Give a lease of a resumed session back", [this] {
      require_session("release");
      return release;
    });
    lease_options(e, release);
  }

  /// A new session holds nothing that could be renewed or released.
  void require_session(const char* name) const {
    if (!invocation.common.instance.empty()) return;
    throw CLI::ValidationError(
        name,
        "acts for the session that acquired the lease: set STARLEASE_INSTANCE and "
        "STARLEASE_RESUME as acquire --detach printed them");
  }

  void questions() {
    command("ping", "Ask the daemon whether it and its backend are there",
            [] { return PingArguments{}; });
    CLI::App& i = command("inspect", "Show the lease on an identity", [this] {
      take_target(inspect);
      return inspect;
    });
    identity.add_to(i);
    i.add_option("--lease-id", inspect.lease_id, "Instead of an identity");
    CLI::App& r = command("resolve", "Tell what became of an attempt", [this] {
      resolve.identity = identity.complete();
      resolve.operation = *named(operations, operation);
      return resolve;
    });
    identity.add_to(r);
    r.add_option("--request-id", resolve.request_id, "Of the attempt")->required();
    r.add_option("--operation", operation, "What was attempted (default: acquire)")
        ->check(
            CLI::IsMember({"acquire", "renew", "release", "commit", "force_release", "revoke"}));
    CLI::App& w = command("watch", "Print what changes, until interrupted", [this] {
      if (identity.typed() || !watch.target.lease_id.empty()) take_target(watch.target);
      return watch;
    });
    identity.add_to(w);
    w.add_option("--lease-id", watch.target.lease_id, "Watch this lease");
    duration_option(
        w, "--interval", [this](Duration d) { watch.interval = d; },
        "How often a lease is looked at (default: 1s)");
  }

  void take_target(InspectArguments& target) const {
    if (target.lease_id.empty()) {
      target.identity = identity.complete();
    } else if (identity.typed()) {
      throw CLI::ValidationError("identity", "give an identity or --lease-id, not both");
    }
  }

  void runner() {
    CLI::App& r =
        command("run", "Run CMD under a lease: starlease run IDENTITY -- CMD ARGS", [this] {
          run.options.identity = identity.complete();
          run.command = take_tail();
          if (run.command.empty()) throw CLI::ValidationError("CMD", "put it behind \"--\"");
          return run;
        });
    identity.add_to(r);
    acquire_options(r, run.options);
    duration_option(
        r, "--kill-after", [this](Duration d) { run.kill_after = d; },
        "From TERM to KILL, within what validity leaves (default: 5s)");
  }

  void documents() {
    CLI::App& c =
        command("commit", "Write a document under the fence, or only ask leave to", [this] {
          if (commit.envelope_json.empty()) {
            throw CLI::ValidationError("--envelope",
                                       "is missing, and STARLEASE_ENVELOPE is not set");
          }
          if (!write.name.empty()) commit.write = complete_write();
          return commit;
        });
    c.add_option("--envelope", commit.envelope_json,
                 "As acquire printed it; run sets STARLEASE_ENVELOPE")
        ->envname("STARLEASE_ENVELOPE");
    c.add_option("--name", write.name, "Of the document (default: nothing is written)");
    c.add_option("--type", document_type, "Of the document (default: result)")
        ->check(
            CLI::IsMember({"target_state", "result", "checkpoint", "terminal_state", "schedule"}));
    c.add_option("--body", commit.body_file, "File with a JSON object (default: standard input)");
    c.add_option("--expect-revision", write.expect_revision,
                 "What must stand there (default: 0, nothing)");
    c.add_option("--sequence", write.sequence, "checkpoint: grows with each");
    c.add_option("--completed-execution-id", write.completed_execution_id,
                 "schedule: the execution that is done");
    c.add_option("--next-due-at", next_due_at, "schedule: RFC 3339, UTC")->type_name("TIME");
    c.add_option("--request-id", commit.request_id, "Name of the attempt");
    CLI::App& d = command("document", "Show a document that commit wrote", [this] {
      document.identity = identity.complete();
      return document;
    });
    identity.add_to(d);
    d.add_option("--name", document.name, "Of the document")->required();
  }

  [[nodiscard]] DocumentWrite complete_write() const {
    DocumentWrite complete = write;
    complete.type = *named(document_types, document_type);
    if (next_due_at.empty()) return complete;
    const auto due = base::rfc3339_parse(next_due_at);
    if (!due) {
      throw CLI::ValidationError("--next-due-at", "must be like 2026-08-05T12:00:00.000Z");
    }
    complete.next_due_at = BackendTime(Duration(*due));
    return complete;
  }

  void administration() {
    CLI::App& admin = *app.add_subcommand("admin", "For the operator");
    admin.require_subcommand(1);
    admin.fallthrough();
    CLI::App& deploy = *admin.add_subcommand(
        "deploy", "Load the function library: the rest are options of starleased");
    deploy.prefix_command();
    deploy.allow_extras();
    deploy.fallthrough(false);
    deploy.footer("--config FILE [--user NAME --password-file FILE]: see starleased --help.");
    deploy.callback([this, &deploy] {
      DeployArguments arguments{deploy.remaining()};
      for (std::string& word : take_tail()) arguments.arguments.push_back(std::move(word));
      if (arguments.arguments.empty()) throw CLI::ValidationError("--config", "FILE is missing");
      invocation.command = std::move(arguments);
    });
    CLI::App& space = *admin.add_subcommand("namespace", "The namespace in the backend");
    space.require_subcommand(1);
    space.fallthrough();
    space.add_subcommand("status", "Show its partitions")->callback([this] {
      invocation.command = NamespaceArguments{false};
    });
    space.add_subcommand("init", "Declare it new and make it")->callback([this] {
      invocation.command = NamespaceArguments{true};
    });
    invalidations(admin);
    admin.add_subcommand("stats", "Counters of the daemon")->callback([this] {
      invocation.command = StatsArguments{};
    });
    command("exit-codes", "Print what each exit status means", [] { return ExitCodesArguments{}; });
    command("version", "Print the version", [] { return VersionArguments{}; });
  }

  CLI::App& invalidation(CLI::App& parent, const char* name, const char* help, Operation kind,
                         bool only_sign) {
    CLI::App& sub = *parent.add_subcommand(name, help);
    identity.add_to(sub);
    sub.add_option("--key", invalidate.key_file, "The administrator's key file")->required();
    sub.add_option("--reason", invalidate.reason, "Why, for a person");
    sub.add_option("--incident", invalidate.incident, "Or the identifier of an incident");
    sub.add_option("--request-id", invalidate.request_id, "Name of the attempt");
    sub.add_option("--token", invalidate.token, "Fencing token of the lease that is meant")
        ->required(only_sign);
    sub.callback([this, kind, only_sign] {
      invalidate.operation = kind;
      invalidate.only_sign = only_sign;
      invalidate.identity = identity.complete();
      if (invalidate.reason.empty() == invalidate.incident.empty()) {
        throw CLI::ValidationError("--reason", "give --reason or --incident, one of them");
      }
      invocation.command = invalidate;
    });
    return sub;
  }

  void invalidations(CLI::App& admin) {
    CLI::App& keys = *admin.add_subcommand("keygen", "Make an administrator's signing key");
    keys.add_option("--out", keygen.file, "File for the private half; must not exist")->required();
    keys.add_option("--id", keygen.id, "Name of the key (default: admin)");
    keys.callback([this] { invocation.command = keygen; });
    CLI::App& sign = *admin.add_subcommand("sign", "Sign an act, away from any daemon");
    sign.require_subcommand(1);
    sign.fallthrough();
    const std::tuple<const char*, const char*, Operation> kinds[] = {
        {"force-release", "End a lease that its holder should give back", Operation::force_release},
        {"revoke", "End a lease for the sake of security", Operation::revoke}};
    for (const auto& [name, help, kind] : kinds) {
      invalidation(admin, name, help, kind, false)
          .add_flag("--yes", invalidate.yes, "Whichever lease is held now");
      CLI::App& signing = invalidation(sign, name, help, kind, true);
      signing.add_option("--lease-id", invalidate.lease_id, "Of that lease")->required();
      duration_option(
          signing, "--valid-for", [this](Duration d) { invalidate.valid_for = d; },
          "Until when a daemon may be asked (default: 1m)");
    }
  }

  void lists() {
    CLI::App& l = command("list", "List active leases, all of them or --limit", [this] {
      list.filter.by = complete_list_by();
      return list;
    });
    ListFilter& f = list.filter;
    l.add_option("--by", list_by, "What they have in common (default: owner)")
        ->check(CLI::IsMember({"owner", "target", "program"}));
    l.add_option("--owner", f.owner_principal_id, "owner: principal id (default: the caller)");
    l.add_option("--tenant", f.tenant_id, "target, program: tenant_id")->type_name("T");
    l.add_option("--program", f.program_id, "target, program: program_id")->type_name("P");
    l.add_option("--namespace", f.target_namespace, "target: target_namespace")->type_name("N");
    l.add_option("--target", f.target_id, "target: target_id")->type_name("X");
    limit_option(l, list.limit);
    CLI::App& h = command("history", "Show how the leases on an identity ended", [this] {
      history.identity = identity.complete();
      return history;
    });
    identity.add_to(h);
    limit_option(h, history.limit);
  }

  static void limit_option(CLI::App& app, std::optional<std::int64_t>& limit) {
    app.add_option("--limit", limit, "At most so many (default: all)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{INT64_MAX}))
        ->type_name("N");
  }

  [[nodiscard]] ListBy complete_list_by() const {
    const ListFilter& f = list.filter;
    const auto by = list_by == "owner"    ? ListBy::owner
                    : list_by == "target" ? ListBy::target
                                          : ListBy::program;
    const bool of_target = by == ListBy::target;
    const std::tuple<const char*, const std::string&, bool> options[] = {
        {"--owner", f.owner_principal_id, by == ListBy::owner && !f.owner_principal_id.empty()},
        {"--tenant", f.tenant_id, by != ListBy::owner},
        {"--program", f.program_id, by != ListBy::owner},
        {"--namespace", f.target_namespace, of_target},
        {"--target", f.target_id, of_target}};
    for (const auto& [option, value, wanted] : options) {
      if (value.empty() == !wanted) continue;
      throw CLI::ValidationError(
          option, (wanted ? "is missing with --by " : "means nothing with --by ") + list_by);
    }
    return by;
  }

  std::vector<std::string> take_tail() {
    has_tail = false;
    return std::move(tail);
  }

  void check() const {
    if (has_tail)
      throw CLI::ValidationError("--", "only run and admin deploy take arguments behind it");
    const CommonArguments& c = invocation.common;
    if (c.timeout == Duration(0)) throw CLI::ValidationError("--timeout", "must be more than 0");
    if (c.instance.empty() != c.resume.empty()) {
      throw CLI::ValidationError("--instance", "and --resume belong together");
    }
  }
};

/// The command that was typed as far as it is known: "starlease admin namespace".
std::string typed_command(const CLI::App& app) {
  std::string words;
  for (const CLI::App* shown = &app;; shown = shown->get_subcommands().front()) {
    words += (words.empty() ? "" : " ") + shown->get_name();
    if (shown->get_subcommands().empty()) return words;
  }
}

/// A word where a command was expected, and that is none.
std::optional<std::string> no_command(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  const auto words = app.remaining(true);
  const auto word = std::ranges::find_if(words, [](const auto& w) { return !w.starts_with('-'); });
  const bool takes_one = deepest->get_require_subcommand_min() > 0;
  return takes_one && word != words.end() ? std::optional(*word) : std::nullopt;
}

Farewell mistake(const CLI::App& app, const std::string& what) {
  return {ExitCode::usage, "starlease: " + what + "; see " + typed_command(app) + " --help\n"};
}

}  // namespace

std::variant<Invocation, Farewell> parse_arguments(int argc, const char* const* argv) {
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const auto dashes = std::find(words.begin(), words.end(), std::string_view("--"));
  Parser parser;
  parser.has_tail = dashes != words.end();
  if (parser.has_tail) parser.tail.assign(dashes + 1, words.end());
  std::vector<std::string> typed;
  if (!words.empty()) typed.assign(words.begin() + 1, dashes);
  if (!typed.empty() && typed.front() == "help") {
    std::rotate(typed.begin(), typed.begin() + 1, typed.end());
    typed.back() = "--help";
  }
  std::reverse(typed.begin(), typed.end());  // as CLI11 wants them
  try {
    parser.app.parse(std::move(typed));
    parser.check();
  } catch (const CLI::CallForHelp&) {
    if (const auto word = no_command(parser.app)) {
      return mistake(parser.app, "there is no command \"" + *word + "\"");
    }
    const CLI::App* shown = &parser.app;
    std::string parents;
    while (!shown->get_subcommands().empty()) {
      parents += (parents.empty() ? "" : " ") + shown->get_name();
      shown = shown->get_subcommands().front();
    }
    return Farewell{ExitCode::ok, shown->help(parents)};
  } catch (const CLI::CallForVersion& version) {
    return Farewell{ExitCode::ok, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    if (const auto word = no_command(parser.app)) {
      return mistake(parser.app, "there is no command \"" + *word + "\"");
    }
    const bool too_much = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const char* hint = too_much && parser.app.got_subcommand("run") && !parser.has_tail
                           ? " (the command stands behind \"--\")"
                           : "";
    return mistake(parser.app, std::string(error.what()) + hint);
  }
  return std::move(parser.invocation);
}

}  // namespace starlease::cli
