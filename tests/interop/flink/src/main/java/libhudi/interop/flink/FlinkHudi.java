/* SPDX-License-Identifier: Apache-2.0 */
package libhudi.interop.flink;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.TableSchemaResolver;
import org.apache.hudi.sink.compact.HoodieFlinkCompactor;
import org.apache.hudi.util.AvroSchemaConverter;
import org.apache.hudi.util.StreamerUtil;

/** Runs Flink SQL with the Hudi connector in this one JVM. See README.md for the sub-commands. */
public final class FlinkHudi {
  private final Map<String, String> flags = new LinkedHashMap<>();
  private final Map<String, String> options = new LinkedHashMap<>();
  private final List<String> rest = new ArrayList<>();
  private static final String COMMIT_TIME = "_hoodie_commit_time";
  private static final String SEQNO = "_hoodie_commit_seqno";

  public static void main(String[] args) throws Exception {
    if (args.length == 0) {
      throw new IllegalArgumentException("sub-command missing: write, read, stream-read, compact, schema, sql or script");
    }
    if (!System.getProperty("java.version").startsWith("1.")) {
      System.setProperty("java.version", "1.8.0_300"); // HBase 1.2 (metadata table) takes only this form
    }
    int rc = 0;
    if (args[0].equals("script")) {
      rc = script(args[1]);
    } else {
      one(args);
    }
    System.out.flush();
    System.err.flush();
    // Hudi's timeline server leaves threads that are no daemons.
    Runtime.getRuntime().halt(rc);
  }

