package main

import (
	"fmt"

	"github.com/loomc/loomc/loom/exec/check"
)

// gpuDevice opens a GPU as a device for launches.
func (a *app) gpuDevice(kind string) (check.Device, func(), error) {
	return nil, nil, &status{exitUsage, fmt.Errorf("--device %s: want cpu", kind)}
}
