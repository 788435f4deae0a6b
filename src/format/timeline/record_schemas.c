/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/record_schemas.h"

#include <stdbool.h>
#include <string.h>

/*
 * The schemas of HoodieArchivedMetaEntry and of all in it, and of restores, as of Hudi 0.15.0:
 * readers of all releases go by field names. A type is written out where it comes first, and named
 * from then on. Fields are "name:TYPE", TYPE being
 *
 *     s string   e string, "" by default   l long   i int   d double   b boolean
 *     v int or null, 1 by default          B boolean or null, false by default
 *     ?TYPE null or TYPE, null by default
 *     [TYPE array   a TYPE array, empty by default   {TYPE map   @NAME record
 */
static const struct record {
    const char *name;
    const char *fields;
} RECORDS[] = {
    {"HoodieArchivedMetaEntry",
     "hoodieCommitMetadata:?@HoodieCommitMetadata hoodieCleanMetadata:?@HoodieCleanMetadata "
     "hoodieCompactionMetadata:?@HoodieCompactionMetadata "
     "hoodieRollbackMetadata:?@HoodieRollbackMetadata "
     "hoodieSavePointMetadata:?@HoodieSavepointMetadata commitTime:?s actionType:?s version:v "
     "hoodieCompactionPlan:?@HoodieCompactionPlan hoodieCleanerPlan:?@HoodieCleanerPlan "
     "actionState:?s hoodieReplaceCommitMetadata:?@HoodieReplaceCommitMetadata "
     "hoodieRequestedReplaceMetadata:?@HoodieRequestedReplaceMetadata "
     "HoodieInflightReplaceMetadata:?@HoodieCommitMetadata "
     "hoodieIndexCommitMetadata:?@HoodieIndexCommitMetadata stateTransitionTime:?s"},
    {"HoodieCommitMetadata", "partitionToWriteStats:?{[@HoodieWriteStat extraMetadata:?{s "
                             "version:v operationType:?s"},
    {"HoodieWriteStat",
     "fileId:?s path:?s prevCommit:?s numWrites:?l numDeletes:?l numUpdateWrites:?l "
     "totalWriteBytes:?l totalWriteErrors:?l partitionPath:?s totalLogRecords:?l totalLogFiles:?l "
     "totalUpdatedRecordsCompacted:?l numInserts:?l totalLogBlocks:?l totalCorruptLogBlock:?l "
     "totalRollbackBlocks:?l fileSizeInBytes:?l"},
    {"HoodieCleanMetadata",
     "startCleanTime:s timeTakenInMillis:l totalFilesDeleted:i earliestCommitToRetain:s "
     "lastCompletedCommitTimestamp:e partitionMetadata:{@HoodieCleanPartitionMetadata version:v "
     "bootstrapPartitionMetadata:?{@HoodieCleanPartitionMetadata extraMetadata:?{s"},
    {"HoodieCleanPartitionMetadata",
     "partitionPath:s policy:s deletePathPatterns:[s successDeleteFiles:[s failedDeleteFiles:[s "
     "isPartitionDeleted:?b"},
    {"HoodieCompactionMetadata", "partitionToCompactionWriteStats:?{[@HoodieCompactionWriteStat"},
    {"HoodieCompactionWriteStat",
     "partitionPath:?s totalLogRecords:?l totalLogFiles:?l totalUpdatedRecordsCompacted:?l "
     "hoodieWriteStat:?@HoodieWriteStat"},
    {"HoodieRollbackMetadata",
     "startRollbackTime:s timeTakenInMillis:l totalFilesDeleted:i commitsRollback:[s "
     "partitionMetadata:{@HoodieRollbackPartitionMetadata version:v "
     "instantsRollback:a@HoodieInstantInfo"},
    {"HoodieRollbackPartitionMetadata",
     "partitionPath:s successDeleteFiles:[s failedDeleteFiles:[s rollbackLogFiles:?{l "
     "logFilesFromFailedCommit:?{l"},
    {"HoodieInstantInfo", "commitTime:s action:s"},
    {"HoodieSavepointMetadata", "savepointedBy:s savepointedAt:l comments:s "
                                "partitionMetadata:{@HoodieSavepointPartitionMetadata version:v"},
    {"HoodieSavepointPartitionMetadata", "partitionPath:s savepointDataFile:[s"},
    {"HoodieCompactionPlan", "operations:?[@HoodieCompactionOperation extraMetadata:?{s version:v "
                             "strategy:?@HoodieCompactionStrategy preserveHoodieMetadata:B"},
    {"HoodieCompactionOperation",
     "baseInstantTime:?s deltaFilePaths:?[s dataFilePath:?s fileId:?s partitionPath:?s "
     "metrics:?{d bootstrapFilePath:?s"},
    {"HoodieCompactionStrategy", "compactorClassName:?s strategyParams:?{s version:v"},
    {"HoodieCleanerPlan",
     "earliestInstantToRetain:?@HoodieActionInstant lastCompletedCommitTimestamp:e policy:s "
     "filesToBeDeletedPerPartition:?{[s version:v "
     "filePathsToBeDeletedPerPartition:?{[@HoodieCleanFileInfo partitionsToBeDeleted:?[s "
     "extraMetadata:?{s"},
    {"HoodieActionInstant", "timestamp:s action:s state:s"},
    {"HoodieCleanFileInfo", "filePath:?s isBootstrapBaseFile:?b"},
    {"HoodieReplaceCommitMetadata",
     "partitionToWriteStats:?{[@HoodieWriteStat extraMetadata:?{s version:v operationType:?s "
     "partitionToReplaceFileIds:?{[s"},
    {"HoodieRequestedReplaceMetadata",
     "operationType:?s clusteringPlan:?@HoodieClusteringPlan extraMetadata:?{s version:v"},
    {"HoodieClusteringPlan",
     "inputGroups:?[@HoodieClusteringGroup strategy:?@HoodieClusteringStrategy extraMetadata:?{s "
     "version:v preserveHoodieMetadata:?b"},
    {"HoodieClusteringGroup", "slices:?[@HoodieSliceInfo metrics:?{d numOutputFileGroups:v "
                              "extraMetadata:?{s version:v"},
    {"HoodieSliceInfo", "dataFilePath:?s deltaFilePaths:?[s fileId:?s partitionPath:?s "
                        "bootstrapFilePath:?s version:v"},
    {"HoodieClusteringStrategy", "strategyClassName:?s strategyParams:?{s version:v"},
    {"HoodieIndexCommitMetadata",
     "version:v operationType:?s indexPartitionInfos:?[@HoodieIndexPartitionInfo"},
    {"HoodieRestorePlan",
     "instantsToRollback:a@HoodieInstantInfo version:v savepointToRestoreTimestamp:?s"},
    {"HoodieRestoreMetadata", "startRestoreTime:s timeTakenInMillis:l instantsToRollback:[s "
                              "hoodieRestoreMetadata:{[?@HoodieRollbackMetadata version:v "
                              "restoreInstantInfo:a@HoodieInstantInfo"},
    {"HoodieIndexPartitionInfo", "version:v metadataPartitionPath:?s indexUptoInstant:?s"},
};

