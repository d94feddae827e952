// A libamdhip64 that needs no GPU. It keeps a ledger of every object it hands out,
// checks every argument against it, counts calls, fails when told to, and runs the
// one kernel it knows on the host.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define LIMIT 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current = -1; // the device is a property of the thread

static int devices = 1;
static char violation[256];
static int violations;

static struct { const char *name; int calls; } counts[64];
static char failing[64];
static int fail_code, fail_skip;

static struct { char *p; size_t n; } allocs[LIMIT];
static int modules[LIMIT], events[LIMIT], ticks;
static int slow; // microseconds that a wait takes
static int launched; // a failure that a launch left behind

static void wrong(const char *call, const char *what) {
  violations++;
  snprintf(violation, sizeof violation, "%s: %s", call, what);
}

// told reads what the environment tells the stub of a child process to do about a
// call: STUB_CRASH and STUB_FAIL are CALL:WHAT.
static const char *told(const char *variable, const char *name) {
  const char *v = getenv(variable);
  size_t n = strlen(name);
  return v && !strncmp(v, name, n) && v[n] == ':' ? v + n + 1 : NULL;
}

static void crash(const char *how) {
  fprintf(stderr, "stub: about to crash\n");
  printf("stub: noise on the standard output\n");
  fflush(stdout);
  if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "exit")) _exit(7);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "hang")) for (;;) sleep(1);
}

// enter counts a call and returns the failure it was told to inject.
static int enter(const char *name) {
  const char *how = told("STUB_CRASH", name);
  if (how) crash(how);
  if ((how = told("STUB_FAIL", name))) return atoi(how);
  pthread_mutex_lock(&lock);
  int code = 0;
  for (int i = 0; i < 64; i++) {
    if (!counts[i].name) counts[i].name = name;
    if (!strcmp(counts[i].name, name)) { counts[i].calls++; break; }
  }
  if (!strcmp(failing, name) && fail_skip-- <= 0) { code = fail_code; }
  pthread_mutex_unlock(&lock);
  return code;
}

#define ENTER(name) do { int code_ = enter(name); if (code_) return code_; } while (0)
#define ON_DEVICE(name) do { ENTER(name); if (current < 0) { wrong(name, "no hipSetDevice on this thread"); return 101; } } while (0)

static int inside(const void *p, size_t n) {
  for (int i = 0; i < LIMIT; i++)
    if (allocs[i].p && (char *)p >= allocs[i].p && (char *)p + n <= allocs[i].p + allocs[i].n) return 1;
  return 0;
}

EXPORT void stub_reset(void) {
  memset(counts, 0, sizeof counts);
  failing[0] = 0;
  devices = 1;
  violations = 0;
  violation[0] = 0;
  launched = 0;
  slow = 0;
}
EXPORT void stub_slow(int microseconds) { slow = microseconds; }
EXPORT void stub_fail(const char *call, int code, int skip) { snprintf(failing, sizeof failing, "%s", call); fail_code = code; fail_skip = skip; }
EXPORT void stub_devices(int n) { devices = n; }
EXPORT int stub_violations(void) { return violations; }
EXPORT const char *stub_violation(void) { return violation; }
EXPORT int stub_calls(const char *name) {
  for (int i = 0; i < 64 && counts[i].name; i++)
    if (!strcmp(counts[i].name, name)) return counts[i].calls;
  return 0;
}
// stub_live counts allocations, modules and events that nobody freed.
EXPORT int stub_live(void) {
  int n = 0;
  for (int i = 0; i < LIMIT; i++) n += !!allocs[i].p + modules[i] + events[i];
  return n;
}

