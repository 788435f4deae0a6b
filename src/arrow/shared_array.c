/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "arrow/array.h"

/*
 * Every node of a handle holds one reference, so that a child which is moved out of its parent
 * lives on by itself. Nodes point at the buffer tables of the shared array.
 */
struct hd_shared_array {
    _Atomic(uint64_t) n_references;
    struct ArrowArray array;
};

/* One allocation: this | child pointers | children | dictionary. */
struct handle {
    struct hd_shared_array *shared;
    struct ArrowArray *children[];
};

hudi_status hd_shared_array_new(struct hd_op *op, struct ArrowArray *array,
                                struct hd_shared_array **out)
{
    struct ArrowArray taken;

    hd_array_move(array, &taken);
    const hudi_status status = hd_alloc(op, sizeof **out, out);
    if (status != HUDI_OK) {
        hd_array_clear(&taken);
        return status;
    }
    atomic_init(&(*out)->n_references, 1);
    (*out)->array = taken;
    return HUDI_OK;
}

const struct ArrowArray *hd_shared_array_get(const struct hd_shared_array *shared)
{
    return &shared->array;
}

void hd_shared_array_free(struct hd_shared_array *shared)
{
    if (shared == NULL ||
        atomic_fetch_sub_explicit(&shared->n_references, 1, memory_order_acq_rel) != 1)
        return;
    hd_array_clear(&shared->array);
    hd_free(NULL, shared);
}

static void handle_release(struct ArrowArray *array)
{
    struct handle *handle = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    hd_shared_array_free(handle->shared);
    hd_free(NULL, handle);
    array->release = NULL;
}

static hudi_status share(struct hd_op *op, struct hd_shared_array *shared,
                         const struct ArrowArray *from, int depth, struct ArrowArray *out)
{
    const size_t n_children = (size_t)from->n_children;
    const size_t n_nodes = n_children + (from->dictionary == NULL ? 0 : 1);
    struct handle *handle;
    hudi_status status = HUDI_OK;

    *out = (struct ArrowArray){0};
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_alloc(
        op, sizeof *handle + n_children * sizeof(void *) + n_nodes * sizeof(struct ArrowArray),
        &handle));
    struct ArrowArray *nodes = (struct ArrowArray *)&handle->children[n_children];
    for (size_t i = 0; i < n_children; i++)
        handle->children[i] = &nodes[i];
    *out = *from;
    out->children = handle->children;
    out->dictionary = from->dictionary == NULL ? NULL : &nodes[n_children];
    out->private_data = handle;
    out->release = handle_release;
    handle->shared = shared;
    atomic_fetch_add_explicit(&shared->n_references, 1, memory_order_relaxed);
    for (size_t i = 0; i < n_children; i++)
        HD_TRY_OUT(share(op, shared, from->children[i], depth + 1, &nodes[i]));
    if (from->dictionary != NULL)
        HD_TRY_OUT(share(op, shared, from->dictionary, depth + 1, &nodes[n_children]));
out:
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}

hudi_status hd_array_share(struct hd_op *op, struct hd_shared_array *shared, int32_t column,
                           struct ArrowArray *out)
{
    const struct ArrowArray *whole = &shared->array;

    if (column < 0)
        return share(op, shared, whole, 0, out);
    *out = (struct ArrowArray){0};
    if (column >= whole->n_children)
        return hd_fail(op, HUDI_INVALID, "column %d of %lld is wanted", (int)column,
                       (long long)whole->n_children);
    struct ArrowArray child;
    HD_TRY(share(op, shared, whole->children[column], 0, &child));
    return hd_array_slice(op, &child, whole->offset, whole->length, out);
}

static void borrowed_release(struct ArrowArray *array)
{
    array->release = NULL; /* the owner releases it */
}

hudi_status hd_array_borrow(struct hd_op *op, const struct ArrowArray *array,
                            struct ArrowArray *out)
{
    struct ArrowArray borrowed = *array;
    struct hd_shared_array *shared;

    *out = (struct ArrowArray){0};
    borrowed.release = borrowed_release;
    borrowed.private_data = NULL;
    HD_TRY(hd_shared_array_new(op, &borrowed, &shared));
    const hudi_status status = hd_array_share(op, shared, -1, out);
    hd_shared_array_free(shared);
    return status;
}
