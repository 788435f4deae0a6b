/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_JAVA_TEXT_H
#define HD_ENGINE_JAVA_TEXT_H

#include "arrow/java_text.h"

#endif
