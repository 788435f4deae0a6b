/* SPDX-License-Identifier: Apache-2.0 */
package libhudi.interop.flink;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** JSON to Flink's internal rows, and Flink's external rows to JSON, one convention for both ways. */
final class JsonRows {
  static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private JsonRows() {}

  static JsonNode parse(String line) throws IOException {
    return MAPPER.readTree(line);
  }

  static RowKind kind(String text) {
    switch (text) {
      case "+I":
      case "I":
        return RowKind.INSERT;
      case "-U":
        return RowKind.UPDATE_BEFORE;
      case "+U":
      case "U":
        return RowKind.UPDATE_AFTER;
      case "-D":
      case "D":
        return RowKind.DELETE;
      default:
        throw new IllegalArgumentException("_op must be +I, -U, +U or -D, not " + text);
    }
  }

  static GenericRowData toRow(JsonNode node, RowType type) {
    List<RowType.RowField> fields = type.getFields();
    GenericRowData row = new GenericRowData(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      row.setField(i, toValue(node.get(fields.get(i).getName()), fields.get(i).getType()));
    }
    return row;
  }

  private static Object toValue(JsonNode v, LogicalType type) {
    if (v == null || v.isNull()) {
      return null;
    }
    switch (type.getTypeRoot()) {
      case BOOLEAN:
        return v.asBoolean();
      case TINYINT:
        return (byte) v.asInt();
      case SMALLINT:
        return (short) v.asInt();
      case INTEGER:
        return v.asInt();
      case BIGINT:
        return v.asLong();
      case FLOAT:
        return v.isTextual() ? Float.parseFloat(v.asText()) : (float) v.asDouble();
      case DOUBLE:
        return v.isTextual() ? Double.parseDouble(v.asText()) : v.asDouble();
      case CHAR:
      case VARCHAR:
        return StringData.fromString(v.asText());
      case BINARY:
      case VARBINARY:
        return Base64.getDecoder().decode(v.asText());
      case DECIMAL:
        DecimalType d = (DecimalType) type;
        return DecimalData.fromBigDecimal(new BigDecimal(v.asText()), d.getPrecision(), d.getScale());
      case DATE:
        return (int) LocalDate.parse(v.asText()).toEpochDay();
      case TIME_WITHOUT_TIME_ZONE:
        return (int) (LocalTime.parse(v.asText()).toNanoOfDay() / 1_000_000L);
      case TIMESTAMP_WITHOUT_TIME_ZONE:
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
        String t = v.asText();
        return TimestampData.fromInstant(Instant.parse(t.endsWith("Z") ? t : t + "Z"));
      case ARRAY:
        LogicalType item = ((ArrayType) type).getElementType();
        Object[] items = new Object[v.size()];
        for (int i = 0; i < items.length; i++) {
          items[i] = toValue(v.get(i), item);
        }
        return new GenericArrayData(items);
      case MAP:
        return toMap(v, ((MapType) type).getKeyType(), ((MapType) type).getValueType());
      case ROW:
        return toRow(v, (RowType) type);
      default:
        throw new IllegalArgumentException("no JSON form for " + type);
    }
  }

  private static GenericMapData toMap(JsonNode v, LogicalType keyType, LogicalType valueType) {
    Map<Object, Object> map = new HashMap<>();
    Iterator<Map.Entry<String, JsonNode>> it = v.fields();
    while (it.hasNext()) {
      Map.Entry<String, JsonNode> e = it.next();
      map.put(toValue(NODES.textNode(e.getKey()), keyType), toValue(e.getValue(), valueType));
    }
    return new GenericMapData(map);
  }

  static ObjectNode fromRow(Row row, RowType type) {
    ObjectNode out = NODES.objectNode();
    List<RowType.RowField> fields = type.getFields();
    for (int i = 0; i < fields.size(); i++) {
      out.set(fields.get(i).getName(), fromValue(row.getField(i), fields.get(i).getType()));
    }
    return out;
  }

  private static JsonNode fromValue(Object v, LogicalType type) {
    if (v == null) {
      return NODES.nullNode();
    }
    switch (type.getTypeRoot()) {
      case BOOLEAN:
        return NODES.booleanNode((Boolean) v);
      case TINYINT:
      case SMALLINT:
      case INTEGER:
      case BIGINT:
        return NODES.numberNode(((Number) v).longValue());
      case FLOAT:
        float f = (Float) v;
        return Float.isNaN(f) || Float.isInfinite(f) ? NODES.textNode(Float.toString(f)) : NODES.numberNode(f);
      case DOUBLE:
        double d = (Double) v;
        return Double.isNaN(d) || Double.isInfinite(d) ? NODES.textNode(Double.toString(d)) : NODES.numberNode(d);
      case BINARY:
      case VARBINARY:
        return NODES.textNode(Base64.getEncoder().encodeToString((byte[]) v));
      case DECIMAL:
        return NODES.textNode(((BigDecimal) v).toPlainString());
      case TIMESTAMP_WITHOUT_TIME_ZONE:
        return NODES.textNode(((LocalDateTime) v).toInstant(ZoneOffset.UTC).toString());
      case ARRAY:
        ArrayNode array = NODES.arrayNode();
        for (Object o : (Object[]) v) {
          array.add(fromValue(o, ((ArrayType) type).getElementType()));
        }
        return array;
      case MULTISET:
        return fromMap((Map<?, ?>) v, ((MultisetType) type).getElementType(), null);
      case MAP:
        return fromMap((Map<?, ?>) v, ((MapType) type).getKeyType(), ((MapType) type).getValueType());
      case ROW:
        return fromRow((Row) v, (RowType) type);
      case TIME_WITHOUT_TIME_ZONE:
        return NODES.textNode(java.time.format.DateTimeFormatter.ISO_LOCAL_TIME.format((LocalTime) v));
      default: // CHAR, VARCHAR, DATE, TIMESTAMP_LTZ: toString is the ISO form
        return NODES.textNode(v.toString());
    }
  }

  private static ObjectNode fromMap(Map<?, ?> map, LogicalType keyType, LogicalType valueType) {
    ObjectNode out = NODES.objectNode();
    java.util.TreeMap<String, JsonNode> sorted = new java.util.TreeMap<>();
    for (Map.Entry<?, ?> e : map.entrySet()) {
      JsonNode value = valueType == null ? NODES.numberNode((Integer) e.getValue()) : fromValue(e.getValue(), valueType);
      sorted.put(fromValue(e.getKey(), keyType).asText(), value);
    }
    out.setAll(sorted);
    return out;
  }
}
