/* SPDX-License-Identifier: Apache-2.0 */
package libhudi.interop.flink;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.SourceFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Bounded source of JSON lines. A line {"_checkpoint": true} ends a batch: the source then waits until a
 * checkpoint taken after the batch is complete, so that each batch becomes one Hudi instant.
 */
public class JsonLinesSource implements SourceFunction<RowData>, CheckpointedFunction, CheckpointListener {
  private static final long serialVersionUID = 1L;

  private final String path;
  private final RowType rowType;
  private final boolean await;
  private final String crash;
  private final long lingerMs;
  private volatile boolean running = true;
  private transient volatile long emittedBatches;
  private transient volatile long completedBatches;
  private transient volatile long pendingId;
  private transient volatile long pendingBatches;

  JsonLinesSource(String path, RowType rowType, boolean await, String crash, long lingerMs) {
    this.path = path;
    this.rowType = rowType;
    this.await = await;
    this.crash = crash;
    this.lingerMs = lingerMs;
  }

  @Override
  public void run(SourceContext<RowData> ctx) throws Exception {
    List<RowData> batch = new ArrayList<>();
    try (BufferedReader in = Files.newBufferedReader(Paths.get(path), StandardCharsets.UTF_8)) {
      String line;
      while (running && (line = in.readLine()) != null) {
        if (line.isEmpty()) {
          continue;
        }
        if (line.startsWith("{\"_checkpoint\"")) {
          emit(ctx, batch);
          awaitCheckpoint();
          continue;
        }
        JsonNode node = JsonRows.parse(line);
        GenericRowData row = JsonRows.toRow(node, rowType);
        JsonNode op = node.get("_op");
        if (op != null) {
          row.setRowKind(JsonRows.kind(op.asText()));
        }
        if (await) {
          batch.add(row);
        } else {
          ctx.collect(row);
        }
      }
    }
    emit(ctx, batch);
    if (lingerMs > 0) {
      Thread.sleep(lingerMs);
    }
    if ("fail".equals(crash)) {
      throw new IllegalStateException("asked to fail before the last batch is committed");
    }
    if ("halt".equals(crash)) {
      Runtime.getRuntime().halt(9);
    }
  }

  /** The whole batch goes out under the checkpoint lock: no barrier can cut it in two. */
  private void emit(SourceContext<RowData> ctx, List<RowData> batch) {
    synchronized (ctx.getCheckpointLock()) {
      for (RowData row : batch) {
        ctx.collect(row);
      }
      batch.clear();
      emittedBatches++;
    }
  }

  private void awaitCheckpoint() throws InterruptedException {
    while (running && await && completedBatches < emittedBatches) {
      Thread.sleep(5);
    }
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) {
    pendingId = context.getCheckpointId();
    pendingBatches = emittedBatches;
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    if (checkpointId >= pendingId) {
      completedBatches = Math.max(completedBatches, pendingBatches);
    }
  }

  @Override
  public void initializeState(FunctionInitializationContext context) {}

  @Override
  public void cancel() {
    running = false;
  }
}
