// Files, releases, what is said of commits, and people's rights.
package main

import (
	"slices"

	"github.com/google/go-github/v88/github"
)

func files(f *flow) {
	call(f, "Repositories.GetReadme", func() (*github.RepositoryContent, *github.Response, error) {
		return hub.Repositories.GetReadme(ctx, owner, name, nil)
	}, func(file *github.RepositoryContent) bool {
		text, err := file.GetContent()
		return err == nil && text != ""
	})
	call(f, "Repositories.GetContents", func() ([]*github.RepositoryContent, *github.Response, error) {
		_, all, response, err := hub.Repositories.GetContents(ctx, owner, name, "", nil)
		return all, response, err
	}, func(all []*github.RepositoryContent) bool { return len(all) > 0 })
	call(f, "Repositories.CompareCommits", func() (*github.CommitsComparison, *github.Response, error) {
		return hub.Repositories.CompareCommits(ctx, owner, name, "main", "occupancy-nights", nil)
	}, func(found *github.CommitsComparison) bool { return found.GetAheadBy() == 2 && len(found.Files) == 2 })
	call(f, "Git.GetTree", func() (*github.Tree, *github.Response, error) { return hub.Git.GetTree(ctx, owner, name, "main", true) },
		func(tree *github.Tree) bool { return len(tree.Entries) > 0 })
	call(f, "Repositories.ListLanguages", func() (map[string]int, *github.Response, error) {
		return hub.Repositories.ListLanguages(ctx, owner, name)
	},
		func(all map[string]int) bool { return len(all) > 0 })
	call(f, "Repositories.ListContributors", func() ([]*github.Contributor, *github.Response, error) {
		return hub.Repositories.ListContributors(ctx, owner, name, nil)
	}, func(all []*github.Contributor) bool { return len(all) > 0 && all[0].GetContributions() > 0 })
	call(f, "Repositories.ListTags", func() ([]*github.RepositoryTag, *github.Response, error) {
		return hub.Repositories.ListTags(ctx, owner, name, nil)
	}, func(all []*github.RepositoryTag) bool {
		return slices.ContainsFunc(all, func(tag *github.RepositoryTag) bool { return tag.GetName() == "v2.7.0" })
	})
	call(f, "Repositories.GetLatestRelease", func() (*github.RepositoryRelease, *github.Response, error) {
		return hub.Repositories.GetLatestRelease(ctx, owner, name)
	}, func(row *github.RepositoryRelease) bool {
		return row.GetTagName() == "v2.7.0" && !row.GetPublishedAt().IsZero()
	})
	call(f, "Repositories.ListReleases", func() ([]*github.RepositoryRelease, *github.Response, error) {
		return hub.Repositories.ListReleases(ctx, owner, name, nil)
	}, func(all []*github.RepositoryRelease) bool { return len(all) >= 2 })
	tip := call(f, "Repositories.GetCommitSHA1", func() (string, *github.Response, error) {
		return hub.Repositories.GetCommitSHA1(ctx, owner, name, "main", "")
	}, func(sha string) bool { return len(sha) == 40 })
	call(f, "Repositories.CreateStatus", func() (*github.RepoStatus, *github.Response, error) {
		return hub.Repositories.CreateStatus(ctx, owner, name, tip, github.RepoStatus{State: github.Ptr("success"), Context: github.Ptr("ci/build")})
	}, func(made *github.RepoStatus) bool { return made.GetState() == "success" })
	call(f, "Repositories.GetCombinedStatus", func() (*github.CombinedStatus, *github.Response, error) {
		return hub.Repositories.GetCombinedStatus(ctx, owner, name, tip, nil)
	}, func(all *github.CombinedStatus) bool { return len(all.Statuses) > 0 })
	call(f, "Checks.ListCheckRunsForRef", func() (*github.ListCheckRunsResults, *github.Response, error) {
		return hub.Checks.ListCheckRunsForRef(ctx, owner, name, "main", nil)
	}, nil)
	call(f, "Repositories.ListCollaborators", func() ([]*github.User, *github.Response, error) {
		return hub.Repositories.ListCollaborators(ctx, owner, name, nil)
	}, func(all []*github.User) bool { return len(all) > 0 })
	call(f, "Repositories.GetPermissionLevel", func() (*github.RepositoryPermissionLevel, *github.Response, error) {
		return hub.Repositories.GetPermissionLevel(ctx, owner, name, "sam-okafor")
	}, func(level *github.RepositoryPermissionLevel) bool { return level.GetPermission() != "none" })
	call(f, "Reactions.CreateIssueReaction", func() (*github.Reaction, *github.Response, error) {
		return hub.Reactions.CreateIssueReaction(ctx, owner, name, 139, "heart")
	}, func(made *github.Reaction) bool { return made.GetContent() == "heart" })
	call(f, "Reactions.ListIssueReactions", func() ([]*github.Reaction, *github.Response, error) {
		return hub.Reactions.ListIssueReactions(ctx, owner, name, 139, nil)
	}, func(all []*github.Reaction) bool { return len(all) > 0 })
	call(f, "Teams.ListTeams", func() ([]*github.Team, *github.Response, error) { return hub.Teams.ListTeams(ctx, owner, nil) },
		func(all []*github.Team) bool { return len(all) > 0 })
	call(f, "Activity.ListNotifications", func() ([]*github.Notification, *github.Response, error) {
		return hub.Activity.ListNotifications(ctx, &github.NotificationListOptions{All: true})
	}, func(all []*github.Notification) bool { return len(all) > 0 })
	call(f, "Repositories.GetByID", func() (*github.Repository, *github.Response, error) { return hub.Repositories.GetByID(ctx, 612340551) },
		func(repo *github.Repository) bool { return repo.GetName() == name })
}
