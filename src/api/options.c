/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

hudi_status hudi_options_new(hudi_options **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_OUT(out)));
    struct hd_op op;

    hd_call_begin(&op, NULL, NULL);
    return hd_call_end(&op, hd_alloc(&op, sizeof **out, out), err);
}

hudi_status hudi_options_set(hudi_options *options, const char *key, const char *value,
                             hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(options), HD_ARG(key), HD_ARG(value)));
    struct hd_op op;

    hd_call_begin(&op, NULL, NULL);
    return hd_call_end(&op, hd_options_set(&op, &options->options, key, value), err);
}

const char *hudi_options_get(const hudi_options *options, const char *key)
{
    const struct hd_config_key *known = hd_config_key_find(key);

    return hd_properties_get(&options->options.set, known == NULL ? key : known->name);
}

void hudi_options_free(hudi_options *options)
{
    if (options == NULL)
        return;
    hd_options_clear(&options->options);
    hd_free(NULL, options);
}

size_t hudi_option_count(void)
{
    return hd_n_config_keys;
}

const hudi_option_info *hudi_option_at(size_t i)
{
    return i < hd_n_config_keys ? (const hudi_option_info *)&hd_config_keys[i] : NULL;
}

static const struct hd_config_key *key_of(const hudi_option_info *info)
{
    return (const struct hd_config_key *)info;
}

const char *hudi_option_name(const hudi_option_info *info)
{
    return key_of(info)->name;
}

const char *hudi_option_type(const hudi_option_info *info)
{
    static const char *const TYPES[] = {
        [HD_KEY_TEXT] = "text", [HD_KEY_LIST] = "list",     [HD_KEY_BOOL] = "bool",
        [HD_KEY_INT] = "int",   [HD_KEY_DOUBLE] = "double", [HD_KEY_ENUM] = "enum",
    };

    return TYPES[key_of(info)->type];
}

const char *hudi_option_default(const hudi_option_info *info)
{
    return key_of(info)->default_value;
}

const char *hudi_option_help(const hudi_option_info *info)
{
    return key_of(info)->help;
}
