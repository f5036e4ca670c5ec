#!/usr/bin/env bash
# inflight devices: the table of devices.
. "$(dirname "$0")/lib.sh"
for device in h200 h100 a100 b200 b300 rtx5090; do
  expect "$device is there" 0 "^$device +NVIDIA" "$inflight" devices
done
for device in t4:sm_75 a10:sm_86 l4:sm_89 b300:sm_103a rtx5090:sm_120a; do
  expect "$device is there" 0 "^${device%:*} .*${device#*:} " "$inflight" devices
done
expect "h200 is what one gets" 0 'h200 by default' "$inflight" devices
expect "its architecture" 0 '^h200 .*sm_90a ' "$inflight" devices
expect "no argument is taken" 2 '^inflight: ' "$inflight" devices h200

# A resource file that CTest reads, and a test that stays within its cores.
"$inflight" devices --ctest >"$work/resources.json" || fail "devices --ctest"
python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["local"][0]["gpus"]))' \
  "$work/resources.json" >"$work/count" || fail "devices --ctest is no JSON"
[ "$(cat "$work/count")" = "$(nproc)" ] || fail "devices --ctest lists $(cat "$work/count") devices"
cat >"$work/CTestTestfile.cmake" <<END
add_test(one sh -c "env | grep CTEST_RESOURCE_GROUP")
set_tests_properties(one PROPERTIES RESOURCE_GROUPS "gpus:1" PASS_REGULAR_EXPRESSION "_GPUS=id:0,slots:1")
END
(cd "$work" && ctest --resource-spec-file resources.json) >"$work/log" 2>&1 ||
  fail "ctest does not take the resource file: $(cat "$work/log")"
finish
