package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// readLogs reads the logs that stand beside traces, tokens.jsonl and loss.jsonl, where
// the options name none. Logs in several folders are of several runs: none of them is
// taken. One that cannot be read is named and left out.
func readLogs(s streams, files []string, o *analyze.Options) {
	folder, ok := onlyFolder(files)
	if !ok {
		return
	}
	if name := filepath.Join(folder, tokensFile); o.Tokens == nil && !o.UniformTokens {
		list, err := readTokenLog(name, o)
		if o.Tokens, o.TokensFrom, o.TokensFound = list, name, true; err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.say("%v; left out", err)
		}
	}
	if name := filepath.Join(folder, lossFile); o.Losses == nil {
		log, err := readLossLog(name)
		if o.Losses = log; err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.say("%v; left out", err)
		}
	}
}

// onlyFolder is the one folder of some files that holds logs.
func onlyFolder(files []string) (string, bool) {
	var folders []string
	for _, file := range files {
		dir := filepath.Dir(file)
		if file == tracefile.Stdin || slices.Contains(folders, dir) {
			continue
		}
		for _, name := range []string{tokensFile, lossFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				folders = append(folders, dir)
				break
			}
		}
	}
	if len(folders) != 1 {
		return "", false
	}
	return folders[0], true
}

// readTokenLog reads a token log; its name may say the rank that it is of.
func readTokenLog(name string, o *analyze.Options) ([]sidecar.TokenCount, error) {
	log, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	rank := int64(0)
	if o.RankOf != nil {
		rank, _ = o.RankOf(name)
	}
	return sidecar.ReadTokens(log, name, rank)
}

func readLossLog(name string) (*sidecar.LossLog, error) {
	log, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	rank, _ := rankOfFile(defaultRank)(name)
	return sidecar.ReadLosses(log, name, rank)
}
