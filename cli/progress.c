/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define REFRESH_SECONDS 0.2

struct progress {
    struct ArrowArrayStream in;
    const char *what;
    long long n_rows;
    double started, shown;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct progress *progress = stream->private_data;

    return progress->in.get_schema(&progress->in, out);
}

static void show(struct progress *progress, double at)
{
    const double seconds = at - progress->started;

    progress->shown = at;
    fprintf(stderr, "\r\033[K%s: %lld rows, %.0f rows/s", progress->what, progress->n_rows,
            seconds > 0 ? (double)progress->n_rows / seconds : 0.0);
    fflush(stderr);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct progress *progress = stream->private_data;
    const int status = progress->in.get_next(&progress->in, out);
    const double at = now();

    if (status == 0 && out->release != NULL)
        progress->n_rows += out->length;
    if (status == 0 && out->release == NULL)
        fputs("\r\033[K", stderr);
    else if (at - progress->shown >= REFRESH_SECONDS)
        show(progress, at);
    return status;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    struct progress *progress = stream->private_data;

    return progress->in.get_last_error(&progress->in);
}

static void release(struct ArrowArrayStream *stream)
{
    struct progress *progress = stream->private_data;

    if (progress->in.release != NULL)
        progress->in.release(&progress->in);
    free(progress);
    stream->release = NULL;
}

void cli_progress(struct ArrowArrayStream *in, const char *what, struct ArrowArrayStream *out)
{
    struct progress *progress = NULL;

    if (isatty(STDERR_FILENO))
        progress = calloc(1, sizeof *progress);
    *out = *in;
    *in = (struct ArrowArrayStream){0};
    if (progress == NULL) /* no terminal, or no memory for a luxury */
        return;
    *progress = (struct progress){.in = *out, .what = what, .started = now(), .shown = now()};
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release,
                                     .private_data = progress};
}
