// A libhiprtc that compiles nothing: the source says what is to happen, and the
// object comes from the file that STUB_OBJECT names. It checks its arguments and is
// as noisy as the real ones.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct program { char *source; char log[1024]; int compiled; };

EXPORT int hiprtcVersion(int *major, int *minor) { *major = 6; *minor = 3; return 0; }
EXPORT const char *hiprtcGetErrorString(int code) { return code == 6 ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INVALID_INPUT"; }
EXPORT int hiprtcCreateProgram(struct program **p, const char *source, const char *name, int n, const char **texts, const char **names) {
  if (n || texts || names || strcmp(name, "kernel.hip")) return 3;
  *p = calloc(1, sizeof **p);
  (*p)->source = strdup(source);
  return 0;
}
EXPORT int hiprtcCompileProgram(struct program *p, int n, const char **options) {
  puts("noise on standard output");
  if (strstr(p->source, "CRASH")) abort();
  if (strstr(p->source, "HANG")) for (;;) ;
  if (strstr(p->source, "INTERNAL")) return 11;
  if (strstr(p->source, "ERROR")) { strcpy(p->log, "kernel.hip:1:1: error: told to\n"); return 6; }
  if (strstr(p->source, "SILENT")) return 6;
  for (int i = 0; i < n; i++) { strcat(p->log, options[i]); strcat(p->log, "\n"); }
  strcat(p->log, "kernel.hip:1:1: warning: odd\n");
  p->compiled = 1;
  return 0;
}
EXPORT int hiprtcGetProgramLogSize(struct program *p, size_t *n) { *n = strlen(p->log) + 1; return 0; }
EXPORT int hiprtcGetProgramLog(struct program *p, char *b) { strcpy(b, p->log); return 0; }
static FILE *object(void) { const char *f = getenv("STUB_OBJECT"); return f ? fopen(f, "rb") : 0; }
EXPORT int hiprtcGetCodeSize(struct program *p, size_t *n) {
  FILE *f = object();
  if (!p->compiled || !f) return 3;
  fseek(f, 0, SEEK_END);
  *n = ftell(f);
  fclose(f);
  return 0;
}
EXPORT int hiprtcGetCode(struct program *p, char *b) {
  FILE *f = object();
  if (!p->compiled || !f) return 3;
  while (fread(b, 1, 1, f)) b++;
  fclose(f);
  return 0;
}
EXPORT int hiprtcDestroyProgram(struct program **p) { free((*p)->source); free(*p); *p = 0; return 0; }
