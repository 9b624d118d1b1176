// The rest of the flows: pull requests, branches, search, webhooks, and what all requests have in common.
package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v88/github"
)

func pulls(f *flow) {
	call(f, "PullRequests.List", func() ([]*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.List(ctx, owner, name, nil)
	},
		func(all []*github.PullRequest) bool { return len(all) == 5 && all[0].GetNumber() == 156 })
	pull := call(f, "PullRequests.Get", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.Get(ctx, owner, name, 153)
	},
		func(row *github.PullRequest) bool { return row.GetMergeable() && row.GetBase().GetRef() == "main" })
	call(f, "PullRequests.Edit", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.Edit(ctx, owner, name, 153, &github.PullRequest{Body: github.Ptr("Fixes #152")})
	}, func(row *github.PullRequest) bool { return row.GetBody() == "Fixes #152" })
	call(f, "PullRequests.ListCommits", func() ([]*github.RepositoryCommit, *github.Response, error) {
		return hub.PullRequests.ListCommits(ctx, owner, name, 153, nil)
	}, func(all []*github.RepositoryCommit) bool { return len(all) == 1 })
	files := call(f, "PullRequests.ListFiles", func() ([]*github.CommitFile, *github.Response, error) {
		return hub.PullRequests.ListFiles(ctx, owner, name, 153, nil)
	}, func(all []*github.CommitFile) bool { return len(all) > 0 })
	call(f, "PullRequests.IsMerged", func() (bool, *github.Response, error) { return hub.PullRequests.IsMerged(ctx, owner, name, 153) },
		func(is bool) bool { return !is })
	jonas := github.ReviewersRequest{Reviewers: []string{"jonas-eide"}}
	call(f, "PullRequests.RequestReviewers", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.RequestReviewers(ctx, owner, name, 153, jonas)
	}, nil)
	call(f, "PullRequests.ListReviewers", func() (*github.Reviewers, *github.Response, error) {
		return hub.PullRequests.ListReviewers(ctx, owner, name, 153)
	},
		func(all *github.Reviewers) bool { return len(all.Users) > 0 })
	done(f, "PullRequests.RemoveReviewers", func() (*github.Response, error) {
		return hub.PullRequests.RemoveReviewers(ctx, owner, name, 153, jonas)
	})
	note := call(f, "PullRequests.CreateComment", func() (*github.PullRequestComment, *github.Response, error) {
		return hub.PullRequests.CreateComment(ctx, owner, name, 153, &github.PullRequestComment{
			Body: github.Ptr("Why here?"), CommitID: pull.GetHead().SHA, Path: files[0].Filename, Line: github.Ptr(1), Side: github.Ptr("RIGHT"),
		})
	}, func(made *github.PullRequestComment) bool { return made.GetPath() == files[0].GetFilename() })
	call(f, "PullRequests.CreateCommentInReplyTo", func() (*github.PullRequestComment, *github.Response, error) {
		return hub.PullRequests.CreateCommentInReplyTo(ctx, owner, name, 153, "As asked", note.GetID())
	}, func(made *github.PullRequestComment) bool { return made.GetInReplyTo() == note.GetID() })
	call(f, "PullRequests.EditComment", func() (*github.PullRequestComment, *github.Response, error) {
		return hub.PullRequests.EditComment(ctx, owner, name, note.GetID(), &github.PullRequestComment{Body: github.Ptr("Why there?")})
	}, func(row *github.PullRequestComment) bool { return row.GetBody() == "Why there?" })
	call(f, "PullRequests.ListComments", func() ([]*github.PullRequestComment, *github.Response, error) {
		return hub.PullRequests.ListComments(ctx, owner, name, 153, nil)
	}, func(all []*github.PullRequestComment) bool { return len(all) >= 2 })
	done(f, "PullRequests.DeleteComment", func() (*github.Response, error) {
		return hub.PullRequests.DeleteComment(ctx, owner, name, note.GetID())
	})
	reviews := call(f, "PullRequests.ListReviews", func() ([]*github.PullRequestReview, *github.Response, error) {
		return hub.PullRequests.ListReviews(ctx, owner, name, 153, nil)
	}, func(all []*github.PullRequestReview) bool { return len(all) >= 2 })
	for _, review := range reviews {
		if review.GetState() != "CHANGES_REQUESTED" {
			continue
		}
		call(f, "PullRequests.DismissReview", func() (*github.PullRequestReview, *github.Response, error) {
			return hub.PullRequests.DismissReview(ctx, owner, name, 153, review.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.Ptr("Done")})
		}, func(row *github.PullRequestReview) bool { return row.GetState() == "DISMISSED" })
	}
	mine := call(f, "PullRequests.CreateReview", func() (*github.PullRequestReview, *github.Response, error) {
		return hub.PullRequests.CreateReview(ctx, owner, name, 153, &github.PullRequestReviewRequest{Body: github.Ptr("So far")})
	}, func(made *github.PullRequestReview) bool { return made.GetState() == "PENDING" })
	call(f, "PullRequests.SubmitReview", func() (*github.PullRequestReview, *github.Response, error) {
		return hub.PullRequests.SubmitReview(ctx, owner, name, 153, mine.GetID(), &github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")})
	}, func(row *github.PullRequestReview) bool { return row.GetState() == "APPROVED" })
	call(f, "PullRequests.Merge", func() (*github.PullRequestMergeResult, *github.Response, error) {
		return hub.PullRequests.Merge(ctx, owner, name, 153, "After the payment", &github.PullRequestOptions{MergeMethod: "squash"})
	}, func(result *github.PullRequestMergeResult) bool { return result.GetMerged() })
	fails(f, "PullRequests.Merge again", http.StatusMethodNotAllowed, func() (*github.PullRequestMergeResult, *github.Response, error) {
		return hub.PullRequests.Merge(ctx, owner, name, 153, "", nil)
	})
	call(f, "merged", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.Get(ctx, owner, name, 153)
	},
		func(row *github.PullRequest) bool {
			return row.GetMerged() && row.GetMergedBy().GetLogin() == "quay-triage"
		})
	call(f, "the issue it fixes", func() (*github.Issue, *github.Response, error) { return hub.Issues.Get(ctx, owner, name, 152) },
		func(row *github.Issue) bool { return row.GetState() == "closed" })
}

