package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
)

// action is what action.yml contains, as GitHub reads composite actions.
type action struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Author      string `yaml:"author"`
	Branding    struct {
		Icon  string `yaml:"icon"`
		Color string `yaml:"color"`
	} `yaml:"branding"`
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Required    bool   `yaml:"required"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string       `yaml:"using"`
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
}

type actionStep struct {
	ID    string            `yaml:"id"`
	Name  string            `yaml:"name"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	Shell string            `yaml:"shell"`
	Run   string            `yaml:"run"`
	Env   map[string]string `yaml:"env"`
	With  map[string]any    `yaml:"with"`
}

func readAction(t *testing.T) (a action, text string) {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(data, &a, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return a, string(data)
}

// What action.yml refers to exists: inputs, outputs of steps, variables, and of this program
// the commands and flags.
func TestAction(t *testing.T) {
	a, text := readAction(t)
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("%+v", a)
	}
	_, body, _ := strings.Cut(text, "\noutputs:")
	for name, input := range a.Inputs {
		if input.Description == "" || !strings.Contains(body, "inputs."+name) {
			t.Errorf("input %s is not described, or not used", name)
		}
	}
	ids := make(map[string]string)
	for _, step := range a.Runs.Steps {
		ids[step.ID] = step.Run
		checkActionStep(t, &step)
	}
	for _, m := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(body, -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`steps\.([\w-]+)\.outputs\.([\w-]+)`).FindAllStringSubmatch(body, -1) {
		if !strings.Contains(ids[m[1]], m[2]+"=") {
			t.Errorf("step %s has no output %s", m[1], m[2])
		}
	}
	for name, output := range a.Outputs {
		if output.Description == "" || !strings.Contains(output.Value, "steps.") {
			t.Errorf("output %s: %+v", name, output)
		}
	}
}

func checkActionStep(t *testing.T, step *actionStep) {
	t.Helper()
	if (step.Run == "") == (step.Uses == "") || (step.Run == "") != (step.Shell == "") {
		t.Errorf("step %s: one of run with shell, and uses: %+v", step.Name, step)
	}
	if step.Uses != "" && !regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+$`).MatchString(step.Uses) {
		t.Errorf("step %s uses %s", step.Name, step.Uses)
	}
	if strings.Contains(step.Run, "${{") {
		t.Errorf("step %s: an expression inside a script would be run", step.Name)
	}
	known := map[string]bool{"RUNNER_TEMP": true, "GITHUB_OUTPUT": true, "PATH": true, "IFS": true}
	for name := range step.Env {
		known[name] = true
		if !strings.Contains(step.Run, "$"+name) && !strings.Contains(step.Run, "${"+name) {
			t.Errorf("step %s: %s is not used", step.Name, name)
		}
	}
	for _, m := range regexp.MustCompile(`\$\{?([A-Z_]+)\b`).FindAllStringSubmatch(step.Run, -1) {
		if !known[m[1]] {
			t.Errorf("step %s: there is no variable %s", step.Name, m[1])
		}
	}
	checkActionFlags(t, step)
	if bash, err := exec.LookPath("bash"); err == nil && step.Run != "" {
		cmd := exec.Command(bash, "-n")
		cmd.Stdin = strings.NewReader(step.Run)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("step %s: %v: %s", step.Name, err, out)
		}
	}
}

// checkActionFlags looks up every flag of the commands that a script runs. What goes into args
// is passed to check.
func checkActionFlags(t *testing.T, step *actionStep) {
	t.Helper()
	root, _ := newRootCommand(streams{})
	for line := range strings.Lines(step.Run) {
		line, _, _ = strings.Cut(line, " # ")
		name := ""
		if m := regexp.MustCompile(`\bgaprof ([a-z]+) -`).FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if strings.Contains(line, "args+=(") {
			name = "check"
		} else if strings.Contains(line, "forms+=(") {
			name = "analyze"
		} else {
			continue
		}
		command, _, err := root.Find([]string{name})
		if err != nil {
			t.Errorf("step %s: %v", step.Name, err)
			continue
		}
		for _, m := range regexp.MustCompile(`[ (]--([a-z-]+)`).FindAllStringSubmatch(line, -1) {
			if command.Flags().Lookup(m[1]) == nil && command.InheritedFlags().Lookup(m[1]) == nil {
				t.Errorf("step %s: %s has no flag --%s", step.Name, name, m[1])
			}
		}
	}
}

// TestActionScripts runs the scripts of the steps as a runner does, each as NAME.sh. $SERVER has a
// release of this platform, whose program is a script that says so.
func TestActionScripts(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "sha256sum", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: no %s: %v", tool, err)
		}
	}
	a, _ := readAction(t)
	server := httptest.NewServer(releaseFiles(t))
	t.Cleanup(server.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/action",
		RequireExplicitExec: true,
		Cmds:                map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			temp := filepath.Join(e.WorkDir, "temp")
			e.Setenv("RUNNER_TEMP", temp)
			e.Setenv("GITHUB_OUTPUT", filepath.Join(e.WorkDir, "output"))
			e.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(e.WorkDir, "summary.md"))
			e.Setenv("SERVER", server.URL)
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			e.Setenv("BIN", filepath.Join(e.WorkDir, "bin")) // programs that stand for others
			e.Setenv("PATH", filepath.Join(e.WorkDir, "bin")+string(filepath.ListSeparator)+e.Getenv("PATH"))
			for name, input := range a.Inputs {
				e.Setenv(variableOf(a, name), input.Default)
			}
			for _, step := range a.Runs.Steps {
				script := []byte("set -eo pipefail\n" + step.Run)
				if err := os.WriteFile(filepath.Join(e.WorkDir, step.Name+".sh"), script, 0o666); err != nil {
					return err
				}
			}
			return os.MkdirAll(temp, 0o777)
		},
	})
}

// releaseFiles serves a release 9.1 with its checksums, and a release 9.2 with wrong ones.
func releaseFiles(t *testing.T) http.Handler {
	t.Helper()
	const program = "#!/bin/sh\necho released\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, version := range []string{"9.1", "9.2"} {
		h := &tar.Header{Name: "gaprof_" + version + "_linux_amd64/gaprof", Mode: 0o755, Size: int64(len(program))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(program)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for version, sum := range map[string]string{
		"9.1": fmt.Sprintf("%x", sha256.Sum256(b.Bytes())), "9.2": strings.Repeat("0", 64),
	} {
		name := "gaprof_" + version + "_linux_amd64.tar.gz"
		files["/v"+version+"/"+name] = b.Bytes()
		files["/v"+version+"/checksums.txt"] = []byte(strings.Repeat("1", 64) + "  other\n" + sum + "  " + name + "\n")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	})
}

// variableOf is the variable that an input reaches the scripts as.
func variableOf(a action, input string) string {
	for _, step := range a.Runs.Steps {
		for name, value := range step.Env {
			if value == "${{ inputs."+input+" }}" {
				return name
			}
		}
	}
	return "INPUT_" + strings.ToUpper(input)
}
