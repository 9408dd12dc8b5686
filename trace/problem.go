package trace

import "fmt"

// Code names one kind of damage. The table below says what each means.
type Code string

// The kinds of damage that readers repair, count or report.
const (
	BadEscape          Code = "bad_escape"
	BadUTF8            Code = "bad_utf8"
	LoneSurrogate      Code = "lone_surrogate"
	NonFiniteNumber    Code = "non_finite_number"
	NumberRange        Code = "number_out_of_range"
	RawControl         Code = "raw_control_character"
	UnescapedQuote     Code = "unescaped_quote"
	MissingComma       Code = "missing_comma"
	ExtraComma         Code = "extra_comma"
	UnclosedArray      Code = "unclosed_array"
	Truncated          Code = "truncated"
	CompressionDamage  Code = "compression_damage"
	BrokenEvent        Code = "broken_event"
	NotAnEvent         Code = "not_an_event"
	NoTimestamp        Code = "event_without_time"
	NegativeDuration   Code = "negative_duration"
	MissingDuration    Code = "missing_duration"
	UnpairedBegin      Code = "unpaired_begin_end"
	LongString         Code = "long_string"
	DeepNesting        Code = "deep_nesting"
	DuplicateKey       Code = "duplicate_key"
	TrailingData       Code = "trailing_data"
	SeveralDocuments   Code = "several_documents"
	ByteOrderMark      Code = "byte_order_mark"
	LineDelimited      Code = "line_delimited"
	TooManyCategories  Code = "too_many_categories"
	DuplicateLaunch    Code = "duplicate_launch_id"
	ImpossibleDevice   Code = "impossible_device_event"
	DroppedDevice      Code = "dropped_device_events"
	CommOnCompute      Code = "communication_on_compute_stream"
	SuspectUnit        Code = "suspect_time_unit"
	SharedDevice       Code = "device_shared_by_processes"
	RankAssigned       Code = "rank_assigned"
	RankConflict       Code = "rank_conflict"
	MixedRanks         Code = "several_ranks_in_one_process"
	StepFallback       Code = "steps_from_profiler"
	Unlinked           Code = "unlinked_device_events"
	UnknownDeviceShare Code = "device_without_process"
	UnreadWorldSize    Code = "unreadable_world_size"

	OverlongDevice        Code = "overlong_device_event"
	UnreadDuration        Code = "device_event_without_duration"
	ZeroDuration          Code = "device_events_of_no_length"
	LostDevice            Code = "lost_device_events"
	RepeatedDevice        Code = "repeated_device_events"
	DeviceClock           Code = "device_clock_ahead"
	PossibleCommunication Code = "possible_communication"
	LostLaunches          Code = "lost_launches"
	LostHost              Code = "lost_host_events"
	CrossedLaunches       Code = "crossed_launches"
	Overlapping           Code = "overlapping_device_events"
	ClockOffset           Code = "device_clock_offset"
	ThreadClocks          Code = "thread_clocks"
	TimeGap               Code = "time_gap"
	CopiedRank            Code = "copied_rank"
	SwappedRanks          Code = "swapped_ranks"
	CrossingSpans         Code = "crossing_spans"
)

// Level is how bad damage is. How bad a finding is for the run is a report.Severity, which
// follows from what it costs.
type Level string

// The levels, least first: a figure may be right all the same; a figure may be off; there
// is nothing to go by.
const (
	Note  Level = "note"
	Warn  Level = "warn"
	Error Level = "error"
)

// ProblemInfo explains one Code to a person.
type ProblemInfo struct {
	Level   Level  // of each case, however many there are
	Meaning string // what was found and what was done with it: a clause without a full stop
	Action  string // what the user can do; choices in braces, see internal/choice
	Strict  bool   // damage of the input, which strict reading refuses
}

const againWhole = "record again; what has edited or filtered the trace since left events out"

const againDurations = "record again; the writer of the trace, or what has edited it since, damaged durations"

