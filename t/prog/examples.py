#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""examples.py FILE [TABLE] - run the examples of a page or of a Markdown file, and compare

An example is a line "# COMMAND" or "$ COMMAND" of a display, and the lines below it are its
output. The commands of a file run in one shell, in the current directory. A command that TABLE
lists (NAME OF THE PAGE, tab, BEGINNING OF THE COMMAND, tab, REASON) does not run. Each line that
the file shows must be among those that the command prints, except for numbers, addresses and
widths of columns; "..." stands for any text. Print what differs, and the numbers of examples run
and left out; exit 1 if a line is missing.
"""
import os
import re
import subprocess
import sys

MARK = '@example '
# the first words of comments in outputs
COMMENT = re.compile('# (lost|unpaired|calls without|ends|in|incomplete|a:|b:|not|event|slow:|client:|'
                     r'middle:|server:|trigger|description|\d{4}-)')


def displays(path):
    """Yield the lines of each display."""
    inside, lines = False, []
    begin, end = ('```console', '```') if path.endswith('.md') else ('.Bd -literal', '.Ed')
    for line in open(path):
        line = line.rstrip('\n')
        if not inside and line.startswith(begin):
            inside, lines = True, []
        elif inside and line.startswith(end):
            inside = False
            yield lines
        elif inside:
            if not path.endswith('.md'):
                line = re.sub(r'^\\&', '', line).replace(r'\(dq', '"').replace('\\e', '\\')
            lines.append(line)


def examples(path):
    """Yield each command with the lines that the file shows for it."""
    for lines in displays(path):
        command, shown, more, here = None, [], False, None
        for line in lines:
            if more or (here is not None):
                command += '\n' + re.sub(r'^>\t', '\t', line)
            elif re.match(r'[#$] [^ ]', line) and not COMMENT.match(line):
                if command:
                    yield command, shown
                command, shown = line[2:], []
            elif command:
                shown.append(line)
                continue
            else:
                continue
            more = bool(re.search(r'(\\|\|)$', command))
        if command:
            yield command, shown


def joined(lines):
    """Join a line that ends in a backslash with the next."""
    text = '\n'.join(lines)
    return re.sub(r'\s*\\\n\s*', ' ', text).split('\n')


def plain(line):
    """Return the line without what differs from run to run. A number alone is a result."""
    if re.fullmatch(r'\s*\d+\s*', line):
        return line.strip()
    line = re.sub(r'0x[0-9a-f]+|\b[0-9a-f]{16,32}\b', 'N', line)
    line = re.sub(r'\[\d+\] [A-Za-z0-9.]{5}', '[N] .....', line)
    line = re.sub(r'\d([\d.:,]*\d)?[KMG]?', 'N', line)
    line = re.sub(r'\bN (us|ms|s)\b|(?<= )-(?= )', 'N us', line) # "-": not known
    return re.sub(r'\s+', ' ', re.sub(r'\|@*\s*\|', '|@|', line)).strip()


def among(line, got):
    """Is a line of got what the line shows? "..." stands for any text."""
    want = '.*'.join(map(re.escape, plain(line).split('...')))
    return any(re.fullmatch(want, one) for one in got)


def main():
    path = sys.argv[1]
    name = os.path.basename(path)
    left_out = []
    if len(sys.argv) > 2:
        for row in open(sys.argv[2]):
            if not row.startswith('#'):
                left_out.append(row.split('\t')[:2])
    run, skipped = [], 0
    for command, shown in examples(path):
        if any(page == name and (begin == '*' or command.startswith(begin)) for page, begin in left_out):
            skipped += 1
        else:
            run.append((command, joined(shown)))
    script = 'mark() { local s=$?; printf "\\n%s%s\\n" "' + MARK + '" "$1" | tee /dev/stderr; return $s; }\nset -m\n'
    for i, (command, _) in enumerate(run):
        script += 'mark %d\n%s\n' % (i, command)
    script += 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null\n'
    # standard error apart: a program writes its message in pieces, between lines of the trace
    done = subprocess.run(['bash', '-c', script], stdin=subprocess.DEVNULL, text=True, errors='replace',
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    outputs = {}
    for got in done.stdout, done.stderr:
        got = got.replace(os.environ.get('TFS_RUNDIR', '/run/tfs'), '/run/tfs')
        for part in re.split(r'(?m)^' + MARK, got)[1:]:
            number, _, text = part.partition('\n')
            outputs[int(number)] = outputs.get(int(number), '') + text
    bad = 0
    for i, (command, shown) in enumerate(run):
        text = outputs.get(i, '')
        lines = [plain(line) for line in text.split('\n')]
        for line in shown:
            if plain(line) and not among(line, lines):
                bad += 1
                print('%s: %s\n  shown: %s\n  got: %s' % (name, command, line, text[-600:]))
                break
    print('%s: %d run, %d left out' % (name, len(run), skipped))
    return 1 if bad else 0


sys.exit(main())
