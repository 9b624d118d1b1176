// Runs the flows and tells, as one JSON document on standard output, how each call ended, in the form of
// the Python clients beside this folder. A call that fails does not stop its flow: those after it say for
// themselves what they lack.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/google/go-github/v88/github"
)

type made struct {
	Call  string  `json:"call"`
	Fault *string `json:"fault"`
}

type flow struct {
	name  string
	calls []made
}

func (f *flow) note(what, fault string) {
	one := made{Call: what}
	if fault != "" {
		one.Fault = &fault
	}
	f.calls = append(f.calls, one)
}

// call makes a call whose answer the check must hold for, and gives the answer.
func call[T any](f *flow, what string, run func() (T, *github.Response, error), check func(T) bool) (value T) {
	defer func() {
		if lack := recover(); lack != nil {
			f.note(what, fmt.Sprint(lack))
		}
	}()
	value, _, err := run()
	switch {
	case err != nil:
		f.note(what, err.Error())
	case check != nil && !check(value):
		f.note(what, fmt.Sprintf("answered %.300v", value))
	default:
		f.note(what, "")
	}
	return value
}

// done makes a call that answers nothing.
func done(f *flow, what string, run func() (*github.Response, error)) {
	call(f, what, func() (any, *github.Response, error) {
		response, err := run()
		return nil, response, err
	}, nil)
}

// fails makes a call that must end with this status.
func fails[T any](f *flow, what string, status int, run func() (T, *github.Response, error)) *github.ErrorResponse {
	_, response, err := run()
	var failed *github.ErrorResponse
	switch {
	case !errors.As(err, &failed):
		f.note(what, fmt.Sprintf("ended with %v", err))
	case response.StatusCode != status:
		f.note(what, fmt.Sprintf("ended with %d", response.StatusCode))
	default:
		f.note(what, "")
	}
	return failed
}

type step struct {
	name string
	run  func(*flow)
}

// tell runs the flows in their order.
func tell(steps []step) {
	callsByFlow := map[string][]made{}
	for _, one := range steps {
		f := &flow{name: one.name}
		func() {
			defer func() {
				if lack := recover(); lack != nil {
					f.note("the rest of the flow", fmt.Sprint(lack))
				}
			}()
			one.run(f)
		}()
		callsByFlow[one.name] = f.calls
	}
	if err := json.NewEncoder(os.Stdout).Encode(callsByFlow); err != nil {
		panic(err)
	}
}

var (
	ctx   = context.Background()
	owner = "northquay"
	name  = "berth"
)

func newClient(token string) *github.Client {
	at := os.Getenv("SVC_CLIENT_URL") + "/"
	client, err := github.NewClient(github.WithAuthToken(token), github.WithURLs(&at, &at))
	if err != nil {
		panic(err)
	}
	return client
}
