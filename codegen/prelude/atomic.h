Atomics on elements of 8 and 16 bits.

No device here has them. They are done on the aligned 32-bit word that holds the
element. The word may reach past the ends of the buffer, by at most three bytes
that lie in the same allocation granule; their bits are put back as they were, and
a change made to them in between only repeats the step.

//@ loom_narrow_place
// The word that holds the byte at p; shift is the position of that byte in it.
LOOM_FN loom_u32 *loom_narrow_place(loom_u8 *p, loom_u32 &shift) {
  const loom_u32 at = (loom_u32)(loom_u64)p & 3u;
  shift = 8u * at;
  return (loom_u32 *)(p - at);
}
//@ loom_narrow_bits loom_narrow_value
template <int N> struct loom_narrow_uint;
template <> struct loom_narrow_uint<1> { typedef loom_u8 type; };
template <> struct loom_narrow_uint<2> { typedef loom_u16 type; };
template <class T> LOOM_FN loom_u32 loom_narrow_bits(T v) { return (loom_u32)loom_bitcast<typename loom_narrow_uint<(int)sizeof(T)>::type>(v); }
template <class T> LOOM_FN T loom_narrow_value(loom_u32 word, loom_u32 shift) {
  typedef typename loom_narrow_uint<(int)sizeof(T)>::type U;
  return loom_bitcast<T>((U)(word >> shift));
}
//@ loom_narrow_or
template <int S, class T> LOOM_FN T loom_narrow_or(loom_u8 *p, T v, int order) {
  loom_u32 shift;
  loom_u32 *const q = loom_narrow_place(p, shift);
  (void)order;
  return loom_narrow_value<T>(LOOM_ATOMIC_OR(q, loom_narrow_bits(v) << shift, order, S), shift);
}
//@ loom_narrow_xor
template <int S, class T> LOOM_FN T loom_narrow_xor(loom_u8 *p, T v, int order) {
  loom_u32 shift;
  loom_u32 *const q = loom_narrow_place(p, shift);
  (void)order;
  return loom_narrow_value<T>(LOOM_ATOMIC_XOR(q, loom_narrow_bits(v) << shift, order, S), shift);
}
//@ loom_narrow_and
template <int S, class T> LOOM_FN T loom_narrow_and(loom_u8 *p, T v, int order) {
  loom_u32 shift;
  loom_u32 *const q = loom_narrow_place(p, shift);
  const loom_u32 all = (1u << (8 * sizeof(T))) - 1u;
  (void)order;
  return loom_narrow_value<T>(LOOM_ATOMIC_AND(q, ~((all ^ loom_narrow_bits(v)) << shift), order, S), shift);
}
//@ loom_narrow_loop
// Replaces the element by f(element, v); returns what was there.
template <int S, class T, class F> LOOM_FN T loom_narrow_loop(loom_u8 *p, T v, int order, F f) {
  loom_u32 shift;
  loom_u32 *const q = loom_narrow_place(p, shift);
  const loom_u32 all = ((1u << (8 * sizeof(T))) - 1u) << shift;
  loom_u32 old = *(volatile loom_u32 *)q;
  for (;;) {
    const T was = loom_narrow_value<T>(old, shift);
    const loom_u32 next = (old & ~all) | (loom_narrow_bits((T)f(was, v)) << shift);
    const loom_u32 seen = loom_cmpxchg<S>(q, old, next, order, __ATOMIC_RELAXED);
    if (seen == old) return was;
    old = seen;
  }
}
//@ loom_narrow_xchg
template <int S, class T> LOOM_FN T loom_narrow_xchg(loom_u8 *p, T v, int order) {
  return loom_narrow_loop<S>(p, v, order, [](T, T with) -> T { return with; });
}
//@ loom_narrow_cmpxchg
// Compare and swap by bits; returns what was there.
template <int S, class T> LOOM_FN T loom_narrow_cmpxchg(loom_u8 *p, T want, T with, int ok, int fail) {
  loom_u32 shift;
  loom_u32 *const q = loom_narrow_place(p, shift);
  const loom_u32 all = ((1u << (8 * sizeof(T))) - 1u) << shift;
  loom_u32 old = *(volatile loom_u32 *)q;
  for (;;) {
    const T was = loom_narrow_value<T>(old, shift);
    // A mismatch is confirmed by an atomic step too, which carries the order.
    const bool same = loom_narrow_bits(was) == loom_narrow_bits(want);
    const loom_u32 next = same ? (old & ~all) | (loom_narrow_bits(with) << shift) : old;
    const loom_u32 seen = loom_cmpxchg<S>(q, old, next, ok, fail);
    if (seen == old) return was;
    old = seen;
  }
}
