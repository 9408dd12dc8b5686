// Package memory derives how much memory a rank holds from the "[memory]" events that
// PyTorch records with profile_memory=True: one for each allocation and release, with the
// totals of the allocator where it has any.
//
// Memory is counted on the clock of the host: an allocator gives and takes back when the
// program asks for it, long before the device uses the memory.
//
//	devices := memory.Find(x, windows)
//	for _, d := range devices {
//		fmt.Println(d.Name, d.Peaks[0].Allocated, d.Peaks[0].Phase)
//	}
//
// Where things are:
//
//	device.go  Device, Peak, and Find
//	window.go  Window: a step on the host, its phases
//	read.go    events by device, levels where the trace gives no totals
//	held.go    what forward passes hold until backward
//	series.go  Series: memory over one step, for a figure
package memory
