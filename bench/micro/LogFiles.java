/* SPDX-License-Identifier: Apache-2.0 */
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.common.model.HoodieAvroIndexedRecord;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.table.log.HoodieLogFileReader;
import org.apache.hudi.common.table.log.HoodieLogFormat;
import org.apache.hudi.common.table.log.HoodieMergedLogRecordScanner;
import org.apache.hudi.common.table.log.block.HoodieAvroDataBlock;
import org.apache.hudi.common.table.log.block.HoodieDataBlock;
import org.apache.hudi.common.table.log.block.HoodieLogBlock.HeaderMetadataType;
import org.apache.hudi.common.util.collection.ClosableIterator;
import org.apache.hudi.common.util.collection.ExternalSpillableMap.DiskMapType;
import org.apache.hudi.hadoop.fs.HadoopFSUtils;
import org.apache.hudi.storage.HoodieStorage;
import org.apache.hudi.storage.HoodieStorageUtils;
import org.apache.hudi.storage.StoragePath;

/**
 * What log_files_bench.c does, by Hudi's own classes: LogFiles TABLE LOG SPILL_BYTES ROUNDS.
 * Prints NAME RECORDS CPU_SECONDS of the cheapest round, compilers and collector of the JVM included.
 */
public final class LogFiles {
    private interface Work {
        long run() throws Exception;
    }

    private static HoodieStorage storage;
    private static StoragePath log;
    private static Schema schema;

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static void measure(String name, int rounds, Work work) throws Exception {
        long best = Long.MAX_VALUE, n = 0;
        for (int i = 0; i < rounds; i++) {
            System.gc();
            long start = cpu();
            n = work.run();
            best = Math.min(best, cpu() - start);
        }
        System.out.printf("%s %d %.3f%n", name, n, best / 1e9);
    }

    /** Every record of the log, handed to `to` (null: counted). */
    private static long decode(List<HoodieRecord> to) throws Exception {
        long n = 0;
        try (HoodieLogFileReader reader = new HoodieLogFileReader(storage, new HoodieLogFile(log), schema, 16 << 20)) {
            while (reader.hasNext()) {
                HoodieDataBlock block = (HoodieDataBlock) reader.next();
                schema = schema == null ? new Schema.Parser().parse(block.getLogBlockHeader()
                        .get(HeaderMetadataType.SCHEMA)) : schema;
                try (ClosableIterator<HoodieRecord<Object>> records =
                        block.getRecordIterator(HoodieRecord.HoodieRecordType.AVRO)) {
                    for (; records.hasNext(); n++) {
                        HoodieRecord<Object> record = records.next();
                        if (to != null)
                            to.add(record);
                    }
                }
            }
        }
        return n;
    }

    private static long write(List<HoodieRecord> records) throws Exception {
        File folder = Files.createTempDirectory("log-files-bench").toFile();
        Map<HeaderMetadataType, String> header = new HashMap<>();
        header.put(HeaderMetadataType.INSTANT_TIME, "20240101000000000");
        header.put(HeaderMetadataType.SCHEMA, schema.toString());
        try (HoodieLogFormat.Writer writer = HoodieLogFormat.newWriterBuilder()
                .onParentPath(new StoragePath(folder.toURI())).withFileExtension(HoodieLogFile.DELTA_EXTENSION)
                .withFileId("bench-0").overBaseCommit("20240101000000000").withStorage(storage)
                .withSizeThreshold(Long.MAX_VALUE).build()) {
            writer.appendBlock(new HoodieAvroDataBlock(records, header, HoodieRecord.RECORD_KEY_METADATA_FIELD));
        }
        for (File file : folder.listFiles())
            file.delete();
        folder.delete();
        return records.size();
    }

    private static long scan(String table, long memory) throws Exception {
        long n = 0;
        HoodieMergedLogRecordScanner scanner = HoodieMergedLogRecordScanner.newBuilder().withStorage(storage)
                .withBasePath(table).withLogFilePaths(Collections.singletonList(log.toString()))
                .withReaderSchema(schema).withLatestInstantTime("99999999999999999").withReverseReader(false)
                .withBufferSize(16 << 20).withMaxMemorySizeInBytes(memory)
                .withSpillableMapBasePath(System.getProperty("java.io.tmpdir")).withDiskMapType(DiskMapType.BITCASK)
                .withBitCaskDiskMapCompressionEnabled(true).build();
        for (HoodieRecord record : scanner)
            n++;
        scanner.close();
        return n;
    }

    public static void main(String[] arguments) throws Exception {
        String table = arguments[0];
        int rounds = Integer.parseInt(arguments[3]);
        log = new StoragePath(arguments[1]);
        storage = HoodieStorageUtils.getStorage(log, HadoopFSUtils.getStorageConf(new Configuration()));
        decode(null);
        measure("decode", rounds, () -> decode(null));
        List<HoodieRecord> records = new ArrayList<>();
        decode(records);
        measure("write", rounds, () -> write(records));
        records.clear();
        measure("scan", rounds, () -> scan(table, 8L << 30));
        measure("scan-spilling", 1, () -> scan(table, Long.parseLong(arguments[2])));
    }
}