// problemTable is the one list of everything that can be wrong with an input.
var problemTable = map[Code]ProblemInfo{
	BadEscape: {Note, "illegal escape in a string, kept as it stands",
		"report it to the writer of the trace", true},
	BadUTF8:       {Note, "invalid UTF-8 in a string, replaced by U+FFFD", "none needed", true},
	LoneSurrogate: {Note, "half of a surrogate pair in a string, replaced by U+FFFD", "none needed", true},
	NonFiniteNumber: {Note, "NaN or infinity where JSON has no number, read as null",
		"none needed unless it is a time", true},
	NumberRange: {Warn, "number beyond what its field can hold, read as null",
		"check the writer of the trace", true},
	RawControl: {Note, "control character inside a string, kept", "none needed", true},
	UnescapedQuote: {Note, "unescaped quote inside a string, kept as part of it",
		"check the name at this place", true},
	MissingComma:  {Note, "missing comma, taken as present", "none needed", true},
	ExtraComma:    {Note, "comma too many, skipped", "none needed", true},
	UnclosedArray: {Note, "the event list is not closed; all its events are whole", "none needed", true},
	Truncated: {Warn, "the file ends early; what stands before the cut was read",
		"record again, or let the profiler finish writing", true},
	CompressionDamage: {Warn, "the compressed stream ends early or is damaged; what stands before was read",
		"copy the file again", true},
	BrokenEvent: {Warn, "an event could not be read and was left out", "look at this place in the file", true},
	NotAnEvent: {Warn, "an entry of the event list that has no phase was left out",
		"look at this place in the file", true},
	NoTimestamp:      {Warn, "an event without a usable time was left out", "look at this place in the file", true},
	NegativeDuration: {Warn, "negative duration, taken as zero", "the clocks of the recording are in doubt", true},
	MissingDuration:  {Note, "complete event without a duration, taken as zero", "none needed", true},
	UnpairedBegin: {Note, "begin without end or end without begin; a begin is closed at the end of its track",
		"none needed", true},
	LongString: {Note, "string over the length limit, cut", "none needed", true},
	DeepNesting: {Warn, "nested too deeply; what lies deeper was left out",
		"look at this place in the file", true},
	DuplicateKey: {Note, "a key occurs twice in one event, the last one counts", "none needed", true},
	TrailingData: {Note, "text after the end of the trace, left out", "none needed", true},
	SeveralDocuments: {Note, "several traces in one file, each read on its own",
		"give each rank its own file", false},
	ByteOrderMark:     {Note, "byte-order mark, skipped", "none needed", false},
	LineDelimited:     {Note, "one event a line without an enclosing list, read as a list", "none needed", false},
	TooManyCategories: {Note, "more categories than are kept apart; the rest have none", "none needed", false},
	DuplicateLaunch: {Warn, "two launches carry one correlation id; their device events are unlinked",
		"record again, or do not merge files of one process", true},
	ImpossibleDevice: {Warn, "device event that starts before its launch or has no time",
		"the clocks of the recording are in doubt", true},
	DroppedDevice: {Warn, "the profiler says that it dropped device events",
		"record fewer steps or raise the buffer size", true},
	CommOnCompute: {Warn, "communication runs on the stream of the compute kernels, which cannot overlap it",
		"overlap figures say nothing here", false},
	SuspectUnit: {Warn, "times look a thousand times too large or too small (another unit than microseconds?); " +
		"taken as read", "check the unit of ts and dur", false},
	SharedDevice: {Warn, "several processes launch on one device row; events that none of them can claim were left out",
		"give each rank its own file", false},
	RankAssigned: {Note, "the trace does not say its rank; one was assigned",
		"pass {rank-regex}, or record distributedInfo", false},
	RankConflict: {Warn, "two traces claim one rank; the later one got another number",
		"check which files belong together", false},
	MixedRanks: {Warn, "one process carries messages of several ranks; its figures mix them",
		"give each rank its own file", false},
	StepFallback: {Note, "no Optimizer.step span; steps are ProfilerStep# spans, which may be micro-batches",
		"record with_stack or annotate the optimizer step", false},
	Unlinked: {Note, "device events whose launch lies outside the recording: in totals, in no step",
		"none needed at the edges of a recording", false},
	UnknownDeviceShare: {Note, "device events that no process launched; the device is taken as its own rank's",
		"none needed for device-only traces", false},
	OverlongDevice: {Warn, "a device event lasts until more than 10 later ones of its own stream have begun, which " +
		"run one after the other; it counts without its time, so busy time, overlap and idle time are in doubt there",
		"record again; the writer of the trace, or what has edited it since, damaged a duration", true},
	UnreadWorldSize: {Warn, "the world size of distributedInfo is not a number of ranks that this one is among: " +
		"whether ranks are missing cannot be told",
		"record again; what has edited the trace since damaged distributedInfo", true},
	UnreadDuration: {Warn, "device event without a duration that can be read, taken as zero: busy time, overlap and " +
		"idle time are in doubt", againDurations, true},
	ZeroDuration: {Warn, "device events that last no time, which no kernel does: busy time, overlap and idle time " +
		"are in doubt", againDurations, false},
	LostDevice: {Warn, "kernels were launched that are not in the recording, though later ones are",
		"record fewer steps or raise the buffer size", true},
	RepeatedDevice: {Warn, "device events that are in the recording twice, each time with the same start and launch",
		"do not merge files of one process", true},
	DeviceClock: {Warn, "no kernel starts within 10 s of its launch: the clocks of host and device disagree",
		"the clocks of the recording are in doubt", true},
	LostLaunches: {Warn, "device events are missing together with the calls that launched them: busy time, overlap, " +
		"idle time and counts are in doubt", againWhole, true},
	LostHost: {Warn, "operators are missing, of which the profiler counts every one: what a step does is in doubt",
		againWhole, true},
	CrossedLaunches: {Warn, "copies are joined to calls that launch kernels: correlation ids are wrong",
		againWhole, true},
	Overlapping: {Warn, "kernels of one stream run at the same time, which run one after the other: their times are " +
		"in doubt", againDurations, true},
	ClockOffset: {Warn, "the clocks of host and device disagree", "the clocks of the recording are in doubt", true},
	ThreadClocks: {Warn, "launch calls begin before others that precede them by correlation id: the clocks of " +
		"threads disagree", "the clocks of the recording are in doubt", true},
	TimeGap: {Warn, "nothing is recorded for much longer than all the rest takes: the clock jumped, or events are " +
		"missing", "the clocks of the recording are in doubt", true},
	CopiedRank: {Warn, "two ranks have the same recording, event by event: the other one's is missing",
		"pass the trace that each rank has recorded", false},
	SwappedRanks: {Warn, "a trace says another rank than its messages or its file's name do: what belongs to which " +
		"rank is in doubt", "check which file is of which rank", false},
	CrossingSpans: {Warn, "spans of a thread overlap without one holding the other: threads were merged, or times " +
		"are wrong", "record again, or do not merge files of one process", true},
	PossibleCommunication: {Note, "a kernel that is in no family of communication counts as compute, though its name " +
		"speaks of it", "declare what it does with {communication}", false},
}

