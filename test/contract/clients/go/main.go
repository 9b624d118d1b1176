// What users of go-github do every day, against a session of code-hosting: people, repositories, issues
// and what belongs to them. Its types are strict, so that a field of another type fails the call.
package main

import (
	"os"
	"slices"

	"github.com/google/go-github/v88/github"
)

var hub = newClient(os.Getenv("SVC_CLIENT_TOKEN"))

func main() {
	tell([]step{
		{"users", users},
		{"repositories", repositories},
		{"issues", issues},
		{"labels", labels},
		{"milestones", milestones},
		{"pulls", pulls},
		{"branches with slashes", branches},
		{"search", search},
		{"webhooks", webhooks},
		{"paging", paging},
		{"conditional requests", conditional},
		{"files and releases", files},
		{"error classes", failing},
	})
}

func namesOf(labels []*github.Label) (all []string) {
	for _, label := range labels {
		all = append(all, label.GetName())
	}
	return all
}

func numbersOf(issues []*github.Issue) (all []int) {
	for _, issue := range issues {
		all = append(all, issue.GetNumber())
	}
	return all
}

func users(f *flow) {
	call(f, "Users.Get", func() (*github.User, *github.Response, error) { return hub.Users.Get(ctx, "") },
		func(me *github.User) bool { return me.GetLogin() == "quay-triage" })
	call(f, "Users.Get(login)", func() (*github.User, *github.Response, error) { return hub.Users.Get(ctx, "sam-okafor") },
		func(user *github.User) bool { return user.GetName() == "Sam Okafor" && !user.GetCreatedAt().IsZero() })
	call(f, "Users.ListAll", func() ([]*github.User, *github.Response, error) { return hub.Users.ListAll(ctx, nil) },
		func(all []*github.User) bool { return len(all) >= 8 })
	call(f, "Organizations.Get", func() (*github.Organization, *github.Response, error) { return hub.Organizations.Get(ctx, owner) },
		func(org *github.Organization) bool { return org.GetLogin() == owner })
	call(f, "Organizations.List", func() ([]*github.Organization, *github.Response, error) { return hub.Organizations.List(ctx, "", nil) },
		func(all []*github.Organization) bool { return len(all) == 1 })
	call(f, "Organizations.ListMembers", func() ([]*github.User, *github.Response, error) {
		return hub.Organizations.ListMembers(ctx, owner, nil)
	},
		func(all []*github.User) bool { return len(all) == 6 })
	call(f, "Organizations.IsMember", func() (bool, *github.Response, error) { return hub.Organizations.IsMember(ctx, owner, "sam-okafor") },
		func(is bool) bool { return is })
	call(f, "Organizations.IsMember, of a stranger", func() (bool, *github.Response, error) { return hub.Organizations.IsMember(ctx, owner, "mikkelh") },
		func(is bool) bool { return !is })
	call(f, "Organizations.GetOrgMembership", func() (*github.Membership, *github.Response, error) {
		return hub.Organizations.GetOrgMembership(ctx, "quay-triage", owner)
	}, func(row *github.Membership) bool { return row.GetRole() == "admin" })
	call(f, "RateLimit.Get", func() (*github.RateLimits, *github.Response, error) { return hub.RateLimit.Get(ctx) },
		func(rate *github.RateLimits) bool { return rate.Core.Remaining > 0 })
}

