The prelude: device helpers of generated kernels. Text before the first part is
documentation and is not printed.

A part starts with a line "//@ name …" that lists the names it defines; only the
parts a kernel uses (and the ones those use) reach its text, in this order. The
part "base" always does. Everything is written for three compilers:

  LOOM_AMDGPU  clang for AMDGPU: hipcc, amdclang++, hiprtc, plain clang -x hip
  LOOM_CUDA    NVRTC or nvcc, 32 lanes a warp
  LOOM_HOST    any C++17 compiler, with prelude/host.h in front

Integers are unsigned (they wrap); bf16 and the 8-bit floats are held as bits.

//@ base loom_i8 loom_u8 loom_i16 loom_u16 loom_i32 loom_u32 loom_i64 loom_u64 loom_f32 loom_f64 loom_f16 loom_bf16 loom_f8e4m3 loom_f8e5m2 loom_i1 loom_null loom_bitcast loom_bits_f32 loom_bits_f64 loom_bits_f16 loom_f32_bits loom_f64_bits loom_f16_bits LOOM_FN LOOM_LOAD_NT LOOM_STORE_NT
#if defined(__AMDGCN__) || defined(__HIP__)
#define LOOM_AMDGPU 1
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define LOOM_CUDA 1
#else
#define LOOM_HOST 1
#endif
#if defined(LOOM_AMDGPU)
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#define LOOM_WORKGROUP(n) __attribute__((amdgpu_flat_work_group_size(n, n)))
#define LOOM_FN static __device__ inline __attribute__((always_inline, unused))
#elif defined(LOOM_CUDA)
#define LOOM_WORKGROUP(n) __launch_bounds__(n)
#define LOOM_FN static __device__ __forceinline__
#else
#define LOOM_WORKGROUP(n)
#define LOOM_FN static inline
#endif
typedef signed char loom_i8;
typedef unsigned char loom_u8;
typedef short loom_i16;
typedef unsigned short loom_u16;
typedef int loom_i32;
typedef unsigned int loom_u32;
typedef long long loom_i64;
typedef unsigned long long loom_u64;
typedef float loom_f32;
typedef double loom_f64;
typedef loom_u16 loom_bf16;
typedef loom_u8 loom_f8e4m3, loom_f8e5m2, loom_i1;
#ifndef LOOM_HOST
typedef unsigned int uint32_t;
#if defined(LOOM_AMDGPU)
typedef unsigned long uint64_t;
#else
typedef unsigned long long uint64_t;
#endif
#endif
template <class T, class F> LOOM_FN T loom_bitcast(const F &f) {
  static_assert(sizeof(T) == sizeof(F), "a bit cast keeps the size");
  T t;
  __builtin_memcpy(&t, &f, sizeof(T));
  return t;
}
#if defined(__clang__)
#define LOOM_VEC(T, N, NAME) typedef T NAME __attribute__((ext_vector_type(N)))
#define LOOM_MEM(T, A, NAME) typedef T NAME __attribute__((aligned(A), may_alias))
typedef _Float16 loom_f16;
#else
// A vector is a struct with the same operators. NVRTC and g++ take this form.
template <class T, int N> struct loom_vec {
  T v[N];
  LOOM_FN_MEMBER T &operator[](int i) { return v[i]; }
  LOOM_FN_MEMBER const T &operator[](int i) const { return v[i]; }
};
#endif
#if defined(LOOM_AMDGPU)
#define LOOM_LOAD_NT(T, p) __builtin_nontemporal_load((const T *)(p))
#define LOOM_STORE_NT(T, p, v) __builtin_nontemporal_store((v), (T *)(p))
#else
#define LOOM_LOAD_NT(T, p) (*(const T *)(p))
#define LOOM_STORE_NT(T, p, v) (*(T *)(p) = (v))
#endif
LOOM_FN loom_f32 loom_bits_f32(loom_u32 b) { return loom_bitcast<loom_f32>(b); }
LOOM_FN loom_f64 loom_bits_f64(loom_u64 b) { return loom_bitcast<loom_f64>(b); }
LOOM_FN loom_f16 loom_bits_f16(loom_u16 b) { return loom_bitcast<loom_f16>(b); }
LOOM_FN loom_u32 loom_f32_bits(loom_f32 f) { return loom_bitcast<loom_u32>(f); }
LOOM_FN loom_u64 loom_f64_bits(loom_f64 f) { return loom_bitcast<loom_u64>(f); }
LOOM_FN loom_u16 loom_f16_bits(loom_f16 f) { return loom_bitcast<loom_u16>(f); }
