/* SPDX-License-Identifier: Apache-2.0 */
package libhudi.interop.flink;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceFunctionProvider;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/** Table connector 'libhudi-jsonl': see README.md for the input convention. */
public class JsonLinesFactory implements DynamicTableSourceFactory {
  static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue();
  static final ConfigOption<Boolean> CHANGELOG = ConfigOptions.key("changelog").booleanType().defaultValue(false);
  static final ConfigOption<Boolean> AWAIT = ConfigOptions.key("await-checkpoints").booleanType().defaultValue(true);
  static final ConfigOption<String> CRASH = ConfigOptions.key("crash").stringType().defaultValue("none");
  static final ConfigOption<Long> LINGER = ConfigOptions.key("linger-ms").longType().defaultValue(0L);

  @Override
  public String factoryIdentifier() {
    return "libhudi-jsonl";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Collections.singleton(PATH);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    Set<ConfigOption<?>> set = new HashSet<>();
    set.add(CHANGELOG);
    set.add(AWAIT);
    set.add(CRASH);
    set.add(LINGER);
    return set;
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    RowType rowType = (RowType) context.getCatalogTable().getResolvedSchema()
        .toPhysicalRowDataType().getLogicalType();
    return new Scan(rowType, helper.getOptions().get(PATH), helper.getOptions().get(CHANGELOG),
        helper.getOptions().get(AWAIT), helper.getOptions().get(CRASH), helper.getOptions().get(LINGER));
  }

  private static final class Scan implements ScanTableSource {
    private final RowType rowType;
    private final String path;
    private final boolean changelog;
    private final boolean await;
    private final String crash;
    private final long lingerMs;

    Scan(RowType rowType, String path, boolean changelog, boolean await, String crash, long lingerMs) {
      this.rowType = rowType;
      this.path = path;
      this.changelog = changelog;
      this.await = await;
      this.crash = crash;
      this.lingerMs = lingerMs;
    }

    @Override
    public ChangelogMode getChangelogMode() {
      return changelog ? ChangelogMode.all() : ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return SourceFunctionProvider.of(new JsonLinesSource(path, rowType, await, crash, lingerMs), true);
    }

    @Override
    public DynamicTableSource copy() {
      return new Scan(rowType, path, changelog, await, crash, lingerMs);
    }

    @Override
    public String asSummaryString() {
      return "libhudi-jsonl " + path;
    }
  }
}
