package strictjson

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	Commit string   `json:"commit"`
	Lines  []int    `json:"lines,omitempty"`
	Names  []string `json:"names"`
}

type outer struct {
	Status string  `json:"status"`
	N      int     `json:"n"`
	Yes    bool    `json:"yes"`
	In     inner   `json:"in"`
	Opt    *inner  `json:"opt,omitempty"`
	List   []inner `json:"list"`
	KeyID  string  `json:"keyid" strict:"optional"`
}

const good = `{"status":"ok","n":1,"yes":true,"in":{"commit":"c","names":[]},"list":[{"commit":"d","names":["x"]}]}`

func TestReadsWhatItWrites(t *testing.T) {
	want := outer{Status: "a\u2028\x00\"\U0001F600</é", N: -MaxInteger, Yes: true, In: inner{Commit: "c", Names: []string{}},
		Opt: &inner{Lines: []int{1, 2}, Names: []string{"x"}}, List: []inner{}, KeyID: ""}
	b, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got outer
	if err := Unmarshal(b, 4096, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Each of these is one that a lenient reader takes for another document.
func TestRefuses(t *testing.T) {
	repl := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct{ name, in, path, msg string }{
		{"duplicate", repl(`"n":1`, `"n":1,"n":1`), "", `member "n" stands twice`},
		{"duplicate by escape", repl(`"n":1`, `"n":1,"\u006e":2`), "", `member "n" stands twice`},
		{"duplicate deep", repl(`"commit":"d"`, `"commit":"d","commit":"e"`), "list[0]", "stands twice"},
		{"unknown", repl(`"n":1`, `"n":1,"m":1`), "", `unknown member "m"`},
		{"unknown deep", repl(`"names":["x"]`, `"names":["x"],"z":{}`), "list[0]", `unknown member "z"`},
		{"case", repl(`"commit":"c"`, `"Commit":"c"`), "in", `member "Commit" is not "commit"`},
		{"long s", repl(`"status"`, `"ſtatus"`), "", `is not "status"`},
		{"trailing", good + `{}`, "", "after the end"},
		{"trailing garbage", good + `x`, "", "after the end"},
		{"missing", repl(`"n":1,`, ``), "", `member "n" is missing`},
		{"null", repl(`"n":1`, `"n":null`), "n", "want an integer, have null"},
		{"null array", repl(`"names":[]`, `"names":null`), "in.names", "have null"},
		{"float", repl(`"n":1`, `"n":1.0`), "n", "fraction"},
		{"exponent", repl(`"n":1`, `"n":1e2`), "n", "exponent"},
		{"2^53", repl(`"n":1`, `"n":9007199254740992`), "n", "2^53"},
		{"huge", repl(`"n":1`, `"n":`+strings.Repeat("9", 400)), "n", "2^53"},
		{"leading zero", repl(`"n":1`, `"n":01`), "n", "plainly"},
		{"minus zero", repl(`"n":1`, `"n":-0`), "n", "plainly"},
		{"string for number", repl(`"n":1`, `"n":"1"`), "n", "have a string"},
		{"number for bool", repl(`"yes":true`, `"yes":1`), "yes", "want true or false"},
		{"truex", repl(`"yes":true`, `"yes":truex`), "", "comma"},
		{"object for array", repl(`"names":[]`, `"names":{}`), "in.names", "want an array"},
		{"array element", repl(`["x"]`, `["x",1]`), "list[0].names[1]", "want a string"},
		{"empty optional", repl(`"names":[]`, `"names":[],"lines":[]`), "in.lines", "left out"},
		{"lone high surrogate", repl(`"ok"`, `"\ud800"`), "status", "surrogate"},
		{"lone low surrogate", repl(`"ok"`, `"\udc00"`), "status", "surrogate"},
		{"surrogates swapped", repl(`"ok"`, `"\udc00\ud800"`), "status", "surrogate"},
		{"surrogate then letter", repl(`"ok"`, `"\ud800\u0041"`), "status", "surrogate"},
		{"invalid utf-8", repl(`"ok"`, "\"\xff\""), "status", "UTF-8"},
		{"encoded surrogate", repl(`"ok"`, "\"\xed\xa0\x80\""), "status", "UTF-8"},
		{"overlong", repl(`"ok"`, "\"\xc0\xaf\""), "status", "UTF-8"},
		{"raw newline", repl(`"ok"`, "\"a\nb\""), "status", "control"},
		{"bad escape", repl(`"ok"`, `"\x41"`), "status", "unknown escape"},
		{"short escape", repl(`"ok"`, `"\u00g0"`), "status", "four hex"},
		{"byte order mark", "\ufeff" + good, "", "want an object"},
		{"trailing comma", repl(`["x"]`, `["x",]`), "list[0].names[1]", "want a string"},
		{"trailing member comma", repl(`"names":[]}`, `"names":[],}`), "in", "want a string"},
		{"empty input", "", "", "too early"},
		{"cut", good[:len(good)-1], "", "comma or the end"},
		{"deep", strings.Repeat("[", 100000), "", "want an object"},
		{"deep inside", repl(`"x"`, strings.Repeat("[", 100000)), "list[0].names[0]", "want a string"},
		{"too large", good + strings.Repeat(" ", 4096), "", "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v outer
			err := Unmarshal([]byte(c.in), 200000, &v)
			if c.name == "too large" {
				err = Unmarshal([]byte(c.in), 4096, &v)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted: %+v", v)
			}
			if e.Path != c.path || !strings.Contains(e.Msg, c.msg) {
				t.Errorf("path %q, message %q; want %q, %q", e.Path, e.Msg, c.path, c.msg)
			}
		})
	}
	var v outer
	if err := Unmarshal([]byte(" "+good+"\n"), 4096, &v); err != nil {
		t.Errorf("the good document: %v", err)
	}
}

func TestMarshalRefusesWhatDoesNotComeBack(t *testing.T) {
	base := func() outer { return outer{In: inner{Names: []string{}}, List: []inner{}} }
	for name, spoil := range map[string]func(*outer){
		"invalid UTF-8": func(o *outer) { o.Status = "\xff" },
		"2^53":          func(o *outer) { o.N = MaxInteger + 1 },
		"nil slice":     func(o *outer) { o.List = nil },
		"deep":          func(o *outer) { o.List = []inner{{Names: []string{"a", "\xc0"}}} },
	} {
		o := base()
		if _, err := Marshal(o); err != nil {
			t.Fatal(err)
		}
		spoil(&o)
		if b, err := Marshal(o); err == nil {
			t.Errorf("%s: wrote %s", name, b)
		}
	}
}

// Decode, encode, decode: the value is the same and the bytes stay.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"status":"\ud83d\ude00","n":-5,"yes":false,"in":{"commit":"","names":["a"],"lines":[0]},"opt":{"commit":"","names":[]},"list":[],"keyid":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b outer
		if Unmarshal(data, 1<<16, &a) != nil {
			return
		}
		one, err := Marshal(a)
		if err != nil {
			t.Fatalf("read but cannot write: %v", err)
		}
		if err := Unmarshal(one, 1<<17, &b); err != nil {
			t.Fatalf("cannot read back %q: %v", one, err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v became %+v", a, b)
		}
		two, _ := Marshal(b)
		if string(one) != string(two) {
			t.Fatalf("%q became %q", one, two)
		}
	})
}
