# SPDX-License-Identifier: Apache-2.0
"""What a study's YAML file declares, and the plan of runs that follows."""
