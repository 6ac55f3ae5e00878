/* What the kernels of a wheel take from numba when it compiles them: memory that is counted, and a new shape for
   an array. Numba's documentation of its runtime says what each function does. */
#include <stdint.h>
#include <stdlib.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

typedef struct Memory {
    size_t references;
    void (*destroy)(void *, size_t, void *);
    void *destroy_with;
    void *data;
    size_t size;
    void *allocator;
} Memory;

void *NRT_Allocate(size_t size) { return malloc(size); }

void NRT_Free(void *data) { free(data); }

Memory *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align) {
    Memory *memory = malloc(sizeof(Memory) + size + align);
    if (memory) {
        uintptr_t data = (uintptr_t)(memory + 1);
        *memory = (Memory){1, NULL, NULL, (void *)((data + align - 1) / align * align), size, NULL};
    }
    return memory;
}

Memory *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

/* The list of a sort: never made longer. */
Memory *NRT_MemInfo_new_varsize_dtor(size_t size, void (*destroy)(void *, size_t, void *)) {
    Memory *memory = NRT_MemInfo_alloc(size);
    if (memory) memory->destroy = destroy;
    return memory;
}

void NRT_MemInfo_call_dtor(Memory *memory) {
    if (memory->destroy) memory->destroy(memory->data, memory->size, memory->destroy_with);
    free(memory);
}

/* Python's functions that write the message of an error; `compiled.py` does not ask for it. */
#ifdef __GNUC__
#define HIDDEN __attribute__((visibility("hidden")))
#else
#define HIDDEN
#endif
HIDDEN void *PyExc_RuntimeError;
HIDDEN void *PyUnicode_FromKindAndData(int kind, const void *data, intptr_t size) { return NULL; }
HIDDEN void *PyTuple_Pack(intptr_t size, ...) { return NULL; }
HIDDEN intptr_t PyObject_Hash(void *object) { return 0; }
HIDDEN void PyErr_SetString(void *kind, const char *text) {}

/* An array that a kernel returned was copied. */
EXPORT void bgfmt_release(Memory *memory) {
    if (memory && --memory->references == 0) NRT_MemInfo_call_dtor(memory);
}

/* The strides of an array of consecutive items in a new shape; 0 where its items are not consecutive. */
int numba_attempt_nocopy_reshape(intptr_t nd, const intptr_t *shape, const intptr_t *strides, intptr_t new_nd,
                                 const intptr_t *new_shape, intptr_t *new_strides, intptr_t item, int fortran) {
    intptr_t step = item;
    for (intptr_t k = nd - 1; k >= 0; step *= shape[k--])
        if (shape[k] != 1 && strides[k] != step) return 0;
    step = item;
    for (intptr_t k = new_nd - 1; k >= 0; step *= new_shape[k--]) new_strides[k] = step;
    return !fortran;
}

/* The level of the processor: the last of the levels of the library that it has. */
EXPORT int32_t bgfmt_level(void) {
#if defined(__x86_64__) && (defined(__clang__) || defined(__GNUC__))
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}
