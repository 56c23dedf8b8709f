package kv

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// versioned holds files that all say the same version, large enough for a build
// to take a while.
func versioned(version int) map[string]string {
	files := map[string]string{}
	for i := range 120 {
		body := fmt.Sprintf("# version %d\n", version)
		for j := range 20 {
			body += fmt.Sprintf("\n## heading %d of %d in %d\n", j, i, version)
		}
		files["doc/"+strconv.Itoa(i)+".md"] = body
	}
	return files
}

// TestKillABuilder kills a building process at many moments. After each, what
// served before serves still, whole, or the new one does; and the next build
// works and leaves nothing behind.
func TestKillABuilder(t *testing.T) {
	w := newWorld(t, versioned(0))
	w.build(BuildOptions{})
	start := time.Now()
	if err := childProcess(t, "build", w.cache.Dir(), w.dir, "KV_TEST_FORCE=1").Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(start)
	r := rand.New(rand.NewPCG(5, 6))
	killed, staged, published := 0, 0, 0
	for i := range 24 {
		before := w.current()
		if i%4 == 0 {
			commitFiles(t, w.dir, versioned(i+1))
		}
		cmd := childProcess(t, "build", w.cache.Dir(), w.dir, "KV_TEST_FORCE=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.Int64N(int64(whole) * 11 / 10)))
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		if left, _ := os.ReadDir(filepath.Join(w.cache.bindingDir(w.b), "staging")); len(left) > 0 {
			staged++
		}
		if w.current() != before {
			published++
		}
		g, err := w.cache.Open(w.ctx, w.b)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := checkVersion(g); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := g.Verify(w.ctx); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		g.Close()
	}
	w.build(BuildOptions{Force: true})
	if err := w.open().Verify(w.ctx); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.cache.bindingDir(w.b), "staging")); len(left) != 0 {
		t.Errorf("left in staging: %v", left)
	}
	if n := len(w.generations()); n != 2 {
		t.Errorf("%d generations", n)
	}
	t.Logf("%d of 24 killed in time, %d left a staging folder, %d published first", killed, staged, published)
	if killed == 0 || staged == 0 {
		t.Error("no build was killed while it staged: the test shows nothing")
	}
}

// TestBuilderAndReaders runs readers in processes of their own while builds
// publish one version after another.
func TestBuilderAndReaders(t *testing.T) {
	w := newWorld(t, versioned(0))
	w.build(BuildOptions{})
	stop := filepath.Join(t.TempDir(), "stop")
	var readers []interface{ Wait() error }
	for range 3 {
		cmd := childProcess(t, "read", w.cache.Dir(), w.dir, "KV_TEST_STOP="+stop)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, cmd)
	}
	for i := range 12 {
		commitFiles(t, w.dir, versioned(i+1))
		w.build(BuildOptions{})
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		if err := r.Wait(); err != nil {
			t.Errorf("a reader: %v", err)
		}
	}
}

// TestOneBuildAtATime: a second process waits for the first, or says "building".
func TestOneBuildAtATime(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	lock, err := w.cache.buildLock(w.ctx, w.b, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{NoWait: true})
	wantCode(t, err, fault.WorkspaceBusy)
	_, err = w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{Timeout: 50 * time.Millisecond})
	wantCode(t, err, fault.WorkspaceBusy)
	if s, err := w.cache.Status(w.b); err != nil || s.State != "building" || s.Current == nil {
		t.Errorf("status %+v, %v", s, err)
	}
	w.open() // a reader does not wait for a builder
	waiting := childProcess(t, "build", w.cache.Dir(), w.dir, "KV_TEST_FORCE=1")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	before := w.current()
	lock.Close()
	if err := waiting.Wait(); err != nil {
		t.Error(err)
	}
	if w.current() == before {
		t.Error("the build that waited published nothing")
	}
}

// TestLease: a generation that another process reads survives two builds, and
// goes once that process is dead, however it died.
func TestLease(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	held := filepath.Base(w.current())
	cmd := childProcess(t, "hold", w.cache.Dir(), w.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	for range 3 {
		w.build(BuildOptions{Force: true})
	}
	if list := w.generations(); len(list) != 3 || !contains(list, held) {
		t.Fatalf("%v does not keep %s", list, held)
	}
	if err := cmd.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	w.build(BuildOptions{Force: true})
	if list := w.generations(); len(list) != 2 || contains(list, held) {
		t.Errorf("%v keeps %s of a dead reader", list, held)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// TestStagingOfALiveOwnerStays: a staging folder whose owner lives is
// not swept, even if the lock file was lost.
func TestStagingOfALiveOwnerStays(t *testing.T) {
	w := newWorld(t, sample())
	x := &builder{c: w.cache, b: w.b}
	staging := filepath.Join(w.cache.bindingDir(w.b), "staging")
	if err := os.MkdirAll(staging, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := x.stage(); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(staging, "dead")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	w.build(BuildOptions{})
	if _, err := os.Stat(x.dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead builder's folder stays")
	}
	x.lease.Close()
	w.build(BuildOptions{Force: true})
	if _, err := os.Stat(x.dir); err == nil {
		t.Error("the folder stays though its owner is gone")
	}
}
