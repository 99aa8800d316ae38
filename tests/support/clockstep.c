/* Steps the wall clock of the program it is preloaded into: CLOCKSTEP_FILE names a file whose first
   eight bytes are an offset in microseconds, added to gettimeofday() and CLOCK_REALTIME. The
   monotonic clocks stay true, as when an operator sets a clock. Test tool; never installed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t* offset_us;
static int (*real_gettime)(clockid_t, struct timespec*);

__attribute__((constructor)) static void start(void) {
  *(void**)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char* path = getenv("CLOCKSTEP_FILE");
  const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof *offset_us, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset_us = mapped;
  close(file);
}

static int64_t step(void) { return offset_us != NULL ? *offset_us : 0; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (real_gettime == NULL) *(void**)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real_gettime(clock, now);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const int64_t total = (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000 + step();
  now->tv_nsec = total % 1000000 * 1000 + now->tv_nsec % 1000;
  now->tv_sec = total / 1000000;
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec precise;
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}