func repositories(f *flow) {
	call(f, "Repositories.Get", func() (*github.Repository, *github.Response, error) { return hub.Repositories.Get(ctx, owner, name) },
		func(repo *github.Repository) bool {
			return repo.GetDefaultBranch() == "main" && repo.GetPermissions() != nil
		})
	call(f, "Repositories.ListByOrg", func() ([]*github.Repository, *github.Response, error) {
		return hub.Repositories.ListByOrg(ctx, owner, nil)
	},
		func(all []*github.Repository) bool { return len(all) == 3 })
	call(f, "Repositories.ListByUser", func() ([]*github.Repository, *github.Response, error) {
		return hub.Repositories.ListByUser(ctx, "mikkelh", nil)
	},
		func(all []*github.Repository) bool { return len(all) == 1 })
	call(f, "Repositories.ListByAuthenticatedUser", func() ([]*github.Repository, *github.Response, error) {
		return hub.Repositories.ListByAuthenticatedUser(ctx, nil)
	}, nil)
	call(f, "Repositories.Edit", func() (*github.Repository, *github.Response, error) {
		return hub.Repositories.Edit(ctx, owner, name, &github.Repository{Description: github.Ptr("Berths")})
	}, func(repo *github.Repository) bool { return repo.GetDescription() == "Berths" })
	call(f, "Repositories.ReplaceAllTopics", func() ([]string, *github.Response, error) {
		return hub.Repositories.ReplaceAllTopics(ctx, owner, name, []string{"harbour"})
	}, func(all []string) bool { return slices.Equal(all, []string{"harbour"}) })
	call(f, "Repositories.ListAllTopics", func() ([]string, *github.Response, error) {
		return hub.Repositories.ListAllTopics(ctx, owner, name, nil)
	},
		func(all []string) bool { return len(all) == 1 })
	call(f, "Repositories.ListCommits", func() ([]*github.RepositoryCommit, *github.Response, error) {
		return hub.Repositories.ListCommits(ctx, owner, name, nil)
	}, func(all []*github.RepositoryCommit) bool { return len(all) >= 7 })
	call(f, "Repositories.GetCommit", func() (*github.RepositoryCommit, *github.Response, error) {
		return hub.Repositories.GetCommit(ctx, owner, name, "main", nil)
	}, func(commit *github.RepositoryCommit) bool {
		return len(commit.Files) > 0 && commit.GetCommit().GetAuthor() != nil
	})
	call(f, "Issues.ListAssignees", func() ([]*github.User, *github.Response, error) {
		return hub.Issues.ListAssignees(ctx, owner, name, nil)
	},
		func(all []*github.User) bool { return len(all) >= 6 })
	call(f, "Issues.IsAssignee", func() (bool, *github.Response, error) { return hub.Issues.IsAssignee(ctx, owner, name, "sam-okafor") },
		func(is bool) bool { return is })
	call(f, "Repositories.Create", func() (*github.Repository, *github.Response, error) {
		return hub.Repositories.Create(ctx, "", &github.Repository{Name: github.Ptr("scratch"), AutoInit: github.Ptr(true)})
	}, func(repo *github.Repository) bool { return repo.GetOwner().GetLogin() == "quay-triage" })
	done(f, "Repositories.Delete", func() (*github.Response, error) { return hub.Repositories.Delete(ctx, "quay-triage", "scratch") })
}

