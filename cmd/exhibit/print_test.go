package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestJSONHidesNothing: what a terminal would act on is escaped, and a parser
// reads the same value.
func TestJSONHidesNothing(t *testing.T) {
	want := "a\u202eb\u0085\u200b\U000e0001\x7f ü 漢 \x1b[31m"
	var b bytes.Buffer
	if err := printJSON(&b, map[string]string{"v": want}); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(b.Bytes(), hidden); i >= 0 {
		t.Errorf("byte %d of %q does not print", i, b.String())
	}
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["v"] != want {
		t.Errorf("%q, %v; want %q", got["v"], err, want)
	}
	if !bytes.Contains(b.Bytes(), []byte("ü 漢")) {
		t.Errorf("letters are escaped: %s", b.String())
	}
}