  /**
   * Many sub-commands in one JVM. Each line is {"args": [...], "out": FILE, "may_fail": true}, the last two at
   * will; FILE "-" reads the lines from standard input. Each is answered by a line {"ok": ..., "seconds": ...}.
   */
  private static int script(String file) throws Exception {
    int failed = 0;
    PrintStream console = System.out;
    BufferedReader in = file.equals("-")
        ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
        : Files.newBufferedReader(Paths.get(file), StandardCharsets.UTF_8);
    String line;
    while ((line = in.readLine()) != null) {
      if (line.trim().isEmpty() || line.startsWith("#")) {
        continue;
      }
      JsonNode node = JsonRows.parse(line);
      List<String> words = new ArrayList<>();
      node.get("args").forEach(w -> words.add(w.asText()));
      boolean mayFail = node.has("may_fail") && node.get("may_fail").asBoolean();
      ObjectNode answer = JsonRows.MAPPER.createObjectNode();
      long start = System.nanoTime();
      try {
        if (node.has("out")) {
          System.setOut(new PrintStream(new FileOutputStream(node.get("out").asText()), false, "UTF-8"));
        }
        one(words.toArray(new String[0]));
        answer.put("ok", true);
      } catch (Exception | LinkageError e) {
        answer.put("ok", false);
        StringBuilder causes = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
          causes.append(causes.length() == 0 ? "" : " <- ").append(t);
        }
        answer.put("error", causes.toString());
        failed += mayFail ? 0 : 1;
      } finally {
        if (System.out != console) {
          System.out.close();
          System.setOut(console);
        }
      }
      answer.put("seconds", (System.nanoTime() - start) / 1_000_000 / 1e3);
      console.println(JsonRows.MAPPER.writeValueAsString(answer));
      console.flush();
    }
    return failed == 0 ? 0 : 1;
  }

  private static void one(String[] args) throws Exception {
    FlinkHudi run = new FlinkHudi(Arrays.copyOfRange(args, 1, args.length));
    long start = System.nanoTime();
    switch (args[0]) {
      case "write":
        run.write();
        break;
      case "read":
        run.read();
        break;
      case "stream-read":
        run.streamRead();
        break;
      case "compact":
        run.compact();
        break;
      case "schema":
        run.schema();
        break;
      case "sql":
        run.sql();
        break;
      default:
        throw new IllegalArgumentException("unknown sub-command " + args[0]);
    }
    if (run.flags.containsKey("timing")) {
      System.err.printf("timing total_s=%.3f%n", (System.nanoTime() - start) / 1e9);
    }
  }

  private static final List<String> BARE = Arrays.asList("batch", "overwrite", "changelog", "no-await", "append-fs",
      "schedule", "lifo", "no-meta", "timing", "unsorted", "count");

  private FlinkHudi(String[] args) {
    for (int i = 0; i < args.length; i++) {
      if (args[i].equals("-o")) {
        String[] kv = args[++i].split("=", 2);
        options.put(kv[0], kv[1]);
      } else if (args[i].startsWith("--")) {
        String name = args[i].substring(2);
        flags.put(name, BARE.contains(name) ? "true" : args[++i]);
      } else {
        rest.add(args[i]);
      }
    }
  }

  private String need(String flag) {
    String v = flags.get(flag);
    if (v == null) {
      throw new IllegalArgumentException("--" + flag + " missing");
    }
    return v;
  }

  private String tablePath() {
    String path = Paths.get(need("table")).toAbsolutePath().normalize().toString();
    return (flags.containsKey("append-fs") ? "maprfs://" : "file://") + path;
  }

  private int parallelism() {
    return Integer.parseInt(flags.getOrDefault("parallelism", "1"));
  }

  private TableEnvironment environment(boolean batch) {
    TableEnvironment env;
    if (batch) {
      env = TableEnvironment.create(EnvironmentSettings.newInstance().useBlinkPlanner().inBatchMode().build());
    } else {
      Configuration conf = new Configuration();
      if (flags.containsKey("rest-port")) {
        conf.setString("rest.port", flags.get("rest-port"));
      }
      StreamExecutionEnvironment stream = StreamExecutionEnvironment.createLocalEnvironment(parallelism(), conf);
      stream.enableCheckpointing(Long.parseLong(flags.getOrDefault("checkpoint-ms", "200")),
          CheckpointingMode.EXACTLY_ONCE);
      stream.getCheckpointConfig().setMinPauseBetweenCheckpoints(
          Long.parseLong(flags.getOrDefault("checkpoint-pause-ms", "50")));
      env = StreamTableEnvironment.create(stream,
          EnvironmentSettings.newInstance().useBlinkPlanner().inStreamingMode().build());
    }
    Configuration c = env.getConfig().getConfiguration();
    c.setString("parallelism.default", Integer.toString(parallelism()));
    c.setString("table.exec.resource.default-parallelism", Integer.toString(parallelism()));
    c.setString("table.exec.sink.upsert-materialize", "NONE");
    c.setString("restart-strategy", "none");
    env.getConfig().setLocalTimeZone(java.time.ZoneId.of("UTC"));
    return env;
  }

  private static String quote(String s) {
    return "'" + s.replace("'", "''") + "'";
  }

  private static String with(Map<String, String> m) {
    StringBuilder b = new StringBuilder();
    for (Map.Entry<String, String> e : m.entrySet()) {
      b.append(b.length() == 0 ? "" : ",\n  ").append(quote(e.getKey())).append(" = ").append(quote(e.getValue()));
    }
    return b.toString();
  }

  private static String names(String list) {
    StringBuilder b = new StringBuilder();
    for (String n : list.split(",")) {
      b.append(b.length() == 0 ? "`" : ", `").append(n.trim()).append('`');
    }
    return b.toString();
  }

  private Map<String, String> hudiOptions() {
    Map<String, String> m = new LinkedHashMap<>();
    m.put("connector", "hudi");
    m.put("path", tablePath());
    if (flags.containsKey("type")) {
      m.put("table.type", flags.get("type").equals("mor") ? "MERGE_ON_READ" : "COPY_ON_WRITE");
    }
    String p = Integer.toString(parallelism());
    for (String k : new String[] {"write.tasks", "write.bucket_assign.tasks", "write.index_bootstrap.tasks",
        "compaction.tasks", "read.tasks"}) {
      m.put(k, p);
    }
    m.putAll(options);
    return m;
  }

  private void write() throws Exception {
    boolean batch = flags.containsKey("batch") || flags.containsKey("overwrite");
    TableEnvironment env = environment(batch);
    String columns = need("columns");
    String input = Paths.get(need("input")).toAbsolutePath().toString();
    Map<String, String> source = new LinkedHashMap<>();
    source.put("connector", "libhudi-jsonl");
    source.put("path", input);
    source.put("changelog", Boolean.toString(flags.containsKey("changelog")));
    source.put("await-checkpoints", Boolean.toString(!batch && !flags.containsKey("no-await")));
    source.put("crash", flags.getOrDefault("crash", "none"));
    source.put("linger-ms", flags.getOrDefault("linger-ms", "0"));
    env.executeSql("CREATE TABLE src (" + columns + ") WITH (" + with(source) + ")");
    String key = flags.containsKey("key") ? ",\n  PRIMARY KEY (" + names(flags.get("key")) + ") NOT ENFORCED" : "";
    String part = flags.containsKey("partition") ? " PARTITIONED BY (" + names(flags.get("partition")) + ")" : "";
    String ddl = "CREATE TABLE `" + flags.getOrDefault("name", "t") + "` (" + columns + key + ")" + part
        + " WITH (\n  " + with(hudiOptions()) + ")";
    env.executeSql(ddl);
    String verb = flags.containsKey("overwrite") ? "INSERT OVERWRITE `" : "INSERT INTO `";
    String select = flags.getOrDefault("select", "SELECT * FROM src");
    String name = flags.getOrDefault("name", "t") + "` ";
    String target = flags.containsKey("static-partition") ? name + "PARTITION (" + flags.get("static-partition") + ") " : name;
    long start = System.nanoTime();
    try {
      await(env.executeSql(verb + target + select));
    } finally {
      settle(Paths.get(need("table")));
    }
    if (flags.containsKey("timing")) {
      System.err.printf("timing job_s=%.3f%n", (System.nanoTime() - start) / 1e9);
    }
  }

  private static void await(TableResult write) throws Exception {
    try {
      write.await();
    } catch (Exception e) {
      if (!onlyTheLastAckIsLost(e)) {
        throw e;
      }
    }
  }

  /**
   * At the end of the input, Hudi 0.10's coordinator tells the write task that what it committed is committed. Where
   * the task has finished before the word arrives, Flink fails the job: after the commit, with nothing of it undone.
   */
  private static boolean onlyTheLastAckIsLost(Throwable failure) {
    boolean ack = false;
    boolean finished = false;
    for (Throwable t = failure; t != null; t = t.getCause()) {
      String text = t.toString();
      ack |= text.contains("CommitAckEvent") && text.contains("was lost");
      finished |= text.contains("TaskNotRunningException") && text.contains("FINISHED");
    }
    return ack && finished;
  }

  /**
   * Hudi 0.10 commits the last instant in a thread of the coordinator, and the job may be reported as done before
   * that thread is. So wait until nothing under .hoodie has changed for a while.
   */
  private static void settle(Path table) throws IOException, InterruptedException {
    Path meta = table.resolve(".hoodie");
    String last = "";
    for (int quiet = 0, tries = 0; quiet < (pending(meta) ? 40 : 4) && tries < 240; tries++) {
      Thread.sleep(250);
      StringBuilder now = new StringBuilder();
      if (Files.isDirectory(meta)) {
        try (java.util.stream.Stream<Path> walk = Files.walk(meta)) {
          walk.forEach(p -> now.append(p).append(p.toFile().length()).append(p.toFile().lastModified()));
        } catch (java.io.UncheckedIOException e) {
          now.append(tries); // a file went away under the walk
        }
      }
      quiet = now.toString().equals(last) ? quiet + 1 : 0;
      last = now.toString();
    }
  }

  /** True when an instant is inflight and has no completed file yet. */
  private static boolean pending(Path meta) {
    String[] names = meta.toFile().list();
    if (names == null) {
      return false;
    }
    java.util.Set<String> done = new java.util.HashSet<>();
    java.util.Set<String> open = new java.util.HashSet<>();
    for (String n : names) {
      String[] parts = n.split("\\.");
      if (n.endsWith(".inflight") && !n.contains(".compaction.")) {
        open.add(parts[0]);
      } else if (parts.length == 2) {
        done.add(parts[0]);
      }
    }
    open.removeAll(done);
    return !open.isEmpty();
  }

  private RowType tableType() throws Exception {
    HoodieTableMetaClient client = HoodieTableMetaClient.builder()
        .setConf(StreamerUtil.getHadoopConf()).setBasePath(tablePath()).build();
    DataType type = AvroSchemaConverter.convertToDataType(
        new TableSchemaResolver(client).getTableAvroSchema(!flags.containsKey("no-meta")));
    if (!options.containsKey("table.type")) {
      options.put("table.type", client.getTableType().name());
    }
    client.getTableConfig().getPartitionFields().ifPresent(f -> {
      if (f.length > 0 && !f[0].isEmpty()) {
        flags.putIfAbsent("partition", String.join(",", f));
      }
    });
    client.getTableConfig().getRecordKeyFields().ifPresent(f -> flags.putIfAbsent("key", String.join(",", f)));
    // What the writer chose and the reader must be told again, option by option.
    Map<String, String> kept = new LinkedHashMap<>();
    kept.put("hoodie.datasource.write.hive_style_partitioning", "hoodie.datasource.write.hive_style_partitioning");
    kept.put("hoodie.datasource.write.partitionpath.urlencode", "hoodie.datasource.write.partitionpath.urlencode");
    kept.put("hoodie.compaction.payload.class", "write.payload.class");
    kept.put("hoodie.table.precombine.field", "write.precombine.field");
    for (Map.Entry<String, String> e : kept.entrySet()) {
      String v = client.getTableConfig().getProps().getProperty(e.getKey());
      if (v != null && !v.isEmpty()) {
        options.putIfAbsent(e.getValue(), v);
      }
    }
    return (RowType) type.getLogicalType();
  }

  /**
   * Hudi 0.10's merge-on-read input format asks for _hoodie_commit_time itself when a slice has a base file alone,
   * and fails when the query asks for it too. Those reads leave the column out; it is then filled in from
   * _hoodie_commit_seqno, which begins with it.
   */
  private boolean commitTimeHidden() {
    return !flags.containsKey("columns") && !flags.containsKey("no-meta")
        && (options.getOrDefault("table.type", "").equals("MERGE_ON_READ")
            || options.containsKey("read.streaming.enabled")
            || options.getOrDefault("hoodie.datasource.query.type", "snapshot").equals("incremental"));
  }

  private ObjectNode withCommitTime(ObjectNode row) {
    JsonNode seqno = row.get(SEQNO);
    if (!commitTimeHidden() || seqno == null) {
      return row;
    }
    ObjectNode full = JsonRows.MAPPER.createObjectNode();
    String s = seqno.isNull() ? null : seqno.asText();
    full.put(COMMIT_TIME, s == null || s.indexOf('_') < 0 ? s : s.substring(0, s.indexOf('_')));
    full.setAll(row);
    return full;
  }

  private static String ddlColumns(RowType type, boolean hideCommitTime) {
    StringBuilder b = new StringBuilder();
    for (RowType.RowField f : type.getFields()) {
      if (hideCommitTime && f.getName().equals(COMMIT_TIME)) {
        continue;
      }
      b.append(b.length() == 0 ? "`" : ",\n  `").append(f.getName()).append("` ")
          .append(f.getType().asSerializableString());
    }
    return b.toString();
  }

  private RowType createForRead(TableEnvironment env) throws Exception {
    RowType found = tableType();
    String columns = flags.containsKey("columns") ? flags.get("columns") : ddlColumns(found, commitTimeHidden());
    String part = flags.containsKey("partition") ? " PARTITIONED BY (" + names(flags.get("partition")) + ")" : "";
    String key = flags.containsKey("key") && !flags.get("key").isEmpty()
        ? ",\n  PRIMARY KEY (" + names(flags.get("key")) + ") NOT ENFORCED" : "";
    env.executeSql("CREATE TABLE t (" + columns + key + ")" + part + " WITH (\n  " + with(hudiOptions()) + ")");
    return found;
  }

  private String readQuery() {
    String where = flags.containsKey("where") ? " WHERE " + flags.get("where") : "";
    return flags.getOrDefault("select", "SELECT * FROM t" + where);
  }

  private void read() throws Exception {
    TableEnvironment env = environment(true);
    createForRead(env);
    TableResult result = env.executeSql(readQuery());
    RowType type = (RowType) result.getResolvedSchema().toPhysicalRowDataType().getLogicalType();
    List<ObjectNode> rows = new ArrayList<>();
    long n = 0;
    try (CloseableIterator<Row> it = result.collect()) {
      while (it.hasNext()) {
        Row row = it.next();
        n++;
        if (!flags.containsKey("count")) {
          rows.add(withCommitTime(JsonRows.fromRow(row, type)));
        }
      }
    }
    if (!flags.containsKey("unsorted")) {
      Collections.sort(rows, Comparator.comparing((ObjectNode o) -> text(o, "_hoodie_record_key"))
          .thenComparing(o -> text(o, "_hoodie_partition_path")));
    }
    PrintWriter out = output();
    for (ObjectNode row : rows) {
      out.print(JsonRows.MAPPER.writeValueAsString(row));
      out.print('\n');
    }
    if (flags.containsKey("count")) {
      out.print(n + "\n");
    }
    out.flush();
  }

  private static String text(ObjectNode o, String field) {
    JsonNode n = o.get(field);
    return n == null || n.isNull() ? "" : n.asText();
  }

  private static PrintWriter output() {
    return new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));
  }

  private void streamRead() throws Exception {
    options.put("read.streaming.enabled", "true");
    options.putIfAbsent("read.streaming.check-interval", "1");
    if (flags.containsKey("start")) {
      options.put("read.start-commit", flags.get("start"));
    }
    TableEnvironment env = environment(false);
    createForRead(env);
    TableResult result = env.executeSql(readQuery());
    RowType type = (RowType) result.getResolvedSchema().toPhysicalRowDataType().getLogicalType();
    PrintWriter out = output();
    CloseableIterator<Row> it = result.collect();
    Thread reader = new Thread(() -> {
      try {
        while (it.hasNext()) {
          Row row = it.next();
          ObjectNode node = JsonRows.MAPPER.createObjectNode();
          node.put("_op", row.getKind().shortString());
          node.setAll(withCommitTime(JsonRows.fromRow(row, type)));
          synchronized (out) {
            out.print(JsonRows.MAPPER.writeValueAsString(node));
            out.print('\n');
            out.flush();
          }
        }
      } catch (IOException | RuntimeException e) {
        System.err.println("stream ended: " + e);
      }
    });
    reader.setDaemon(true);
    reader.start();
    reader.join(1000L * Long.parseLong(need("seconds")));
    synchronized (out) {
      out.flush();
    }
  }

  private void compact() throws Exception {
    List<String> args = new ArrayList<>(Arrays.asList("--path", tablePath()));
    args.addAll(Arrays.asList("--compaction-tasks", Integer.toString(parallelism())));
    if (flags.containsKey("schedule")) {
      args.add("--schedule");
    }
    if (flags.containsKey("lifo")) {
      args.addAll(Arrays.asList("--seq", "LIFO"));
    }
    args.addAll(rest);
    HoodieFlinkCompactor.main(args.toArray(new String[0]));
  }

  private void schema() throws Exception {
    System.out.println(ddlColumns(tableType(), false));
  }

  private void sql() throws Exception {
    TableEnvironment env = environment(flags.containsKey("batch"));
    Path file = Paths.get(rest.get(0));
    StringBuilder statement = new StringBuilder();
    try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      String line;
      while ((line = in.readLine()) != null) {
        if (line.trim().startsWith("--")) {
          continue;
        }
        statement.append(line).append('\n');
        if (line.trim().endsWith(";")) {
          String text = statement.toString().trim();
          statement.setLength(0);
          runStatement(env, text.substring(0, text.length() - 1).trim());
        }
      }
    }
    if (!statement.toString().trim().isEmpty()) {
      runStatement(env, statement.toString().trim());
    }
  }

  private void runStatement(TableEnvironment env, String text) throws Exception {
    if (text.isEmpty()) {
      return;
    }
    if (text.toUpperCase(java.util.Locale.ROOT).startsWith("SET ")) {
      String[] kv = text.substring(4).split("=", 2);
      env.getConfig().getConfiguration().setString(kv[0].trim().replace("'", ""), kv[1].trim().replace("'", ""));
      return;
    }
    TableResult result = env.executeSql(text);
    switch (result.getResultKind()) {
      case SUCCESS:
        return;
      default:
    }
    if (text.toUpperCase(java.util.Locale.ROOT).startsWith("INSERT")) {
      await(result);
      return;
    }
    RowType type = (RowType) result.getResolvedSchema().toPhysicalRowDataType().getLogicalType();
    PrintWriter out = output();
    try (CloseableIterator<Row> it = result.collect()) {
      while (it.hasNext()) {
        Row row = it.next();
        ObjectNode node = JsonRows.MAPPER.createObjectNode();
        node.put("_op", row.getKind().shortString());
        node.setAll(JsonRows.fromRow(row, type));
        out.print(JsonRows.MAPPER.writeValueAsString(node));
        out.print('\n');
      }
    }
    out.flush();
  }
}
