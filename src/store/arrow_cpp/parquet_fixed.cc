/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_fixed.h"

#include <algorithm>
#include <arrow/util/decimal.h>
#include <arrow/util/key_value_metadata.h>
#include <cstdlib>
#include <parquet/types.h>

#include "common.h"

namespace hudi
{

namespace
{

constexpr char BYTES_KEY[] = "hudi.decimal.bytes"; /* HD_DECIMAL_BYTES_KEY */
constexpr int DECIMAL_BYTES = 16;
constexpr int MAX_BYTES = 1 << 20;

/* Bytes of a value when the field has a width of its own, else 0. */
int declared_bytes(const arrow::Field &field)
{
    if (field.type()->id() != arrow::Type::DECIMAL128 || !field.HasMetadata())
        return 0;
    const auto text = field.metadata()->Get(BYTES_KEY);
    if (!text.ok())
        return 0;
    const auto &type = static_cast<const arrow::Decimal128Type &>(*field.type());
    const int n_bytes = std::atoi(text->c_str());
    return n_bytes > MAX_BYTES || n_bytes <= arrow::DecimalType::DecimalSize(type.precision())
               ? 0
               : n_bytes;
}

bool has_children(const arrow::DataType &type)
{
    return type.id() == arrow::Type::STRUCT || type.id() == arrow::Type::LIST ||
           type.id() == arrow::Type::MAP;
}

std::shared_ptr<arrow::DataType> rebuilt(const arrow::DataType &type,
                                         const std::vector<std::shared_ptr<arrow::Field>> &children)
{
    switch (type.id()) {
    case arrow::Type::STRUCT:
        return arrow::struct_(children);
    case arrow::Type::LIST:
        return arrow::list(children[0]);
    default:
        return std::make_shared<arrow::MapType>(children[0]->type()->field(0),
                                                children[0]->type()->field(1));
    }
}

} // namespace

bool has_declared_width(const arrow::Field &field)
{
    return declared_bytes(field) > 0;
}

namespace
{

std::shared_ptr<arrow::Field> stored_field(const std::shared_ptr<arrow::Field> &field)
{
    const int n_bytes = declared_bytes(*field);

    if (n_bytes > 0)
        return arrow::field(field->name(), arrow::fixed_size_binary(n_bytes), field->nullable());
    if (!has_children(*field->type()))
        return field;
    std::vector<std::shared_ptr<arrow::Field>> children;
    bool changed = false;
    for (const auto &child : field->type()->fields()) {
        children.push_back(stored_field(child));
        changed |= children.back() != child;
    }
    return changed ? field->WithType(rebuilt(*field->type(), children)) : field;
}

/* Big-endian, the sign carried on to the left. */
arrow::Result<std::shared_ptr<arrow::Array>> to_bytes(const arrow::Decimal128Array &array,
                                                      int n_bytes)
{
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                          arrow::AllocateBuffer(array.length() * n_bytes, memory_pool()));
    uint8_t *out = buffer->mutable_data();

    for (int64_t row = 0; row < array.length(); row++, out += n_bytes) {
        const uint8_t *value = array.GetValue(row); /* little-endian */
        const bool negative = !array.IsNull(row) && (value[DECIMAL_BYTES - 1] & 0x80) != 0;
        const int n = std::min(n_bytes, DECIMAL_BYTES);

        std::fill(out, out + n_bytes, static_cast<uint8_t>(negative ? 0xff : 0));
        for (int i = 0; i < n && !array.IsNull(row); i++)
            out[n_bytes - 1 - i] = value[i];
    }
    std::shared_ptr<arrow::Buffer> valid;
    if (array.null_count() > 0) {
        ARROW_ASSIGN_OR_RAISE(valid, arrow::AllocateEmptyBitmap(array.length(), memory_pool()));
        for (int64_t row = 0; row < array.length(); row++)
            if (array.IsValid(row))
                valid->mutable_data()[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
    }
    return std::make_shared<arrow::FixedSizeBinaryArray>(arrow::fixed_size_binary(n_bytes),
                                                         array.length(), buffer, valid);
}

} // namespace

namespace
{

parquet::schema::NodePtr group_like(const parquet::schema::GroupNode &group,
                                    const parquet::schema::NodeVector &children)
{
    std::shared_ptr<const parquet::LogicalType> logical = group.logical_type();

    if (logical != nullptr && logical->is_none())
        logical = nullptr;
    return parquet::schema::GroupNode::Make(group.name(), group.repetition(), children, logical,
                                            group.field_id());
}

} // namespace

std::shared_ptr<arrow::Schema> with_fixed_decimals(const std::shared_ptr<arrow::Schema> &schema)
{
    std::vector<std::shared_ptr<arrow::Field>> fields;

    for (const auto &field : schema->fields())
        fields.push_back(stored_field(field));
    return fields == schema->fields() ? schema : arrow::schema(fields);
}

parquet::schema::NodePtr with_fixed_decimals(const parquet::schema::NodePtr &node,
                                             const arrow::Field &field)
{
    const int n_bytes = declared_bytes(field);

    if (n_bytes > 0) {
        const auto &type = static_cast<const arrow::Decimal128Type &>(*field.type());
        return parquet::schema::PrimitiveNode::Make(
            node->name(), node->repetition(),
            parquet::LogicalType::Decimal(type.precision(), type.scale()),
            parquet::Type::FIXED_LEN_BYTE_ARRAY, n_bytes, node->field_id());
    }
    if (!has_children(*field.type()) || !node->is_group())
        return node;
    const auto &group = static_cast<const parquet::schema::GroupNode &>(*node);
    /* A list has a group of its own around the element; around key and value of a map is the group
     * that stands for Arrow's struct of entries. */
    if (field.type()->id() == arrow::Type::LIST) {
        const auto &repeated = static_cast<const parquet::schema::GroupNode &>(*group.field(0));
        const auto element = with_fixed_decimals(repeated.field(0), *field.type()->field(0));
        return element == repeated.field(0) ? node
                                            : group_like(group, {group_like(repeated, {element})});
    }
    parquet::schema::NodeVector children;
    bool changed = false;
    for (int i = 0; i < group.field_count(); i++) {
        children.push_back(with_fixed_decimals(group.field(i), *field.type()->field(i)));
        changed |= children.back() != group.field(i);
    }
    return changed ? group_like(group, children) : node;
}

arrow::Result<std::shared_ptr<arrow::Array>>
with_fixed_decimals(const std::shared_ptr<arrow::Array> &array, const arrow::Field &field)
{
    const int n_bytes = declared_bytes(field);

    if (n_bytes > 0)
        return to_bytes(static_cast<const arrow::Decimal128Array &>(*array), n_bytes);
    if (!has_children(*field.type()))
        return array;
    const auto stored = stored_field(field.WithType(field.type()));
    if (stored->type() == field.type())
        return array;
    auto data = array->data()->Copy();
    data->type = stored->type();
    for (size_t i = 0; i < data->child_data.size(); i++) {
        ARROW_ASSIGN_OR_RAISE(const auto child,
                              with_fixed_decimals(arrow::MakeArray(data->child_data[i]),
                                                  *field.type()->field(static_cast<int>(i))));
        data->child_data[i] = child->data();
    }
    return arrow::MakeArray(data);
}

} // namespace hudi
