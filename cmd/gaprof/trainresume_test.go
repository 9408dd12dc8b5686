package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainResume: a run that goes on leaves the logs and the checkpoint of one that never stopped,
// also where the log is ahead of the checkpoint, and refuses to be another run.
func TestTrainResume(t *testing.T) {
	const small = "--layers 1 --width 16 --heads 2 --sequence-length 16 --local-batch-size 2 --global-batch-size 8 " +
		"-q --profile-steps none --checkpoint-every 3"
	dir := t.TempDir()
	train := func(name, flags string) (int, string) {
		code, stdout, stderr := runWith("", append(strings.Fields("train "+flags), "-o", filepath.Join(dir, name))...)
		return code, stdout + stderr
	}
	if code, said := train("whole", small+" --max-steps 12"); code != exitOK {
		t.Fatal(said)
	}
	if code, said := train("cut", small+" --max-steps 8"); code != exitOK {
		t.Fatal(said)
	}
	torn := append(fileText(t, dir, "cut", lossFile), `{"step":8,"ra`...)
	must(t, os.WriteFile(filepath.Join(dir, "cut", lossFile), torn, 0o666))
	code, said := train("cut", "--resume --checkpoint-every 3 --max-steps 12 --profile-steps none")
	if code != exitOK || !strings.Contains(said, "12 of 12 steps, of which 6 before") {
		t.Fatalf("code %d, %s", code, said)
	}
	for _, name := range []string{lossFile, tokensFile, checkpointFile} {
		if string(fileText(t, dir, "cut", name)) != string(fileText(t, dir, "whole", name)) {
			t.Errorf("%s differs", name)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "whole", checkpointFile), []byte("no such thing"), 0o666))
	for _, c := range []struct {
		dir, flags, want string
		code             int
	}{
		{"cut", "--resume", "done already: 12 steps", exitUsage},
		{"cut", "--resume --max-steps 20 --lr 0.1 --width 32", "--lr is 0.1, was 0.003; --width is 32, was 16",
			exitUsage},
		{"cut", "--resume --max-steps 20 --dataset-size 9", "--dataset-size is 9, was 0", exitUsage},
		{"cut", "--resume --max-steps 20 --force", "--force removes", exitUsage},
		{"none", "--resume", "is not there", exitInput},
		{"whole", "--resume", checkpointFile, exitInput},
		{"new", small + " --plant GS001", "--plant", exitUsage},
		{"new", small + " --adam-every 2", "take a multiple", exitUsage},
		{"new", "--checkpoint-every -1", "not a number of steps", exitUsage},
		{"new", "--checkpoint-every 2 --device sim:h100x2 --max-steps 2", "simulation", exitUsage},
	} {
		if code, said := train(c.dir, c.flags); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: code %d, %s", c.flags, code, said)
		}
	}
	if code, said := train("cut", small+" --max-steps 2 --force"); code != exitOK {
		t.Error(said)
	}
}

func fileText(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return text
}
