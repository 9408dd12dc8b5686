package timeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome"
)

// waitsText is synchronization records one a line.
func waitsText(r *Rank) string {
	var b strings.Builder
	for _, w := range r.SyncWaits() {
		call := "-"
		if w.RecordCall >= 0 {
			call = r.Name(w.RecordCall)
		}
		fmt.Fprintf(&b, "%d device %s stream %d for stream %d recorded %d by %s\n",
			w.Kind, w.Device, w.Stream, w.OnStream, w.Recorded, call)
	}
	return b.String()
}

func TestSyncWaits(t *testing.T) {
	const base = "1/1 1 +5 cuda_runtime cudaLaunchKernel corr=1\n0/7 10 +1 kernel a corr=1\n" +
		"1/1 20 +1 cuda_runtime cudaEventRecordWithFlags corr=8\n1/1 30 +1 cuda_runtime cudaStreamSynchronize corr=9\n"
	for _, c := range []struct{ name, source, want string }{
		{"none", "", ""},
		{"a stream for an event", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=20 "wait_on_stream"=7 ` +
			`"wait_on_cuda_event_record_corr_id"=8`,
			"1 device 0 stream 20 for stream 7 recorded 8 by cudaEventRecordWithFlags\n"},
		{"the host for an event", `0/7 40 +1 cuda_sync "Event Sync" stream=-1 "wait_on_stream"=7 ` +
			`"wait_on_cuda_event_record_corr_id"=8`,
			"2 device 0 stream -1 for stream 7 recorded 8 by cudaEventRecordWithFlags\n"},
		{"recorded before the recording", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=20 "wait_on_stream"=7 ` +
			`"wait_on_cuda_event_record_corr_id"=6`, "1 device 0 stream 20 for stream 7 recorded 6 by -\n"},
		{"the id is that of another call", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=20 ` +
			`"wait_on_cuda_event_record_corr_id"=1`, "1 device 0 stream 20 for stream -1 recorded 1 by -\n"},
		{"not known, as before the fix", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=20 "wait_on_stream"=-1 ` +
			`"wait_on_cuda_event_record_corr_id"=-1`, "1 device 0 stream 20 for stream -1 recorded -1 by -\n"},
		{"left out", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=20`,
			"1 device 0 stream 20 for stream -1 recorded -1 by -\n"},
		{"no numbers", `0/20 40 +1 cuda_sync "Stream Wait Event" stream=[20] "wait_on_stream"="x" ` +
			`"wait_on_cuda_event_record_corr_id"=null`, "1 device 0 stream -1 for stream -1 recorded -1 by -\n"},
		{"CUPTI's number for none", `0/-1 40 +1 cuda_sync "Event Sync" stream=4294967295 "wait_on_stream"=4294967295`,
			"2 device 0 stream -1 for stream -1 recorded -1 by -\n"},
		// Kineto draws it on a row of its own, next to that of the stream.
		{"the host for a stream", `thread 0/1000007 name="stream 7 (sync)"` + "\n" +
			`0/1000007 31 +9 cuda_sync "Stream Sync" stream=7 corr=9`,
			"3 device 0 stream 7 for stream -1 recorded -1 by -\n"},
		{"the host for a device", `0/7 31 +9 cuda_sync "Context Sync" stream=-1`,
			"4 device 0 stream -1 for stream -1 recorded -1 by -\n"},
		{"of no device of the rank", `5/7 31 +9 cuda_sync "Context Sync" stream=-1`, ""},
		{"another name", `0/7 31 +9 cuda_sync "Unknown Sync" stream=7`,
			"0 device 0 stream 7 for stream -1 recorded -1 by -\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := only(t, base+c.source)
			if got := waitsText(r); got != c.want {
				t.Errorf("got %swant %s", got, c.want)
			}
			// Waits are no activity, and their rows no stream and no host thread.
			if len(r.Devices) != 1 || len(r.Devices[0].Rows) != 1 || len(r.Host) != 1 {
				t.Errorf("%d devices, %d host threads", len(r.Devices), len(r.Host))
			}
		})
	}
}

// TestSyncWaitsOfKineto: what Kineto's own test wrote before and after it learned to find
// the recording of an event that CUPTI delivers late.
func TestSyncWaitsOfKineto(t *testing.T) {
	for file, want := range map[string]string{
		"event-wait-before-fix.json": "2 device 0 stream -1 for stream -1 recorded -1 by -\n" +
			"1 device 0 stream 1 for stream -1 recorded -1 by -\n",
		"event-wait-after-fix.json": "1 device 0 stream 1 for stream 1 recorded 100 by -\n" +
			"2 device 0 stream -1 for stream 1 recorded 100 by -\n",
	} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "traces", "idle", file))
		if err != nil {
			t.Skip("no shared traces here")
		}
		defer f.Close()
		traces, err := chrome.Read(f, chrome.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(waitsText(New(traces[0]).Ranks[0]), "\n")
		for _, line := range strings.Split(want, "\n") {
			if !strings.Contains(strings.Join(got, "\n"), line) {
				t.Errorf("%s: got %q, want %q", file, got, line)
			}
		}
		if len(got) != 3 {
			t.Errorf("%s: %q", file, got)
		}
	}
}
