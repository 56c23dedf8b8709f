package resolve

import (
	"path"
	"strings"
)

// ConfigFile says whether a file of the snapshot configures resolution, so that
// its bytes belong into graph.Input.Config.
func ConfigFile(name string) bool {
	base := path.Base(name)
	switch base {
	case "go.mod", "go.work", "package.json", "pyproject.toml", "setup.cfg", "pnpm-workspace.yaml":
		return true
	case "modules.txt":
		return path.Base(path.Dir(name)) == "vendor"
	}
	return strings.HasSuffix(base, ".json") && (strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig"))
}