func branches(f *flow) {
	get := func(what, branch string) *github.Branch {
		return call(f, what, func() (*github.Branch, *github.Response, error) {
			return hub.Repositories.GetBranch(ctx, owner, name, branch, 1)
		},
			func(row *github.Branch) bool { return row.GetName() == branch })
	}
	tip := get("Repositories.GetBranch", "main").GetCommit().GetSHA()
	isTip := func(ref *github.Reference) bool { return ref.GetObject().GetSHA() == tip }
	make := func(what, branch, sha string) {
		call(f, what, func() (*github.Reference, *github.Response, error) {
			return hub.Git.CreateRef(ctx, owner, name, github.CreateRef{Ref: "refs/heads/" + branch, SHA: sha})
		}, nil)
	}
	make("Git.CreateRef", "feat/winch/speed", tip)
	get("Repositories.GetBranch, slashes", "feat/winch/speed")
	call(f, "Git.GetRef", func() (*github.Reference, *github.Response, error) {
		return hub.Git.GetRef(ctx, owner, name, "heads/feat/winch/speed")
	}, isTip)
	call(f, "Git.ListMatchingRefs", func() ([]*github.Reference, *github.Response, error) {
		return hub.Git.ListMatchingRefs(ctx, owner, name, "heads/feat/winch")
	}, func(all []*github.Reference) bool { return len(all) == 1 && isTip(all[0]) })
	call(f, "Repositories.GetCommit of it", func() (*github.RepositoryCommit, *github.Response, error) {
		return hub.Repositories.GetCommit(ctx, owner, name, "feat/winch/speed", nil)
	}, func(commit *github.RepositoryCommit) bool { return commit.GetSHA() == tip })
	call(f, "Repositories.ListCommits of it", func() ([]*github.RepositoryCommit, *github.Response, error) {
		return hub.Repositories.ListCommits(ctx, owner, name, &github.CommitsListOptions{SHA: "feat/winch/speed"})
	}, func(all []*github.RepositoryCommit) bool { return all[0].GetSHA() == tip })
	call(f, "Repositories.ListBranches", func() ([]*github.Branch, *github.Response, error) {
		return hub.Repositories.ListBranches(ctx, owner, name, nil)
	},
		func(all []*github.Branch) bool {
			return slices.ContainsFunc(all, func(row *github.Branch) bool { return row.GetName() == "feat/winch/speed" })
		})
	make("a branch with work", "fix/plads", get("Repositories.GetBranch of work", "danish-plads").GetCommit().GetSHA())
	pull := call(f, "PullRequests.Create", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.Create(ctx, owner, name, &github.NewPullRequest{
			Title: github.Ptr("Plads"), Head: github.Ptr("fix/plads"), Base: github.Ptr("main"), Draft: github.Ptr(true),
		})
	}, func(made *github.PullRequest) bool { return made.GetHead().GetRef() == "fix/plads" && made.GetDraft() })
	call(f, "PullRequests.Edit state", func() (*github.PullRequest, *github.Response, error) {
		return hub.PullRequests.Edit(ctx, owner, name, pull.GetNumber(), &github.PullRequest{State: github.Ptr("closed")})
	}, func(row *github.PullRequest) bool { return row.GetState() == "closed" })
	done(f, "Git.DeleteRef", func() (*github.Response, error) { return hub.Git.DeleteRef(ctx, owner, name, "heads/feat/winch/speed") })
	fails(f, "deleted", http.StatusNotFound, func() (*github.Reference, *github.Response, error) {
		return hub.Git.GetRef(ctx, owner, name, "heads/feat/winch/speed")
	})
}

