"""The functions that connector.toml calls: one for each route that is more than a row.

`handler = "create_issue"` there is `create_issue` here, which this file takes from where it is
written. What a handler returns is the JSON body, with the status of its route. What it writes
counts once it has returned, and nothing of it does when it fails.

routes/ has the handlers, answers/ makes rows into bodies, and the modules beside this one are what
the routes share.
"""

from .media import check_accepted
from .routes.about import (
    get_meta,
    get_repository_by_id,
    get_root,
    get_user_by_id,
    get_zen,
    list_versions,
    render_markdown,
    render_markdown_raw,
)
from .routes.autolinks import create_autolink, delete_autolink, get_autolink, list_autolinks
from .routes.branches import (
    get_branch,
    get_branch_protection,
    get_commit,
    list_branches,
    list_branches_of_head,
    list_comments_of_commit,
    list_commits,
    list_pulls_of_commit,
)
from .routes.collaborators import (
    add_collaborator,
    check_collaborator,
    delete_invitation,
    get_permission,
    list_collaborators,
    list_invitations,
    remove_collaborator,
    update_invitation,
)
from .routes.comments import (
    create_comment,
    delete_comment,
    get_comment,
    list_issue_comments,
    list_repository_comments,
    update_comment,
)
from .routes.comparing import compare_commits, merge_branch, update_branch
from .routes.contents import delete_contents, get_contents, get_license, get_readme, put_contents
from .routes.deliveries import (
    get_delivery,
    get_hook_config,
    list_deliveries,
    redeliver,
    test_hook,
    update_hook_config,
)
from .routes.events import get_event, list_issue_events, list_repository_events, list_timeline
from .routes.hooks import (
    create_hook,
    delete_hook,
    get_hook,
    list_hooks,
    ping_hook,
    update_hook,
)
from .routes.issues import (
    add_assignees,
    check_assignee_of_issue,
    create_issue,
    get_issue,
    list_own_issues,
    list_repository_issues,
    lock_issue,
    remove_assignees,
    unlock_issue,
    update_issue,
)
from .routes.labels import (
    add_labels,
    create_label,
    delete_label,
    get_label,
    list_labels_of_milestone,
    list_labels_on_issue,
    list_repository_labels,
    remove_all_labels,
    remove_label,
    set_labels,
    update_label,
)
from .routes.milestones import (
    create_milestone,
    delete_milestone,
    get_milestone,
    list_milestones,
    update_milestone,
)
from .routes.notifications import (
    delete_thread_subscription,
    get_thread,
    get_thread_subscription,
    list_notifications,
    mark_notifications,
    mark_thread_done,
    mark_thread_read,
    put_thread_subscription,
)
from .routes.objects import (
    get_blob,
    get_git_commit,
    get_tree,
    list_contributors,
    list_languages,
    list_tags,
)
from .routes.pulls import (
    check_merged,
    create_pull,
    get_pull,
    list_commits_of_pull,
    list_files_of_pull,
    list_pulls,
    list_requested_reviewers,
    merge_pull,
    remove_requested_reviewers,
    request_reviewers,
    update_pull,
)
from .routes.rate_limit import get_rate_limit
from .routes.reactions import create_reaction, delete_reaction, list_reactions
from .routes.refs import create_ref, delete_ref, get_ref, list_matching_refs, update_ref
from .routes.releases import (
    create_release,
    delete_asset,
    delete_release,
    generate_notes,
    get_asset,
    get_latest_release,
    get_release,
    get_release_by_tag,
    list_assets,
    list_releases,
    update_asset,
    update_release,
    upload_asset,
)
from .routes.repositories import (
    check_assignee,
    create_own_repository,
    create_repository_of_organization,
    delete_repository,
    get_repository,
    get_topics,
    list_assignees,
    list_own_repositories,
    list_repositories_of_organization,
    list_repositories_of_user,
    replace_topics,
    update_repository,
)
from .routes.reviews import (
    create_review,
    create_review_comment,
    delete_review,
    delete_review_comment,
    dismiss_review,
    get_review,
    get_review_comment,
    list_comments_of_review,
    list_review_comments,
    list_reviews,
    reply_to_review_comment,
    submit_review,
    update_review,
    update_review_comment,
)
from .routes.search import search_issues, search_repositories, search_users
from .routes.statuses import (
    create_status,
    get_check_run,
    get_combined_status,
    list_annotations,
    list_check_runs,
    list_check_runs_of_suite,
    list_check_suites,
    list_statuses,
    refuse_check_run,
)
from .routes.teams import (
    check_repository_of_team,
    create_team,
    delete_team,
    get_membership_of_team,
    get_team,
    list_members_of_team,
    list_own_teams,
    list_repositories_of_team,
    list_teams,
    list_teams_of_repository,
    put_membership_of_team,
    put_repository_of_team,
    remove_membership_of_team,
    remove_repository_of_team,
    update_team,
)
from .routes.users import (
    check_membership,
    check_public_membership,
    get_authenticated_user,
    get_membership,
    get_organization,
    get_own_membership,
    get_user,
    list_members,
    list_organizations_of_user,
    list_own_organizations,
    list_public_members,
    list_users,
)
