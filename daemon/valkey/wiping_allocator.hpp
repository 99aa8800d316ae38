// hiredis' memory, overwritten before it is freed while a password may be in it. hiredis keeps what
// is to be written in buffers of its own; this is the only way to reach them.
#pragma once

namespace starlease::valkey {

/// Makes hiredis allocate through us. Process-wide; calling it again changes nothing.
void install_wiping_allocator();

/// While one exists, whatever hiredis frees or moves is overwritten.
class WipeScope {
 public:
  explicit WipeScope(bool active);
  ~WipeScope();
  WipeScope(const WipeScope&) = delete;
  WipeScope& operator=(const WipeScope&) = delete;

 private:
  bool active_;
};

}  // namespace starlease::valkey