func search(f *flow) {
	call(f, "Search.Issues", func() (*github.IssuesSearchResult, *github.Response, error) {
		return hub.Search.Issues(ctx, "repo:northquay/berth is:issue is:open reminder", &github.SearchOptions{Sort: "created"})
	}, func(found *github.IssuesSearchResult) bool { return found.GetTotal() >= 2 })
	call(f, "Search.Issues, text matches", func() (*github.IssuesSearchResult, *github.Response, error) {
		return hub.Search.Issues(ctx, "repo:northquay/berth reminder", &github.SearchOptions{TextMatch: true})
	}, func(found *github.IssuesSearchResult) bool { return len(found.Issues[0].TextMatches) > 0 })
	call(f, "Search.Repositories", func() (*github.RepositoriesSearchResult, *github.Response, error) {
		return hub.Search.Repositories(ctx, "berth", nil)
	},
		func(found *github.RepositoriesSearchResult) bool { return found.Repositories[0].GetName() == name })
	call(f, "Search.Users", func() (*github.UsersSearchResult, *github.Response, error) {
		return hub.Search.Users(ctx, "okafor", nil)
	},
		func(found *github.UsersSearchResult) bool { return found.GetTotal() == 1 })
}

func webhooks(f *flow) {
	hook := call(f, "Repositories.CreateHook", func() (*github.Hook, *github.Response, error) {
		return hub.Repositories.CreateHook(ctx, owner, name, &github.Hook{
			Events: []string{"issues", "push"}, Active: github.Ptr(true),
			Config: &github.HookConfig{URL: github.Ptr("https://hooks.example/in"), ContentType: github.Ptr("json"), Secret: github.Ptr("s3")},
		})
	}, func(made *github.Hook) bool { return made.GetActive() })
	call(f, "Repositories.GetHook", func() (*github.Hook, *github.Response, error) {
		return hub.Repositories.GetHook(ctx, owner, name, hook.GetID())
	},
		func(row *github.Hook) bool { return len(row.Events) == 2 })
	call(f, "Repositories.EditHook", func() (*github.Hook, *github.Response, error) {
		return hub.Repositories.EditHook(ctx, owner, name, hook.GetID(), &github.Hook{Events: []string{"pull_request"}})
	}, func(row *github.Hook) bool { return slices.Equal(row.Events, []string{"pull_request"}) })
	done(f, "Repositories.PingHook", func() (*github.Response, error) { return hub.Repositories.PingHook(ctx, owner, name, hook.GetID()) })
	call(f, "Repositories.ListHooks", func() ([]*github.Hook, *github.Response, error) {
		return hub.Repositories.ListHooks(ctx, owner, name, nil)
	},
		func(all []*github.Hook) bool { return len(all) == 1 })
	done(f, "Repositories.DeleteHook", func() (*github.Response, error) { return hub.Repositories.DeleteHook(ctx, owner, name, hook.GetID()) })
	call(f, "none left", func() ([]*github.Hook, *github.Response, error) {
		return hub.Repositories.ListHooks(ctx, owner, name, nil)
	},
		func(all []*github.Hook) bool { return len(all) == 0 })
}