func issues(f *flow) {
	issue := call(f, "Issues.Create", func() (*github.Issue, *github.Response, error) {
		return hub.Issues.Create(ctx, owner, name, &github.IssueRequest{
			Title: github.Ptr("Gangway light"), Body: github.Ptr("It flickers"), Labels: &[]string{"bug"},
			Assignees: &[]string{"sam-okafor"}, Milestone: github.Ptr(3),
		})
	}, func(made *github.Issue) bool {
		return made.GetUser().GetLogin() == "quay-triage" && made.GetMilestone().GetNumber() == 3 && len(made.Labels) == 1
	})
	number := issue.GetNumber()
	call(f, "Issues.Get", func() (*github.Issue, *github.Response, error) { return hub.Issues.Get(ctx, owner, name, number) },
		func(row *github.Issue) bool { return row.GetTitle() == "Gangway light" && !row.IsPullRequest() })
	edit := func(what string, request *github.IssueRequest, check func(*github.Issue) bool) {
		call(f, "Issues.Edit "+what, func() (*github.Issue, *github.Response, error) {
			return hub.Issues.Edit(ctx, owner, name, number, request)
		}, check)
	}
	edit("title", &github.IssueRequest{Title: github.Ptr("Lights")}, func(row *github.Issue) bool { return row.GetTitle() == "Lights" })
	edit("body", &github.IssueRequest{Body: github.Ptr("They flicker")}, func(row *github.Issue) bool { return row.GetBody() == "They flicker" })
	edit("milestone", &github.IssueRequest{Milestone: github.Ptr(4)}, func(row *github.Issue) bool { return row.GetMilestone().GetTitle() == "2.9" })
	edit("labels", &github.IssueRequest{Labels: &[]string{"p1"}}, func(row *github.Issue) bool { return row.Labels[0].GetName() == "p1" })
	edit("no labels", &github.IssueRequest{Labels: &[]string{}}, func(row *github.Issue) bool { return len(row.Labels) == 0 })
	edit("assignees", &github.IssueRequest{Assignees: &[]string{"priyaraman"}}, func(row *github.Issue) bool { return row.GetAssignee().GetLogin() == "priyaraman" })
	edit("state", &github.IssueRequest{State: github.Ptr("closed"), StateReason: github.Ptr("not_planned")}, func(row *github.Issue) bool { return row.GetStateReason() == "not_planned" })
	edit("state back", &github.IssueRequest{State: github.Ptr("open")}, func(row *github.Issue) bool { return row.GetState() == "open" })
	call(f, "Issues.RemoveMilestone", func() (*github.Issue, *github.Response, error) {
		return hub.Issues.RemoveMilestone(ctx, owner, name, number)
	},
		func(row *github.Issue) bool { return row.Milestone == nil })
	call(f, "Issues.AddAssignees", func() (*github.Issue, *github.Response, error) {
		return hub.Issues.AddAssignees(ctx, owner, name, number, []string{"jonas-eide"})
	}, func(row *github.Issue) bool { return len(row.Assignees) == 2 })
	call(f, "Issues.RemoveAssignees", func() (*github.Issue, *github.Response, error) {
		return hub.Issues.RemoveAssignees(ctx, owner, name, number, []string{"jonas-eide"})
	}, func(row *github.Issue) bool { return len(row.Assignees) == 1 })
	done(f, "Issues.Lock", func() (*github.Response, error) {
		return hub.Issues.Lock(ctx, owner, name, number, &github.LockIssueOptions{LockReason: "resolved"})
	})
	done(f, "Issues.Unlock", func() (*github.Response, error) { return hub.Issues.Unlock(ctx, owner, name, number) })
	comment := call(f, "Issues.CreateComment", func() (*github.IssueComment, *github.Response, error) {
		return hub.Issues.CreateComment(ctx, owner, name, number, &github.IssueComment{Body: github.Ptr("Seen at #139")})
	}, func(made *github.IssueComment) bool { return made.GetBody() == "Seen at #139" })
	call(f, "Issues.GetComment", func() (*github.IssueComment, *github.Response, error) {
		return hub.Issues.GetComment(ctx, owner, name, comment.GetID())
	},
		func(row *github.IssueComment) bool { return row.GetUser().GetLogin() == "quay-triage" })
	call(f, "Issues.EditComment", func() (*github.IssueComment, *github.Response, error) {
		return hub.Issues.EditComment(ctx, owner, name, comment.GetID(), &github.IssueComment{Body: github.Ptr("Twice")})
	}, func(row *github.IssueComment) bool { return row.GetBody() == "Twice" })
	call(f, "Issues.ListComments", func() ([]*github.IssueComment, *github.Response, error) {
		return hub.Issues.ListComments(ctx, owner, name, number, nil)
	},
		func(all []*github.IssueComment) bool { return len(all) == 1 })
	call(f, "Issues.ListComments of all", func() ([]*github.IssueComment, *github.Response, error) {
		return hub.Issues.ListComments(ctx, owner, name, 0, &github.IssueListCommentsOptions{Sort: github.Ptr("updated"), ListOptions: github.ListOptions{PerPage: 50}})
	}, func(all []*github.IssueComment) bool { return len(all) == 50 })
	done(f, "Issues.DeleteComment", func() (*github.Response, error) { return hub.Issues.DeleteComment(ctx, owner, name, comment.GetID()) })
	call(f, "Issues.ListIssueEvents", func() ([]*github.IssueEvent, *github.Response, error) {
		return hub.Issues.ListIssueEvents(ctx, owner, name, number, nil)
	},
		func(all []*github.IssueEvent) bool { return len(all) > 5 })
	call(f, "Issues.ListRepositoryEvents", func() ([]*github.IssueEvent, *github.Response, error) {
		return hub.Issues.ListRepositoryEvents(ctx, owner, name, nil)
	},
		func(all []*github.IssueEvent) bool { return len(all) == 30 })
	call(f, "Issues.ListIssueTimeline", func() ([]*github.Timeline, *github.Response, error) {
		return hub.Issues.ListIssueTimeline(ctx, owner, name, number, nil)
	},
		func(all []*github.Timeline) bool { return len(all) > 5 })
	byRepo := func(what string, options *github.IssueListByRepoOptions, has int) {
		call(f, "Issues.ListByRepo "+what, func() ([]*github.Issue, *github.Response, error) {
			return hub.Issues.ListByRepo(ctx, owner, name, options)
		},
			func(all []*github.Issue) bool { return slices.Contains(numbersOf(all), has) })
	}
	byRepo("by assignee", &github.IssueListByRepoOptions{Assignee: "priyaraman", State: "open"}, number)
	byRepo("by milestone", &github.IssueListByRepoOptions{Milestone: "3"}, 139)
	byRepo("by label", &github.IssueListByRepoOptions{Labels: []string{"bug"}, State: "all", Sort: "updated"}, 150)
	call(f, "Issues.ListByOrg", func() ([]*github.Issue, *github.Response, error) {
		return hub.Issues.ListByOrg(ctx, owner, &github.IssueListByOrgOptions{Filter: "all"})
	}, func(all []*github.Issue) bool { return all[0].GetRepository().GetOwner().GetLogin() == owner })
}