struct writer {
    struct hd_str *out;
    bool begun; /* the outermost record names the namespace for all */
    bool written[HD_ARRAY_LENGTH(RECORDS)];
};

static hudi_status put_record(struct hd_op *op, struct writer *w, const char *name, size_t n);

/* The type at `*at`, which is moved behind it. */
static hudi_status put_type(struct hd_op *op, struct writer *w, const char **at)
{
    static const struct {
        char letter;
        const char *json;
    } PLAIN[] = {{'s', "\"string\""},         {'e', "\"string\""},
                 {'l', "\"long\""},           {'i', "\"int\""},
                 {'d', "\"double\""},         {'b', "\"boolean\""},
                 {'v', "[\"int\",\"null\"]"}, {'B', "[\"boolean\",\"null\"]"}};
    const char letter = *(*at)++;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PLAIN); i++)
        if (letter == PLAIN[i].letter)
            return hd_str_append_text(op, w->out, PLAIN[i].json);
    if (letter == '@') {
        const size_t n = strcspn(*at, " ");
        const char *const name = *at;

        *at += n;
        return put_record(op, w, name, n);
    }
    HD_TRY(hd_str_append_text(op, w->out,
                              letter == '?'   ? "[\"null\","
                              : letter == '{' ? "{\"type\":\"map\",\"values\":"
                                              : "{\"type\":\"array\",\"items\":"));
    HD_TRY(put_type(op, w, at));
    return hd_str_append_char(op, w->out, letter == '?' ? ']' : '}');
}

static const char *default_of(char letter)
{
    switch (letter) {
    case '?':
        return ",\"default\":null";
    case 'e':
        return ",\"default\":\"\"";
    case 'v':
        return ",\"default\":1";
    case 'B':
        return ",\"default\":false";
    case 'a':
        return ",\"default\":[]";
    default:
        return "";
    }
}

static hudi_status put_fields(struct hd_op *op, struct writer *w, const char *at)
{
    for (const char *separator = ""; *at != '\0'; separator = ",") {
        const size_t n = strcspn(at, ":");
        const char letter = at[n + 1];

        HD_TRY(hd_str_printf(op, w->out, "%s{\"name\":\"%.*s\",\"type\":", separator, (int)n, at));
        at += n + 1;
        HD_TRY(put_type(op, w, &at));
        HD_TRY(hd_str_append_text(op, w->out, default_of(letter)));
        HD_TRY(hd_str_append_char(op, w->out, '}'));
        at += *at == ' ';
    }
    return HUDI_OK;
}

/* All in the namespace of the first. */
static hudi_status put_record(struct hd_op *op, struct writer *w, const char *name, size_t n)
{
    size_t i = 0;

    while (strlen(RECORDS[i].name) != n || memcmp(RECORDS[i].name, name, n) != 0)
        i++;
    if (w->written[i])
        return hd_str_printf(op, w->out, "\"%s\"", RECORDS[i].name);
    w->written[i] = true;
    HD_TRY(hd_str_printf(op, w->out, "{\"type\":\"record\",\"name\":\"%s\",", RECORDS[i].name));
    if (!w->begun)
        HD_TRY(hd_str_append_text(op, w->out, "\"namespace\":\"org.apache.hudi.avro.model\","));
    w->begun = true;
    HD_TRY(hd_str_append_text(op, w->out, "\"fields\":["));
    HD_TRY(put_fields(op, w, RECORDS[i].fields));
    return hd_str_append_text(op, w->out, "]}");
}

hudi_status hd_record_schema(struct hd_op *op, const char *name, struct hd_str *out)
{
    struct writer w = {.out = out};

    return put_record(op, &w, name, strlen(name));
}
