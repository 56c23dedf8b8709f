package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"exhibit": main})
}

// TestScripts runs the command line as a user would: each script is a story,
// titled by the behaviour it pins.
func TestScripts(t *testing.T) {
	verifier, err := filepath.Abs(filepath.Join("..", "..", "testdata", "verifier", "verify.py"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			for k, v := range map[string]string{
				"HOME":            env.WorkDir,
				"VERIFIER":        verifier,
				"EXHIBIT_CACHE":   filepath.Join(env.WorkDir, ".cache"),
				"EXHIBIT_CONFIG":  filepath.Join(env.WorkDir, ".config"),
				"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
				"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
				"GIT_CONFIG_NOSYSTEM": "1",
				"GIT_CONFIG_GLOBAL":   os.DevNull,
			} {
				env.Setenv(k, v)
			}
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
