# SPDX-License-Identifier: ISC
# fleet.py - two days of the metrics of 50 hosts, simulated
#
#	fleet.py make METRICS	read what tfs-metrics --openmetrics has printed of a host that did nothing;
#				write fleet.om, the same of 50 hosts every half an hour, and one.json, a
#				trace of the same calls
#	fleet.py compare METRICS ANSWER...	read what tfs-summary --metrics says of one.json, and Prometheus's
#				answers: the buckets, the sums, the errors, the 99th percentiles
# Every seventh host starts tfs-metrics again after a day. The durations are those of a slow or of a
# fast host, and the bounds of the buckets themselves.
import json
import random
import re
import sys

HOSTS, STEPS, SECONDS = 50, 96, 1800
END = 1_790_000_000
NAMES = ("fsync", "fdatasync")
SAMPLE = re.compile(r'(\w+)\{([^}]*)\} (\S+)$')


def labels_of(text):
    return dict(re.findall(r'(\w+)="([^"]*)"', text))


class Host:
    def __init__(self, n, random):
        self.n, self.random = n, random
        self.begin(END - STEPS * SECONDS)

    def begin(self, now):
        self.created = now
        self.ns = {name: [] for name in NAMES}
        self.errors = dict.fromkeys(NAMES, 0)

    def live(self, now, trace):
        for name in NAMES:
            for _ in range(self.random.randrange(12)):
                if self.random.random() < 0.2:
                    ns = 1000 << self.random.randrange(28)
                else:
                    ns = int(self.random.lognormvariate(14 + self.n % 5, 2))
                failed = self.random.random() < 0.1
                self.ns[name].append(ns)
                self.errors[name] += failed
                trace.write('{"ts":%d.0,"cpu":0,"pid":%d,"comm":"x","system":"syscalls","event":"sys_exit_%s",'
                            '"fields":{"ret":%d%s,"lat":%d.%03d,"args":[]}}\n' %
                            (now, self.n + 1, name, -5 if failed else 0,
                             ',"error":"EIO"' if failed else '', ns // 1000, ns % 1000))

    def value(self, sample, labels, zero):
        ns = self.ns.get(labels.get("name"), [])
        if sample.endswith("_created"):
            return self.created
        if sample in ("tfs_calls_total", "tfs_call_seconds_count"):
            return len(ns)
        if sample == "tfs_call_seconds_sum":
            return "%d.%09d" % divmod(sum(ns), 10 ** 9)
        if sample == "tfs_call_seconds_bucket":
            return sum(n <= float(labels["le"]) * 1e9 * (1 + 1e-12) for n in ns)
        return zero


def make(path):
    lines = open(path).read().splitlines()
    assert lines[-1] == "# EOF"
    families = {}
    for line in lines[:-1]:
        if line.startswith("# TYPE"):
            family = families.setdefault(line, [])
        family.append(line)
    texts = {head: [line for line in family if line[0] == "#"] for head, family in families.items()}
    generator = random.Random(3)
    hosts = [Host(n, generator) for n in range(HOSTS)]
    with open("one.json", "w") as trace:
        for step in range(STEPS + 1):
            now = END - (STEPS - step) * SECONDS
            for host in hosts:
                if step and step == STEPS // 2 and host.n % 7 == 6:
                    host.begin(now)
                elif step:
                    host.live(now, trace)
                for head, family in families.items():
                    for line in family:
                        if line[0] == "#":
                            continue
                        sample, labels, zero = SAMPLE.match(line).groups()
                        value = host.value(sample, labels_of(labels), zero)
                        texts[head].append('%s{%s%sinstance="h%d"} %s %d' % (
                            sample, labels, "," if labels else "", host.n, value, now))
                    if "tfs_call_errors " in head:
                        for name in NAMES:
                            texts[head].append(
                                'tfs_call_errors_total{name="%s",error="EIO",instance="h%d"} %d %d' %
                                (name, host.n, host.errors[name], now))
    with open("fleet.om", "w") as out:
        for text in texts.values():
            out.write("\n".join(text) + "\n")
        out.write("# EOF\n")


def compare(path, answers):
    ours = {}
    for line in open(path):
        match = SAMPLE.match(line.rstrip("\n"))
        if match:
            ours[match.group(1), tuple(sorted(labels_of(match.group(2)).items()))] = float(match.group(3))
    theirs = {}
    for answer in answers[:-1]:
        for result in json.load(open(answer))["data"]["result"]:
            labels = dict(result["metric"])
            sample = labels.pop("sample")
            theirs[sample, tuple(sorted(labels.items()))] = float(result["value"][1])
    wanted = {key: value for key, value in ours.items()
              if key[0].startswith(("tfs_call_seconds", "tfs_call_errors", "tfs_calls"))}
    assert len(wanted) == 2 * (28 + 2 + 1 + 1), len(wanted)
    for key, value in wanted.items():
        if key[0] == "tfs_call_seconds_sum":
            assert abs(theirs[key] - value) < 1e-6 * value, (key, value, theirs[key])
        else:
            assert round(theirs[key]) == value, (key, value, theirs[key])
    # the quantile of the sum of all hosts is in the bucket that has the quantile of all durations
    all_of = {name: [] for name in NAMES}
    for line in open("one.json"):
        event = json.loads(line, parse_float=str)
        all_of[event["event"][len("sys_exit_"):]].append(
            int(event["fields"]["lat"].replace(".", "")))
    for result in json.load(open(answers[-1]))["data"]["result"]:
        durations = sorted(all_of[result["metric"]["name"]])
        truth = durations[-(-len(durations) * 99 // 100) - 1] / 1e9
        said = float(result["value"][1])
        assert said / 2 <= truth <= said * 2, (said, truth)
    print(len(wanted), "equal")


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    compare(sys.argv[2], sys.argv[3:])
