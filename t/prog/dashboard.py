# SPDX-License-Identifier: ISC
# dashboard.py DASHBOARD METRICS - check a dashboard of Grafana, as JSON
#
# Each metric and label that a panel asks for is in METRICS, what tfs-metrics has printed, or is of
# node_exporter. Panels have numbers and places of their own, within the 24 columns, and use only
# variables that are defined. Print the expressions as rules, for promtool.
import json
import re
import sys

dashboard = json.load(open(sys.argv[1]))
labels = {"node_textfile_mtime_seconds": {"file"}}
for line in open(sys.argv[2]):
    match = re.match(r"(\w+)\{(.*)\} ", line)
    if match:
        labels.setdefault(match.group(1), set()).update(re.findall(r'(\w+)="', match.group(2)))
variables = {v["name"]: v for v in dashboard["templating"]["list"]}


def check(expression, where):
    metrics = re.findall(r"\b(?:tfs_|node_)\w+", expression)
    assert metrics, where
    known = {"instance"}.union(*(labels[name] for name in metrics))
    used = re.findall(r'(\w+)(?:=~|!~|!=|=)"', expression)
    for by in re.findall(r"by \(([^)]*)\)", expression):
        used += re.findall(r"\w+", by)
    assert set(used) <= known, (where, set(used) - known)
    for variable in re.findall(r"\$\{?(\w+)", expression):
        assert variable in variables or variable in ("__rate_interval", "__range"), (where, variable)


ids, cells, rules = set(), set(), []
for key in ("title", "uid", "schemaVersion", "time", "panels"):
    assert dashboard[key], key
for v in variables.values():
    if v["type"] == "query":
        check(v["query"]["query"], v["name"])
for panel in dashboard["panels"]:
    title, place = panel["title"], panel["gridPos"]
    assert panel["type"] in ("timeseries", "heatmap", "stat"), title
    assert panel["description"] and panel["fieldConfig"]["defaults"]["unit"], title
    assert panel["id"] not in ids, title
    ids.add(panel["id"])
    mine = {(x, y) for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])}
    assert place["x"] + place["w"] <= 24 and not mine & cells, title
    cells |= mine
    assert len({t["refId"] for t in panel["targets"]}) == len(panel["targets"]) > 0, title
    for target in panel["targets"]:
        assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, title
        check(target["expr"], title)
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            assert label in target["expr"].split(" (", 1)[1], (title, label)
        expression = target["expr"].replace("$__rate_interval", "5m").replace("$__range", "1h")
        rules.append({"record": "panel:%d:%s" % (panel["id"], target["refId"].lower()),
                      "expr": re.sub(r"\$\w+", ".*", expression)})
print(json.dumps({"groups": [{"name": "panels", "rules": rules}]}, indent=1))