// Info explains c; a code that is not in the table is a bug and is said to be one.
func (c Code) Info() ProblemInfo {
	if info, ok := problemTable[c]; ok {
		return info
	}
	return ProblemInfo{Level: Error, Meaning: "undocumented problem " + string(c)}
}

// Codes returns every documented code, for the tests and the docs.
func Codes() []Code {
	codes := make([]Code, 0, len(problemTable))
	for c := range problemTable {
		codes = append(codes, c)
	}
	return codes
}

// Problem is one kind of damage in one trace, counted.
type Problem struct {
	Code   Code   // what kind of damage it is, and what was done about it
	Count  int64  // at least 1
	Offset int64  // of the first, in bytes of the decompressed text; -1 where there is no place
	Detail string // what the first one was; may be empty
}

// Message is the sentence for a person: the meaning, and the first case where known.
func (p Problem) Message() string {
	if p.Detail == "" {
		return p.Code.Info().Meaning
	}
	return p.Code.Info().Meaning + ": " + p.Detail
}

// FormatError says that an input could not be read at all from Offset on.
type FormatError struct {
	File   string // "" where the input has no name
	Offset int64  // in bytes of the decompressed text
	Reason string // a sentence without a full stop
}

func (e *FormatError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Reason)
}

// problemList counts problems by code in order of first appearance.
type problemList struct {
	list  []Problem
	index map[Code]int // into list; nil while it is empty, as it is for most files
}

// add counts n cases, of which the first stands at offset. A place and a detail are kept
// of the first one only: a million broken events are one line of a report.
func (l *problemList) add(code Code, n, offset int64, detail string) {
	if l.index == nil {
		l.index = make(map[Code]int)
	}
	i, ok := l.index[code]
	if !ok {
		l.index[code] = len(l.list)
		l.list = append(l.list, Problem{Code: code, Count: n, Offset: offset, Detail: detail})
		return
	}
	l.list[i].Count += n
}
