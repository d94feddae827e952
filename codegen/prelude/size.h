Work items of a workgroup, where the launch decides how many.

//@ loom_items_x
LOOM_FN loom_i32 loom_items_x() {
#if defined(LOOM_AMDGPU)
  // In the dispatch packet, which needs no runtime.
  return ((const __attribute__((address_space(4))) loom_u16 *)__builtin_amdgcn_dispatch_ptr())[2];
#elif defined(LOOM_CUDA)
  return (loom_i32)blockDim.x;
#else
  return (loom_i32)loom_host::group().size[0];
#endif
}
//@ loom_items_y
LOOM_FN loom_i32 loom_items_y() {
#if defined(LOOM_AMDGPU)
  // In the dispatch packet, which needs no runtime.
  return ((const __attribute__((address_space(4))) loom_u16 *)__builtin_amdgcn_dispatch_ptr())[3];
#elif defined(LOOM_CUDA)
  return (loom_i32)blockDim.y;
#else
  return (loom_i32)loom_host::group().size[1];
#endif
}
//@ loom_items_z
LOOM_FN loom_i32 loom_items_z() {
#if defined(LOOM_AMDGPU)
  // In the dispatch packet, which needs no runtime.
  return ((const __attribute__((address_space(4))) loom_u16 *)__builtin_amdgcn_dispatch_ptr())[4];
#elif defined(LOOM_CUDA)
  return (loom_i32)blockDim.z;
#else
  return (loom_i32)loom_host::group().size[2];
#endif
}
