// Runs generated kernels on the host: one workgroup at a time, every work item a
// fiber, barriers and wave operations as rendezvous between fibers.
//
// A fiber runs until it needs others: at a wave operation, at a barrier, or at its
// end. When no fiber of a wave can run, the ones that wait at the same place in the
// code form the active lanes of that operation; of several places the first in the
// code goes first, as lanes that left a loop or skipped a branch wait behind it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define __global__
#define __device__
#define __shared__ static
// A call is a place where lanes meet: the compiler keeps calls in different
// branches apart, and one call in one place.
#if defined(__clang__)
#define LOOM_HOST_MEET __attribute__((convergent))
#define LOOM_HOST_NOINLINE __attribute__((noinline, convergent, nomerge))
#else
#pragma GCC optimize("no-thread-jumps")
#define LOOM_HOST_MEET
#define LOOM_HOST_NOINLINE __attribute__((noinline))
#endif

namespace loom_host {

enum State { Ready, AtWave, AtBarrier, Done };

struct Fiber {
#if defined(__x86_64__)
  void *sp;
#else
  ucontext_t ctx;
#endif
  char *stack;
  State state;
  const void *site;   // place of the operation it waits at
  uint32_t word;      // what it brought, then what it gets
  uint64_t mask;      // result of a ballot
  int from;           // lane it reads
  int kind;           // 0 barrier of the wave, 1 shuffle, 2 ballot, 3 first lane, 4 share
  const void *share[2];
};

struct Wave { const void *table[2][64]; };

struct Group {
  int wave = 32;
  uint32_t size[3], count[3], id[3];
  Fiber *fibers;
  int items;
  Wave *waves;
  void (*entry)(void **);
  void **args;
  int now = 0;
#if defined(__x86_64__)
  void *main_sp;
#else
  ucontext_t main_ctx;
#endif
};
inline Group &group() {
  static Group g;
  return g;
}

#if defined(__x86_64__)
// Saves the callee-saved registers on the running stack and continues on another.
extern "C" LOOM_HOST_MEET void loom_host_switch(void **save, void *load);
asm(R"(
.text
.globl loom_host_switch
loom_host_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
#endif

LOOM_HOST_MEET inline void leave() {
  Group &g = group();
#if defined(__x86_64__)
  loom_host_switch(&g.fibers[g.now].sp, g.main_sp);
#else
  swapcontext(&g.fibers[g.now].ctx, &g.main_ctx);
#endif
}

inline void resume(int i) {
  Group &g = group();
  g.now = i;
#if defined(__x86_64__)
  loom_host_switch(&g.main_sp, g.fibers[i].sp);
#else
  swapcontext(&g.main_ctx, &g.fibers[i].ctx);
#endif
}

inline void body() {
  Group &g = group();
  g.entry(g.args);
  g.fibers[g.now].state = Done;
  leave();
  abort();
}

inline const size_t stack_bytes = 256 << 10;

inline void start(Fiber &f) {
  if (!f.stack) f.stack = (char *)malloc(stack_bytes);
  f.state = Ready;
#if defined(__x86_64__)
  void **sp = (void **)(((uintptr_t)f.stack + stack_bytes) & ~(uintptr_t)15);
  *--sp = nullptr;
  *--sp = (void *)&body;
  sp -= 6;
  memset(sp, 0, 6 * sizeof(void *));
  f.sp = sp;
#else
  getcontext(&f.ctx);
  f.ctx.uc_stack.ss_sp = f.stack;
  f.ctx.uc_stack.ss_size = stack_bytes;
  f.ctx.uc_link = nullptr;
  makecontext(&f.ctx, body, 0);
#endif
}

// settle lets the waiting lanes [lo, hi) that stand first in the code do their
// operation together.
inline bool settle(int w, int lo, int hi) {
  Group &g = group();
  const void *site = nullptr;
  for (int i = lo; i < hi; ++i)
    if (g.fibers[i].state == AtWave && (!site || g.fibers[i].site < site)) site = g.fibers[i].site;
  if (!site) return false;
  uint32_t words[64] = {};
  uint64_t ballot = 0, active = 0;
  int first = -1;
  for (int i = lo; i < hi; ++i) {
    Fiber &f = g.fibers[i];
    words[i - lo] = f.word;
    if (f.state != AtWave || f.site != site) continue;
    active |= (uint64_t)1 << (i - lo);
    if (first < 0) first = i - lo;
    if (f.word & 1) ballot |= (uint64_t)1 << (i - lo);
    for (int s = 0; s < 2; ++s) g.waves[w].table[s][i - lo] = f.share[s];
  }
  for (int i = lo; i < hi; ++i) {
    Fiber &f = g.fibers[i];
    if (!((active >> (i - lo)) & 1)) continue;
    if (f.kind == 1) {
      const int from = f.from & (g.wave - 1);
      f.word = from < hi - lo && ((active >> from) & 1) ? words[from] : 0;
    } else if (f.kind == 3) {
      f.word = words[first];
    }
    f.mask = ballot;
    f.state = Ready;
  }
  return true;
}

inline void run_group() {
  Group &g = group();
  const int n = g.items;
  for (int i = 0; i < n; ++i) start(g.fibers[i]);
  for (;;) {
    bool ran = false;
    for (int lo = 0, w = 0; lo < n; lo += g.wave, ++w) {
      const int hi = lo + g.wave < n ? lo + g.wave : n;
      for (;;) {
        bool any = false;
        for (int i = lo; i < hi; ++i)
          if (g.fibers[i].state == Ready) {
            any = ran = true;
            resume(i);
          }
        if (!any && !settle(w, lo, hi)) break;
      }
    }
    int waiting = 0, done = 0;
    for (int i = 0; i < n; ++i) {
      waiting += g.fibers[i].state == AtBarrier;
      done += g.fibers[i].state == Done;
    }
    if (done == n) return;
    if (!ran && waiting == 0) {
      fprintf(stderr, "loom host: the workgroup cannot go on\n");
      exit(3);
    }
    for (int i = 0; i < n; ++i)
      if (g.fibers[i].state == AtBarrier) g.fibers[i].state = Ready;
  }
}

// launch runs a grid in order.
inline void launch(void (*entry)(void **), void **args, const uint32_t count[3], const uint32_t size[3], int wave) {
  Group &g = group();
  g.wave = wave;
  g.entry = entry;
  g.args = args;
  g.items = (int)(size[0] * size[1] * size[2]);
  g.fibers = (Fiber *)calloc(g.items, sizeof(Fiber));
  g.waves = (Wave *)calloc((g.items + wave - 1) / wave, sizeof(Wave));
  for (int i = 0; i < 3; ++i) g.size[i] = size[i], g.count[i] = count[i];
  for (uint32_t z = 0; z < count[2]; ++z)
    for (uint32_t y = 0; y < count[1]; ++y)
      for (uint32_t x = 0; x < count[0]; ++x) {
        g.id[0] = x, g.id[1] = y, g.id[2] = z;
        run_group();
      }
}

// serve reads a job, runs it and writes the buffers back.
inline int serve(void (*entry)(void **), const uint32_t size[3], int wave, int args, int buffers) {
  uint32_t count[3];
  void *p[64];
  uint32_t bytes[64];
  if (args > 64 || fread(count, 4, 3, stdin) != 3) return 2;
  for (int i = 0; i < args; ++i) {
    if (fread(&bytes[i], 4, 1, stdin) != 1) return 2;
    p[i] = aligned_alloc(256, ((size_t)bytes[i] + 256) / 256 * 256);
    if (fread(p[i], 1, bytes[i], stdin) != bytes[i]) return 2;
  }
  launch(entry, p, count, size, wave);
  for (int i = 0; i < buffers; ++i) fwrite(p[i], 1, bytes[i], stdout);
  return 0;
}

inline Fiber &self() {
  Group &g = group();
  return g.fibers[g.now];
}

LOOM_HOST_MEET inline void wait_wave(int kind, const void *site) {
  Fiber &f = self();
  f.kind = kind;
  f.site = site;
  f.state = AtWave;
  leave();
}

}  // namespace loom_host

static inline int loom_host_item(int axis) {
  loom_host::Group &g = loom_host::group();
  const int i = g.now;
  return axis == 0 ? i % (int)g.size[0] : axis == 1 ? i / (int)g.size[0] % (int)g.size[1] : i / (int)(g.size[0] * g.size[1]);
}
static inline int loom_host_group(int axis) { return (int)loom_host::group().id[axis]; }
static inline int loom_host_groups(int axis) { return (int)loom_host::group().count[axis]; }
static inline int loom_host_lane() { return loom_host::group().now % loom_host::group().wave; }
static inline int loom_host_lanes() { return loom_host::group().wave; }
LOOM_HOST_NOINLINE inline void loom_host_barrier() {
  loom_host::self().state = loom_host::AtBarrier;
  loom_host::leave();
}
LOOM_HOST_NOINLINE inline void loom_host_wave_barrier() { loom_host::wait_wave(0, __builtin_return_address(0)); }
LOOM_HOST_NOINLINE inline uint32_t loom_host_shuffle(uint32_t w, int lane) {
  loom_host::self().word = w;
  loom_host::self().from = lane;
  loom_host::wait_wave(1, __builtin_return_address(0));
  return loom_host::self().word;
}
LOOM_HOST_NOINLINE inline unsigned long long loom_host_ballot(bool p) {
  loom_host::self().word = p;
  loom_host::wait_wave(2, __builtin_return_address(0));
  return loom_host::self().mask;
}
LOOM_HOST_NOINLINE inline uint32_t loom_host_first(uint32_t w) {
  loom_host::self().word = w;
  loom_host::wait_wave(3, __builtin_return_address(0));
  return loom_host::self().word;
}
LOOM_HOST_NOINLINE inline const void *loom_host_share(int slot, const void *p) {
  loom_host::self().share[slot] = p;
  loom_host::wait_wave(4, __builtin_return_address(0));
  loom_host::Group &g = loom_host::group();
  return g.waves[g.now / g.wave].table[slot];
}
