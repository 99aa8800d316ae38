// The allocator behind hiredis; see the header.
#include "daemon/valkey/wiping_allocator.hpp"

#include <hiredis/alloc.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "lib/base/secret.hpp"

namespace starlease::valkey {
namespace {

thread_local int wiping = 0;

void wipe_block(void* block) {
  if (block != nullptr) base::wipe({static_cast<char*>(block), malloc_usable_size(block)});
}

void release(void* block) {
  if (wiping > 0) wipe_block(block);
  std::free(block);
}

/// realloc() that leaves nothing behind where the block moves.
void* resize(void* block, std::size_t size) {
  if (wiping == 0 || block == nullptr) return std::realloc(block, size);
  void* larger = std::malloc(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, std::min(size, malloc_usable_size(block)));
  release(block);
  return larger;
}

}  // namespace

void install_wiping_allocator() {
  static const bool installed = [] {
    hiredisAllocFuncs functions{};
    functions.mallocFn = std::malloc;
    functions.callocFn = std::calloc;
    functions.reallocFn = resize;
    functions.strdupFn = strdup;
    functions.freeFn = release;
    hiredisSetAllocators(&functions);
    return true;
  }();
  static_cast<void>(installed);
}

WipeScope::WipeScope(bool active) : active_(active) {
  if (active_) ++wiping;
}
WipeScope::~WipeScope() {
  if (active_) --wiping;
}

}  // namespace starlease::valkey
