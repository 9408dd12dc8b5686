package sim

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed presets.yaml
var builtIn []byte

//go:embed calibrated.yaml
var calibrated []byte

// Machine is what is simulated: the figures of a device, of the host that feeds it and of
// the links between devices. Presets are where one comes from, Set changes one.
type Machine struct {
	Preset string // as it was named: h200x8@ib-ndr
	Name   string // of the device, as the profiler has it
	values [numParams]float64
	source [numParams]string
}

// preset is an entry of a file of presets.
type preset struct {
	is     string
	from   []string
	values map[param][2]string // the figure and where it is from
}

// presets are those that the program brings along, by name.
var presets = sync.OnceValues(func() (map[string]preset, error) {
	list, err := parsePresets(builtIn)
	if err != nil {
		return nil, err
	}
	measured, err := parsePresets(calibrated)
	maps.Copy(list, measured)
	return list, err
})

// parsePresets reads a file of presets.
func parsePresets(data []byte) (map[string]preset, error) {
	var file map[string]map[string]any
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, true))
	}
	list := make(map[string]preset, len(file))
	for _, name := range slices.Sorted(maps.Keys(file)) {
		p := preset{values: make(map[param][2]string)}
		for _, key := range slices.Sorted(maps.Keys(file[name])) {
			if err := p.add(key, file[name][key]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		list[name] = p
	}
	return list, nil
}

// add reads one line of a preset.
func (p *preset) add(key string, value any) error {
	list, _ := value.([]any)
	switch key {
	case "is":
		p.is = fmt.Sprint(value)
		return nil
	case "from":
		if one, ok := value.(string); ok {
			list = []any{one}
		}
		for _, name := range list {
			p.from = append(p.from, fmt.Sprint(name))
		}
		if len(list) == 0 {
			return errors.New("from: write the presets whose figures are taken first, [h100]")
		}
		return nil
	}
	at, ok := find(key)
	if !ok {
		return fmt.Errorf("there is no figure %s; %s", called(key), nearest(key, paramNames()))
	}
	if len(list) != 2 || fmt.Sprint(list[1]) == "" {
		return fmt.Errorf("%s: write [figure, where it is from]", key)
	}
	text := fmt.Sprint(list[0])
	if _, err := at.parse(text); err != nil {
		return err
	}
	p.values[at] = [2]string{text, fmt.Sprint(list[1])}
	return nil
}

func paramNames() []string {
	var names []string
	for _, p := range params {
		names = append(names, p.name)
	}
	return names
}

// Devices lists the presets that are devices, and Networks those that are networks.
func Devices() []string {
	return named(func(p preset) bool { return p.is != "" })
}

// Networks lists the presets that connect nodes.
func Networks() []string { return named(preset.network) }

func (p preset) network() bool {
	_, ok := p.values[net]
	return ok && p.is == ""
}

func named(wanted func(preset) bool) []string {
	list, err := presets()
	if err != nil {
		panic("sim: " + err.Error()) // the file is part of the program, and tested
	}
	var names []string
	for name, p := range list {
		if wanted(p) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Lookup returns the machine of a name: a device, x and the devices of a node, @ and a
// network, as in h200x8@ib-ndr. In place of a device, a file of presets may be named, of which
// the last is taken, or the one after a colon: mine.yaml:h100x8.
func Lookup(name string) (*Machine, error) {
	rest, network, hasNetwork := strings.Cut(name, "@")
	list, err := presets()
	if err != nil {
		return nil, err
	}
	if i := strings.Index(rest, ".yaml"); i >= 0 {
		i += len(".yaml")
		if list, rest, err = fromFile(list, rest[:i], rest[i:]); err != nil {
			return nil, err
		}
	}
	device, nodes := splitNodes(list, rest)
	if _, ok := list[device]; !ok {
		return nil, fmt.Errorf("there is no device %s; %s", called(rest), nearest(device, Devices()))
	}
	m := &Machine{Preset: name}
	if err := m.take(list, device, nil); err != nil {
		return nil, err
	}
	if m.Name == "" {
		return nil, fmt.Errorf("%s is no device; %s", device, nearest(device, Devices()))
	}
	if hasNetwork {
		if p, ok := list[network]; !ok || !p.network() {
			return nil, fmt.Errorf("there is no network %s; %s", called(network), nearest(network, Networks()))
		}
		if err := m.take(list, network, nil); err != nil {
			return nil, err
		}
	}
	if nodes != "" {
		if err := m.Set("gpus-per-node=" + nodes); err != nil {
			return nil, err
		}
	}
	if err := m.complete(); err != nil {
		return nil, err
	}
	return m, m.consistent()
}

// splitNodes cuts the devices of a node off the name of a device.
func splitNodes(list map[string]preset, name string) (device, nodes string) {
	if _, whole := list[name]; whole {
		return name, ""
	}
	if i := strings.LastIndexByte(name, 'x'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// mostPresets is how large a file of presets may be, in bytes.
const mostPresets = 1 << 20

// fromFile adds the presets of a file, and returns the device that is meant: what follows the
// path begins with a colon and its name, and may end with the devices of a node.
func fromFile(list map[string]preset, path, rest string) (map[string]preset, string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostPresets) {
		err = fmt.Errorf("%s is no file of presets", path)
	}
	if err != nil {
		return nil, "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	more, err := parsePresets(data)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	list = maps.Clone(list)
	maps.Copy(list, more)
	if device, ok := strings.CutPrefix(rest, ":"); ok {
		return list, device, nil
	}
	last := ""
	for _, name := range slices.Sorted(maps.Keys(more)) {
		m := &Machine{}
		if err := m.take(list, name, nil); err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		if m.Name != "" {
			last = name
		}
	}
	if last == "" {
		return nil, "", fmt.Errorf("%s: there is no device in it: none of its presets says what it `is`", path)
	}
	return list, last + rest, nil
}

// take sets the figures of a preset, those of the presets that it is from first.
func (m *Machine) take(list map[string]preset, name string, above []string) error {
	p, ok := list[name]
	if !ok {
		return fmt.Errorf("there is no preset %s; %s", name, nearest(name, slices.Sorted(maps.Keys(list))))
	}
	if slices.Contains(above, name) {
		return fmt.Errorf("preset %s is from itself", name)
	}
	for _, from := range p.from {
		if err := m.take(list, from, append(above, name)); err != nil {
			return err
		}
	}
	if p.is != "" {
		m.Name = p.is
	}
	for at, text := range p.values {
		value, err := at.parse(text[0])
		if err != nil {
			return err
		}
		m.values[at], m.source[at] = value, text[1]
	}
	return nil
}

// complete reports what a machine lacks.
func (m *Machine) complete() error {
	for p := range params {
		if m.source[p] == "" && param(p) != pci {
			return fmt.Errorf("%s lacks the figure %s; take `from` a preset that has it", m.Preset, params[p].name)
		}
	}
	return nil
}

// Figure is a figure by its name: its value, the unit of that (ns, bytes/s, FLOP/s, bytes or none), and as it is
// written.
func (m *Machine) Figure(name string) (value float64, unit, text string) {
	p, ok := find(name)
	if !ok {
		return 0, "", ""
	}
	units := [...]string{aTime: "ns", aRate: "bytes/s", aSpeed: "FLOP/s", aSize: "bytes", aRatio: "", aNumber: ""}
	return m.values[p], units[params[p].kind], p.format(m.values[p])
}

// Set changes figures: hbm=2.0TB/s,launch=6us.
func (m *Machine) Set(text string) error {
	given := make(map[string]bool)
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		p, known := find(name)
		switch {
		case !ok:
			return fmt.Errorf("%q is no figure=value, such as hbm=2.0TB/s", part)
		case !known:
			return fmt.Errorf("there is no figure %s; %s", called(name), nearest(name, paramNames()))
		case given[name]:
			return fmt.Errorf("%s is given twice", name)
		}
		given[name] = true
		v, err := p.parse(value)
		if err != nil {
			return err
		}
		m.values[p], m.source[p] = v, "set"
	}
	return m.consistent()
}

// consistent reports figures that contradict each other.
func (m *Machine) consistent() error {
	if m.source[eager] != "" && m.values[launch] > m.values[eager] {
		return fmt.Errorf("launch %s is a part of eager %s: raise eager", launch.format(m.values[launch]),
			eager.format(m.values[eager]))
	}
	if m.source[hbm] != "" && m.values[scale] > m.values[hbm] {
		return fmt.Errorf("scale %s is more than hbm %s has", scale.format(m.values[scale]), hbm.format(m.values[hbm]))
	}
	return nil
}
