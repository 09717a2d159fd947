// SPDX-License-Identifier: Apache-2.0
//
// cancel (OpenMP 5.2, section 11.6). With cancel-var false, which is the default, the construct does nothing.
#pragma once

namespace marline {

// Whether the construct must be left. Ends the program where the user has switched cancellation on.
bool cancel_requested();

}  // namespace marline