func paging(f *flow) {
	every := call(f, "Issues.ListByRepo, page by page", func() (all []int, response *github.Response, err error) {
		options := &github.IssueListByRepoOptions{State: "all", ListOptions: github.ListOptions{PerPage: 7, Page: 1}}
		for options.ListOptions.Page != 0 {
			rows, response, err := hub.Issues.ListByRepo(ctx, owner, name, options)
			if err != nil {
				return all, response, err
			}
			all = append(all, numbersOf(rows)...)
			options.ListOptions.Page = response.NextPage
		}
		return all, nil, nil
	}, func(all []int) bool {
		once := slices.Clone(all)
		slices.Sort(once)
		return len(slices.Compact(once)) == len(all) && len(all) > 50
	})
	call(f, "an iterator", func() (int, *github.Response, error) {
		count := 0
		for _, err := range hub.Issues.ListByRepoIter(ctx, owner, name, &github.IssueListByRepoOptions{State: "all"}) {
			if err != nil {
				return count, nil, err
			}
			count++
		}
		return count, nil, nil
	}, func(count int) bool { return count == len(every) })
}

func conditional(f *flow) {
	ask := func(tag string) (*github.Issue, *github.Response, error) {
		request, err := hub.NewRequest(ctx, http.MethodGet, "repos/northquay/berth/issues/139", nil)
		if err != nil {
			return nil, nil, err
		}
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		var issue *github.Issue
		response, err := hub.Do(request, &issue)
		return issue, response, err
	}
	tag := call(f, "an answer's ETag", func() (string, *github.Response, error) {
		_, response, err := ask("")
		return response.Header.Get("ETag"), response, err
	}, func(tag string) bool { return strings.Contains(tag, `"`) })
	fails(f, "304", http.StatusNotModified, func() (*github.Issue, *github.Response, error) { return ask(tag) })
	call(f, "a change", func() (*github.IssueComment, *github.Response, error) {
		return hub.Issues.CreateComment(ctx, owner, name, 139, &github.IssueComment{Body: github.Ptr("Still there")})
	}, nil)
	call(f, "200", func() (*github.Issue, *github.Response, error) { return ask(tag) }, nil)
}

func failing(f *flow) {
	fails(f, "401", http.StatusUnauthorized, func() (*github.User, *github.Response, error) { return newClient("unknown").Users.Get(ctx, "") })
	fails(f, "403", http.StatusForbidden, func() (*github.Repository, *github.Response, error) {
		return hub.Repositories.Edit(ctx, "mikkelh", "marstal-tides", &github.Repository{Description: github.Ptr("Mine")})
	})
	fails(f, "404", http.StatusNotFound, func() (*github.Issue, *github.Response, error) { return hub.Issues.Get(ctx, owner, name, 9999) })
	failed := fails(f, "422", http.StatusUnprocessableEntity, func() (*github.Issue, *github.Response, error) {
		return hub.Issues.Create(ctx, owner, name, &github.IssueRequest{Title: github.Ptr(strings.Repeat("x", 257))})
	})
	call(f, "its errors", func() ([]github.Error, *github.Response, error) { return failed.Errors, nil, nil },
		func(all []github.Error) bool { return len(all) == 1 && all[0].Resource == "Issue" })
}
