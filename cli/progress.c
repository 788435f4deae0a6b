/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define REFRESH_SECONDS 0.2

/* The one line on standard error. */
static struct line {
    pthread_mutex_t lock;
    bool is_shown;
    double shown;
    char what[128]; /* of the work at hand */
    double started;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds since this work began, or -1 when the line was shown just now. */
static double due(const char *what)
{
    const double at = now();

    if (strncmp(line.what, what, sizeof line.what - 1) != 0) { /* as much of it as is kept */
        snprintf(line.what, sizeof line.what, "%s", what);
        line.started = at;
        line.shown = 0;
    }
    if (at - line.shown < REFRESH_SECONDS)
        return -1;
    line.shown = at;
    line.is_shown = true;
    return at - line.started;
}

static double rate(unsigned long long n, double seconds)
{
    return seconds > 0 ? (double)n / seconds : 0.0;
}

void cli_progress_end(void)
{
    pthread_mutex_lock(&line.lock);
    if (line.is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    line.is_shown = false;
    line.shown = 0;
    pthread_mutex_unlock(&line.lock);
}

/* ---- services ------------------------------------------------------------------------------- */

static void show_service(void *self, const hudi_progress *progress)
{
    const unsigned long long n = hudi_progress_done(progress),
                             total = hudi_progress_total(progress);
    const unsigned long long n_rows = hudi_progress_rows(progress);

    (void)self;
    pthread_mutex_lock(&line.lock);
    const double seconds = due(hudi_progress_what(progress));
    if (seconds >= 0) {
        fprintf(stderr, "\r\033[K%s: %llu of %llu %s", hudi_progress_what(progress), n, total,
                hudi_progress_unit(progress));
        if (n_rows > 0)
            fprintf(stderr, ", %llu rows, %.0f rows/s", n_rows, rate(n_rows, seconds));
        if (n > 0 && n < total)
            fprintf(stderr, ", %.0f s left", seconds * (double)(total - n) / (double)n);
        fflush(stderr);
    }
    pthread_mutex_unlock(&line.lock);
}

void cli_progress_watch(hudi_context *context)
{
    if (isatty(STDERR_FILENO))
        hudi_context_set_progress(context, show_service, NULL);
}

/* ---- rows that are read --------------------------------------------------------------------- */

struct progress {
    struct ArrowArrayStream in;
    const char *what;
    unsigned long long n_rows;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct progress *progress = stream->private_data;

    return progress->in.get_schema(&progress->in, out);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct progress *progress = stream->private_data;
    const int status = progress->in.get_next(&progress->in, out);

    if (status != 0 || out->release == NULL) {
        cli_progress_end();
        return status;
    }
    progress->n_rows += (unsigned long long)out->length;
    pthread_mutex_lock(&line.lock);
    const double seconds = due(progress->what);
    if (seconds >= 0) {
        fprintf(stderr, "\r\033[K%s: %llu rows, %.0f rows/s", progress->what, progress->n_rows,
                rate(progress->n_rows, seconds));
        fflush(stderr);
    }
    pthread_mutex_unlock(&line.lock);
    return 0;
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
    line.what[0] = '\0'; /* begins anew, also with the same file */
    *progress = (struct progress){.in = *out, .what = what};
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release,
                                     .private_data = progress};
}