EXPORT int hipInit(unsigned flags) { ENTER("hipInit"); if (flags) wrong("hipInit", "flags"); return 0; }
EXPORT int hipRuntimeGetVersion(int *v) { ENTER("hipRuntimeGetVersion"); *v = 60342134; return 0; }
EXPORT int hipGetDeviceCount(int *n) { ENTER("hipGetDeviceCount"); *n = devices; return devices ? 0 : 100; }
EXPORT int hipSetDevice(int d) {
  ENTER("hipSetDevice");
  if (d < 0 || d >= devices) { wrong("hipSetDevice", "device"); return 101; }
  current = d;
  return 0;
}
EXPORT int hipDeviceGetName(char *p, int n, int d) {
  ENTER("hipDeviceGetName");
  if (d < 0 || d >= devices || n < 64) { wrong("hipDeviceGetName", "arguments"); return 1; }
  snprintf(p, n, "Stub %d", d);
  return 0;
}
EXPORT int hipDeviceGetAttribute(int *v, int a, int d) {
  ENTER("hipDeviceGetAttribute");
  if (d < 0 || d >= devices) return 101;
  switch (a) {
  case 87: *v = 32; return 0;
  case 74: *v = 65536; return 0;
  case 63: *v = 40; return 0;
  case 19: *v = 2097152; return 0;
  }
  wrong("hipDeviceGetAttribute", "attribute");
  return 1;
}
EXPORT int hipDeviceTotalMem(size_t *n, int d) { ENTER("hipDeviceTotalMem"); (void)d; *n = 8ull << 30; return 0; }
#ifdef OLD
EXPORT int hipGetDeviceProperties(char *p, int d) {
  ENTER("hipGetDeviceProperties");
  (void)d;
  memset(p, 0, 792);
  strcpy(p, "gfx in the name is not the architecture");
  strcpy(p + 396, getenv("STUB_ARCH") ? getenv("STUB_ARCH") : "gfx1151");
  return 0;
}
#else
EXPORT int hipGetDevicePropertiesR0600(char *p, int d) {
  ENTER("hipGetDevicePropertiesR0600");
  (void)d;
  memset(p, 0, 1472);
#ifndef NO_ARCH
  strcpy(p + 1160, getenv("STUB_ARCH") ? getenv("STUB_ARCH") : "gfx1151");
#endif
  return 0;
}
#endif
EXPORT int hipMemGetInfo(size_t *f, size_t *t) { ON_DEVICE("hipMemGetInfo"); *f = 7ull << 30; *t = 8ull << 30; return 0; }
EXPORT int hipMalloc(void **p, size_t n) {
  ON_DEVICE("hipMalloc");
  if (n == 0) { wrong("hipMalloc", "no bytes"); return 1; }
  if (n > 1ull << 32) return 2;
  for (int i = 0; i < LIMIT; i++)
    if (!allocs[i].p) { allocs[i].p = *p = malloc(n); allocs[i].n = n; return 0; }
  return 2;
}
EXPORT int hipFree(void *p) {
  ON_DEVICE("hipFree");
  for (int i = 0; i < LIMIT; i++)
    if (allocs[i].p && allocs[i].p == p) { free(p); allocs[i].p = 0; return 0; }
  wrong("hipFree", "not an allocation");
  return 1;
}
EXPORT int hipMemcpy(void *dst, const void *src, size_t n, int kind) {
  ON_DEVICE("hipMemcpy");
  if (launched) { int code = launched; launched = 0; return code; }
  int d = inside(dst, n), s = inside(src, n);
  if (kind < 1 || kind > 3 || d != (kind != 2) || s != (kind != 1)) { wrong("hipMemcpy", "range or direction"); return 1; }
  memmove(dst, src, n);
  return 0;
}
EXPORT int hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream) {
  ON_DEVICE("hipMemcpyAsync");
  if (kind != 3 || stream || !inside(dst, n) || !inside(src, n)) { wrong("hipMemcpyAsync", "range, direction or stream"); return 1; }
  memmove(dst, src, n);
  return 0;
}
EXPORT int hipMemset(void *p, int v, size_t n) {
  ON_DEVICE("hipMemset");
  if (!inside(p, n)) { wrong("hipMemset", "range"); return 1; }
  memset(p, v, n);
  return 0;
}
EXPORT int hipModuleLoadData(void **m, const void *image) {
  int code = enter("hipModuleLoadData");
  if (code) { *m = (void *)0xdead; return code; } // garbage a caller must not unload
  if (current < 0) { wrong("hipModuleLoadData", "no hipSetDevice on this thread"); return 101; }
  if (memcmp(image, "\177ELF", 4)) { wrong("hipModuleLoadData", "not an object"); return 200; }
  for (int i = 1; i < LIMIT; i++)
    if (!modules[i]) { modules[i] = 1; *m = (void *)(intptr_t)i; return 0; }
  return 2;
}
static int module_ok(void *m) { intptr_t i = (intptr_t)m; return i > 0 && i < LIMIT && modules[i]; }
EXPORT int hipModuleUnload(void *m) {
  ON_DEVICE("hipModuleUnload");
  if (!module_ok(m)) { wrong("hipModuleUnload", "not a module"); return 1; }
  modules[(intptr_t)m] = 0;
  return 0;
}
EXPORT int hipModuleGetFunction(void **f, void *m, const char *name) {
  ON_DEVICE("hipModuleGetFunction");
  if (!module_ok(m)) { wrong("hipModuleGetFunction", "not a module"); return 1; }
  if (strcmp(name, "add_f32") && !getenv("STUB_COPIES")) return 500;
  *f = (void *)(0x1000 + (intptr_t)m);
  return 0;
}
#ifndef NO_LAUNCH
EXPORT int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned shared, void *stream, void **params, void **extra) {
  ON_DEVICE("hipModuleLaunchKernel");
  if (!module_ok((void *)((intptr_t)f - 0x1000))) { wrong("hipModuleLaunchKernel", "not a function"); return 1; }
  if (getenv("STUB_COPIES")) { // any kernel copies its first buffer to its second
    char *from = *(char **)params[0], *to = *(char **)params[1];
    size_t n = 0, m = 0;
    for (int i = 0; i < LIMIT; i++) {
      if (allocs[i].p == from) n = allocs[i].n;
      if (allocs[i].p == to) m = allocs[i].n;
    }
    memcpy(to, from, n < m ? n : m);
    return 0;
  }
  if (stream || extra || !params || shared != 64) { wrong("hipModuleLaunchKernel", "stream, extra, params or shared memory"); return 1; }
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || bx != 256) { wrong("hipModuleLaunchKernel", "geometry"); return 1; }
  float *a = *(float **)params[0], *b = *(float **)params[1], *c = *(float **)params[2];
  unsigned n = *(unsigned *)params[3];
  if (!inside(a, n * 4) || !inside(b, n * 4) || !inside(c, n * 4)) { launched = 700; return 0; }
  for (unsigned i = 0; i < gx * bx && i < n; i++) c[i] = a[i] + b[i];
  return 0;
}
#endif
EXPORT int hipDeviceSynchronize(void) {
  ON_DEVICE("hipDeviceSynchronize");
  if (slow) usleep(slow);
  int code = launched;
  launched = 0;
  return code;
}
static int event_ok(void *e) { intptr_t i = (intptr_t)e; return i > 0 && i < LIMIT && events[i]; }
static int stamps[LIMIT];
EXPORT int hipEventCreate(void **e) {
  ON_DEVICE("hipEventCreate");
  for (int i = 1; i < LIMIT; i++)
    if (!events[i]) { events[i] = 1; stamps[i] = 0; *e = (void *)(intptr_t)i; return 0; }
  return 2;
}
EXPORT int hipEventDestroy(void *e) {
  ON_DEVICE("hipEventDestroy");
  if (!event_ok(e)) { wrong("hipEventDestroy", "not an event"); return 1; }
  events[(intptr_t)e] = 0;
  return 0;
}
EXPORT int hipEventRecord(void *e, void *stream) {
  ON_DEVICE("hipEventRecord");
  if (!event_ok(e) || stream) { wrong("hipEventRecord", "not an event"); return 1; }
  stamps[(intptr_t)e] = ++ticks;
  return 0;
}
EXPORT int hipEventSynchronize(void *e) {
  ON_DEVICE("hipEventSynchronize");
  if (!event_ok(e)) { wrong("hipEventSynchronize", "not an event"); return 1; }
  return 0;
}
EXPORT int hipEventElapsedTime(float *ms, void *from, void *to) {
  ON_DEVICE("hipEventElapsedTime");
  if (!event_ok(from) || !event_ok(to)) { wrong("hipEventElapsedTime", "not an event"); return 1; }
  if (!stamps[(intptr_t)from] || !stamps[(intptr_t)to]) return 400;
  *ms = 1.5f * (stamps[(intptr_t)to] - stamps[(intptr_t)from]);
  return 0;
}
EXPORT const char *hipGetErrorName(int code) {
  switch (code) {
  case 1: return "hipErrorInvalidValue";
  case 2: return "hipErrorOutOfMemory";
  case 100: return "hipErrorNoDevice";
  case 209: return "hipErrorNoBinaryForGpu";
  case 700: return "hipErrorIllegalAddress";
  case 719: return "hipErrorLaunchFailure";
  }
  return "hipErrorUnknown";
}
EXPORT const char *hipGetErrorString(int code) { (void)code; return "as told by the stub"; }
