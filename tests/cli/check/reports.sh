#!/usr/bin/env bash
# inflight check --report and inflight merge: their output matches its schema in every format.
# reports.sh INFLIGHT PROGRAM. sarif-schema-2.1.0.json is OASIS's own, of SARIF 2.1.0 with errata 01
# (docs.oasis-open.org/sarif/sarif/v2.1.0/errata01), which may be copied unchanged.
. "$(dirname "$0")/../lib.sh"
program=$2
# Finds where the program was built, since a compiler cache may have made it in another checkout.
expect "where" 86 '' "$inflight" check --report "$work/where.json" "$program" arrive
root=$(sed -nE 's|.*"file": "(/.*)/tests/cli/check/mistakes\.cu".*|\1|p' "$work/where.json" | head -n 1)

expect "three reports" 86 '' "$inflight" check --source-root "$root" --report "$work/a.json" \
  --report "$work/a.sarif" --report "$work/a.html" "$program" arrive expect
expect "one more" 86 '' "$inflight" check --report "$work/b.json" "$program" arrive
expect "none" 0 '' "$inflight" check --report "$work/c.json" --report "$work/c.sarif" --report "$work/c.html" "$program" right
expect "no process" 0 '' "$inflight" check --report "$work/d.sarif" --report "$work/d.json" true

# Merged in any order. The counts add up.
expect "merge" 0 '^2 findings, seen 129 times\.$' "$inflight" merge "$work/abc.json" "$work/a.json" "$work/b.json" "$work/c.json"
expect "merge" 0 '' "$inflight" merge "$work/cba.json" "$work/c.json" "$work/b.json" "$work/a.json"
cmp "$work/abc.json" "$work/cba.json" || fail "the order of reports matters"
expect "merge one" 0 '' "$inflight" merge "$work/again.json" "$work/a.json"
cmp "$work/a.json" "$work/again.json" || fail "a report merged alone is another"
for form in sarif html; do
  expect "merge to .$form" 0 '' "$inflight" merge --source-root "$root" "$work/m.$form" "$work/a.json"
  cmp "$work/a.$form" "$work/m.$form" || fail "merge writes another .$form"
done
# Each format can be read back, in any mixture.
for form in json sarif html; do
  expect "merge a .$form" 0 '' "$inflight" merge "$work/back.json" "$work/a.$form"
  cmp "$work/a.json" "$work/back.json" || fail "what a .$form carries is not what was found"
done
expect "merge two forms" 0 '^2 findings, seen 129 times\.$' "$inflight" merge "$work/mixed.json" "$work/a.html" "$work/c.sarif" "$work/b.json"
cmp "$work/abc.json" "$work/mixed.json" || fail "the form of reports matters"
expect "merge nothing" 2 '' "$inflight" merge "$work/x.json"
expect "merge into what is no report" 2 "does not end in" "$inflight" merge "$work/x.txt" "$work/a.json"
expect "merge what is not there" 1 "none.json' cannot be read" "$inflight" merge "$work/x.json" "$work/none.json"
expect "merge what is no report" 1 "is not JSON" "$inflight" merge "$work/x.json" "$0"
echo '<html></html>' >"$work/other.html"
expect "merge what is no page" 1 "is not a findings page" "$inflight" merge "$work/x.json" "$work/other.html"
echo '{"version": "2.1.0", "runs": [{"results": [{"ruleId": "x"}]}]}' >"$work/other.sarif"
expect "merge another tool's SARIF" 1 "a finding is not an object" "$inflight" merge "$work/x.json" "$work/other.sarif"

for python in python3 /usr/bin/python3; do "$python" -c 'import jsonschema' 2>/dev/null && break; done
"$python" -c 'import jsonschema' 2>/dev/null || {
  echo "skipped: no Python with jsonschema (python3-jsonschema), so no schema was held against the reports"
  [ "$failures" = 0 ] && exit 77
  finish
}
"$python" - "$here" "$work" <<'P' || fail "a report does not keep to its schema"
import json, sys, warnings
import jsonschema
here, work = sys.argv[1:]
def load(path):
    with open(path) as file:
        return json.load(file)
findings = load(f"{here}/../../../docs/findings.schema.json")
sarif = load(f"{here}/sarif-schema-2.1.0.json")
for name in ("a", "b", "c", "d", "abc"):
    jsonschema.validate(load(f"{work}/{name}.json"), findings)
for name in ("a", "c", "d"):
    jsonschema.Draft4Validator(sarif).validate(load(f"{work}/{name}.sarif"))
kinds = {line.split('"')[1] for line in open(f"{here}/../../../gpu/check/finding/kinds.def") if line.startswith("X(")}
assert kinds == set(findings["definitions"]["finding"]["properties"]["kind"]["enum"]), "kinds in the schema"

# The requirements of code scanning beyond the schema.
report = load(f"{work}/a.sarif")["runs"][0]
rules = report["tool"]["driver"]["rules"]
assert all(rule[key] for rule in rules for key in ("id", "name", "shortDescription", "fullDescription", "help"))
assert len(report["results"]) == 2
for result in report["results"]:
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "tests/cli/check/mistakes.cu", "uriBaseId": "%SRCROOT%"}, place
    assert place["region"]["startLine"] > 1 and "asm volatile" in place["region"]["snippet"]["text"]
    assert result["message"]["text"] and result["partialFingerprints"]["primaryLocationLineHash"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    steps = [step for flow in result["codeFlows"][0]["threadFlows"] for step in flow["locations"]]
    assert any("barrier" in step["location"]["message"]["text"] or "bar." in step["location"]["message"]["text"] for step in steps), steps
P
finish
