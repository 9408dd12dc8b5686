package report

// CalibrationSchema names the version of [Calibration]. Fields are added, never renamed.
const CalibrationSchema = "gaprof.calibration/1"

// Calibration is what traces show of the machine that they were recorded on, as figures of a preset for a simulation
// of it, as JSON.
type Calibration struct {
	Schema      string              `json:"schema"`
	Version     string              `json:"version"` // of gaprof
	Files       []string            `json:"files"`
	Ranks       []int64             `json:"ranks"`
	Device      string              `json:"device"` // as the traces call it; "" unknown
	Preset      string              `json:"preset"` // whose figures stay where none was fitted
	Figures     []CalibrationFigure `json:"figures"`
	Collectives []CalibrationLine   `json:"collectives"` // by kind and ranks
	Exit        Exit                `json:"exit"`        // 4 where not a single figure could be fitted
}

// CalibrationFigure is a figure of a preset.
type CalibrationFigure struct {
	Name    string             `json:"name"`         // as presets have it
	Fitted  bool               `json:"fitted"`       // the traces show it
	Value   float64            `json:"value"`        // in Unit; that of the preset where it was not fitted
	Unit    string             `json:"unit"`         // ns, bytes/s, or "" for a plain number
	Text    string             `json:"text"`         // the value as a preset has it
	Before  string             `json:"before"`       // what the preset has
	Samples int                `json:"samples"`      // that it was fitted to
	Sizes   int                `json:"sizes"`        // different ones of them; 0 for times
	Median  float64            `json:"median_error"` // half of the samples, or sizes, are off by at most this share
	P90     float64            `json:"p90_error"`    // nine in ten are
	Why     string             `json:"why"`          // why it was not fitted; "" where it was
	Checks  []CalibrationCheck `json:"checks"`       // what the model says of each size; none of times
}

// CalibrationCheck compares what the model says with what was observed.
type CalibrationCheck struct {
	What     string  `json:"what"` // such as 32768 x 768 x 3072 of bf16
	Samples  int     `json:"samples"`
	Observed int64   `json:"observed_ns"` // median
	Model    int64   `json:"model_ns"`
	Error    float64 `json:"error"` // model / observed - 1
}

// CalibrationLine is what collectives of a kind take by their bytes, without waiting for ranks.
type CalibrationLine struct {
	Kind    string  `json:"kind"`
	Ranks   int64   `json:"group_size"`
	Samples int     `json:"collectives"`
	Sizes   int     `json:"sizes"`            // different ones
	From    int64   `json:"from_bytes"`       // the least of those that the line is fitted to
	Alpha   float64 `json:"alpha_ns"`         // of one without bytes
	Beta    float64 `json:"beta_ns_per_byte"` // of the larger side
	Bus     float64 `json:"bus_bytes_per_s"`  // what a rank sends in a ring
	Median  float64 `json:"median_error"`     // over the sizes that it is fitted to
	P90     float64 `json:"p90_error"`
	Why     string  `json:"why"` // why there is no line; "" where there is one
}
