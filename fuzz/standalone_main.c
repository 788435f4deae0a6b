/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: every file of the folders and files named, whole and cut at
 * up to MAX_CUTS places; of those behind `--whole`, only whole. No file at all is a failure, since
 * then nothing was checked.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_CUTS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_inputs;
static bool cuts = true;

/* A copy of exactly `n_bytes`, so that AddressSanitizer sees the first byte read past its end. */
static void run_input(const uint8_t *data, size_t n_bytes)
{
    uint8_t *exact = malloc(n_bytes > 0 ? n_bytes : 1);

    if (exact == NULL)
        abort();
    memcpy(exact, data, n_bytes);
    LLVMFuzzerTestOneInput(exact, n_bytes);
    free(exact);
    n_inputs++;
}

static int run_file(const char *path, size_t n_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(n_bytes + 1);

    if (file == NULL || data == NULL || fread(data, 1, n_bytes, file) != n_bytes) {
        perror(path);
        return 1;
    }
    fclose(file);
    size_t step = n_bytes / MAX_CUTS + 1;
    for (size_t n = 0; cuts && n < n_bytes; n += step)
        run_input(data, n);
    run_input(data, n_bytes);
    free(data);
    return 0;
}

static int run_path(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(st.st_mode))
        return run_file(path, (size_t)st.st_size);

    DIR *dir = opendir(path);
    int failed = dir == NULL;
    for (struct dirent *entry; !failed && (entry = readdir(dir)) != NULL;) {
        char child[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        failed = run_path(child);
    }
    if (dir != NULL)
        closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--whole") == 0)
            cuts = false;
        else if (run_path(argv[i]) != 0)
            return 1;
    }
    printf("%zu inputs\n", n_inputs);
    return n_inputs > 0 ? 0 : 1;
}