func labels(f *flow) {
	call(f, "Issues.CreateLabel", func() (*github.Label, *github.Response, error) {
		return hub.Issues.CreateLabel(ctx, owner, name, &github.Label{Name: github.Ptr("area: quay wall"), Color: github.Ptr("a1b2c3")})
	}, func(made *github.Label) bool { return made.GetColor() == "a1b2c3" })
	call(f, "Issues.GetLabel", func() (*github.Label, *github.Response, error) {
		return hub.Issues.GetLabel(ctx, owner, name, "area: quay wall")
	},
		func(row *github.Label) bool { return row.GetName() == "area: quay wall" })
	call(f, "Issues.EditLabel", func() (*github.Label, *github.Response, error) {
		return hub.Issues.EditLabel(ctx, owner, name, "area: quay wall", &github.Label{Name: github.Ptr("area: quay"), Description: github.Ptr("Wet")})
	}, func(row *github.Label) bool { return row.GetName() == "area: quay" && row.GetDescription() == "Wet" })
	call(f, "Issues.ListLabels", func() ([]*github.Label, *github.Response, error) { return hub.Issues.ListLabels(ctx, owner, name, nil) },
		func(all []*github.Label) bool { return slices.Contains(namesOf(all), "area: quay") })
	call(f, "Issues.AddLabelsToIssue", func() ([]*github.Label, *github.Response, error) {
		return hub.Issues.AddLabelsToIssue(ctx, owner, name, 139, []string{"area: quay", "p1"})
	}, func(all []*github.Label) bool { return slices.Contains(namesOf(all), "p1") })
	call(f, "Issues.ListLabelsByIssue", func() ([]*github.Label, *github.Response, error) {
		return hub.Issues.ListLabelsByIssue(ctx, owner, name, 139, nil)
	},
		func(all []*github.Label) bool { return slices.Contains(namesOf(all), "area: quay") })
	done(f, "Issues.RemoveLabelForIssue", func() (*github.Response, error) {
		return hub.Issues.RemoveLabelForIssue(ctx, owner, name, 139, "area: quay")
	})
	call(f, "Issues.ReplaceLabelsForIssue", func() ([]*github.Label, *github.Response, error) {
		return hub.Issues.ReplaceLabelsForIssue(ctx, owner, name, 139, []string{"bug"})
	}, func(all []*github.Label) bool { return slices.Equal(namesOf(all), []string{"bug"}) })
	done(f, "Issues.RemoveLabelsForIssue", func() (*github.Response, error) { return hub.Issues.RemoveLabelsForIssue(ctx, owner, name, 139) })
	done(f, "Issues.DeleteLabel", func() (*github.Response, error) { return hub.Issues.DeleteLabel(ctx, owner, name, "area: quay") })
}

func milestones(f *flow) {
	call(f, "Issues.CreateMilestone", func() (*github.Milestone, *github.Response, error) {
		return hub.Issues.CreateMilestone(ctx, owner, name, &github.Milestone{Title: github.Ptr("3.0"), Description: github.Ptr("Next")})
	}, func(made *github.Milestone) bool { return made.GetNumber() == 5 })
	call(f, "Issues.GetMilestone", func() (*github.Milestone, *github.Response, error) {
		return hub.Issues.GetMilestone(ctx, owner, name, 5)
	},
		func(row *github.Milestone) bool { return row.GetTitle() == "3.0" })
	call(f, "Issues.EditMilestone", func() (*github.Milestone, *github.Response, error) {
		return hub.Issues.EditMilestone(ctx, owner, name, 5, &github.Milestone{State: github.Ptr("closed")})
	}, func(row *github.Milestone) bool { return !row.GetClosedAt().IsZero() })
	call(f, "Issues.ListMilestones", func() ([]*github.Milestone, *github.Response, error) {
		return hub.Issues.ListMilestones(ctx, owner, name, &github.MilestoneListOptions{State: "all"})
	}, func(all []*github.Milestone) bool { return len(all) == 5 })
	call(f, "Issues.ListLabelsForMilestone", func() ([]*github.Label, *github.Response, error) {
		return hub.Issues.ListLabelsForMilestone(ctx, owner, name, 3, nil)
	}, func(all []*github.Label) bool { return slices.Contains(namesOf(all), "bug") })
	done(f, "Issues.DeleteMilestone", func() (*github.Response, error) { return hub.Issues.DeleteMilestone(ctx, owner, name, 5) })
}
