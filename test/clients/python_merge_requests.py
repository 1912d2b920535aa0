"""Drives a started Mortise with python-gitlab: merge requests, from the first commit to the merge."""

import sys

import gitlab

from python_checks import attributes, refused, same, until

url, token = sys.argv[1], sys.argv[2]

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()


def person(name):
    """Their account, and the API as they see it."""
    secret = {"password": "correct horse", "skip_confirmation": True}
    user = gl.users.create({"username": name, "name": name, "email": f"{name}@example.com", **secret})
    key = user.impersonationtokens.create({"name": "tests", "scopes": ["api"]})
    return user, gitlab.Gitlab(url, private_token=key.token)


def iids(things):
    return [thing.iid for thing in things]


def commit(branch, message, files, **wish):
    actions = [{"action": "create", "file_path": path, "content": text} for path, text in files.items()]
    return project.commits.create({"branch": branch, "commit_message": message, "actions": actions, **wish})


def branch(name, **files):
    """A branch off master with one commit."""
    return commit(name, f"Add {name}", files or {f"{name}.txt": f"{name}\n"}, start_branch="master")


def request(source, **wish):
    wish = {"source_branch": source, "target_branch": "master", "title": f"Merge {source}", **wish}
    return project.mergerequests.create(wish)


jane, as_jane = person("jane")
group = gl.groups.create({"name": "Mill", "path": "mill", "visibility": "public"})
group.members.create({"user_id": jane.id, "access_level": 30})
project = gl.projects.create({"name": "Saw", "namespace_id": group.id, "visibility": "public"})
hers = as_jane.projects.get(project.id)
commit("master", "First", {"a.txt": "one\ntwo\nthree\n"})


def make_and_find():
    bug = project.issues.create({"title": "It jams"})
    milestone = project.milestones.create({"title": "v1"})
    head = commit("oil", "Oil it", {"oil.txt": "oil\nmore oil\n"}, start_branch="master")
    mr = request(
        "oil",
        title="Draft: Oil",
        description=f"Closes #{bug.iid}\n\n- [x] a\n- [ ] b",
        labels=["bug", "now"],
        milestone_id=milestone.id,
        assignee_id=jane.id,
        reviewer_ids=[jane.id],
        remove_source_branch=True,
        squash=False,
    )
    expected = {
        "iid": 1,
        "state": "opened",
        "draft": True,
        "work_in_progress": True,
        "labels": ["bug", "now"],
        "sha": head.id,
        "changes_count": "1",
        "detailed_merge_status": "draft_status",
        "has_conflicts": False,
        "force_remove_source_branch": True,
        "squash": False,
        "task_completion_status": {"count": 2, "completed_count": 1},
        "subscribed": True,
        "source_project_id": project.id,
        "target_project_id": project.id,
        "web_url": f"{url}/mill/saw/-/merge_requests/1",
    }
    same("a new one", attributes(mr, expected), expected)
    same("its people", (mr.author["username"], mr.assignee["id"], mr.reviewers[0]["id"]), ("root", jane.id, jane.id))
    same("its milestone", mr.milestone["title"], "v1")
    twice = ['Cannot Create: This merge request already exists: ["Draft: Oil"]']
    refused("a second one of the branch", lambda: request("oil"), 409, twice)
    refused("one of no branch", lambda: request("none"), 422, ['Source branch "none" does not exist'])
    refused("an unknown one", lambda: project.mergerequests.get(99), 404, "404 Not found")

    branch("rust")
    commit("rust", "Again", {"again.txt": "rust\n"})
    request("rust", title="Rust")
    for filters, found in [
        ({}, [2, 1]),
        ({"state": "opened", "sort": "asc", "per_page": 1, "get_all": True}, [1, 2]),
        ({"state": "merged"}, []),
        ({"labels": ["bug", "now"]}, [1]),
        ({"milestone": "v1"}, [1]),
        ({"source_branch": "rust"}, [2]),
        ({"target_branch": "none"}, []),
        ({"author_id": gl.user.id}, [2, 1]),
        ({"assignee_id": jane.id}, [1]),
        ({"reviewer_id": jane.id}, [1]),
        ({"reviewer_username": "jane"}, [1]),
        ({"search": "rus"}, [2]),
        ({"wip": "yes"}, [1]),
        ({"created_after": "2999-01-01T00:00:00Z"}, []),
        ({"view": "simple"}, [2, 1]),
    ]:
        same(f"of a project, {filters}", iids(project.mergerequests.list(**filters)), found)
        same(f"of a group, {filters}", iids(group.mergerequests.list(**filters)), found)
        same(f"of all, {filters}", iids(gl.mergerequests.list(**{"scope": "all", **filters})), found)
    same("by their numbers", iids(project.mergerequests.list(iids=[2, 7])), [2])
    same("her own", iids(as_jane.mergerequests.list(scope="assigned_to_me")), [1])
    detailed = project.mergerequests.list(labels="bug", with_labels_details=True)[0]
    same("labels with colours", [sorted(one)[:2] for one in detailed.labels], [["color", "description"]] * 2)
    same("of a milestone", iids(milestone.merge_requests()), [1])
    same("closing an issue", [one["iid"] for one in bug.closed_by()], [1])
    same("of an issue", [one["iid"] for one in bug.related_merge_requests()], [1])
    same("what it closes", iids(mr.closes_issues()), [bug.iid])
    same("of a commit", [one["iid"] for one in project.commits.get(head.id).merge_requests()], [1])
    print("made, refused, listed")


def change():
    mr = project.mergerequests.get(1)
    mr.title = "Oil it"
    mr.description = "Well"
    mr.labels = ["bug"]
    mr.save()
    expected = {"title": "Oil it", "description": "Well", "labels": ["bug"], "draft": False}
    same("as it was changed", attributes(project.mergerequests.get(1), expected), expected)
    for event, state in [("close", "closed"), ("reopen", "opened")]:
        mr.state_event = event
        mr.save()
        same(event, (mr.state, project.mergerequests.get(1).state), (state, state))
    same("its history", [one.state for one in mr.resourcestateevents.list()], ["closed", "reopened"])
    events = mr.resourcelabelevents.list(get_all=True)
    seen = [(one.action, one.label["name"]) for one in events]
    same("its labels", seen, [("add", "bug"), ("add", "now"), ("remove", "now")])
    same("its milestones", [one.action for one in mr.resourcemilestoneevents.list()], ["add"])

    mr = project.mergerequests.get(1)
    mr.unsubscribe()
    same("unsubscribed", project.mergerequests.get(1).subscribed, False)
    mr.subscribe()
    same("subscribed", project.mergerequests.get(1).subscribed, True)
    same("participants", sorted(one["username"] for one in mr.participants()), ["jane", "root"])
    mr.todo()
    todo = gl.todos.list()[0]
    same("to do", (todo.action_name, todo.target_type, todo.target["iid"]), ("marked", "MergeRequest", 1))
    todo.mark_as_done()
    mr.time_estimate("3h")
    mr.add_spent_time("30m")
    # The client reads the times of a record it has from that record; of one it only names it asks for them.
    named = project.mergerequests.get(1, lazy=True)
    stats = {"time_estimate": 10800, "total_time_spent": 1800}
    same("time", named.time_stats(), {**stats, "human_time_estimate": "3h", "human_total_time_spent": "30m"})
    mr.reset_time_estimate()
    mr.reset_spent_time()
    same("no time", [named.time_stats()[name] for name in stats], [0, 0])
    print("changed, watched, timed")


def read_changes():
    mr = project.mergerequests.get(1)
    same("commits", [one.title for one in mr.commits()], ["Oil it"])
    project.commits.create(
        {
            "branch": "oil",
            "commit_message": "More oil",
            "actions": [{"action": "update", "file_path": "a.txt", "content": "one\n2\nthree\n"}],
        }
    )
    same("newest first", [one.title for one in mr.commits()], ["More oil", "Oil it"])
    changes = mr.changes()
    same("changes", [one["new_path"] for one in changes["changes"]], ["a.txt", "oil.txt"])
    same("the whole record beside", (changes["iid"], changes["overflow"]), (1, False))
    diff = changes["changes"][0]
    same("a diff", "-two\n+2\n" in diff["diff"], True)
    kind = {"new_file": False, "renamed_file": False, "deleted_file": False, "a_mode": "100644", "b_mode": "100644"}
    same("its kind", {name: diff[name] for name in kind}, kind)
    versions = mr.diffs.list()
    same("versions", [one.real_size for one in versions], ["2", "1", "1"])
    newest = mr.diffs.get(versions[0].id)
    fresh = project.mergerequests.get(1)
    same("the newest", (newest.head_commit_sha, newest.state, newest.real_size), (fresh.sha, "collected", "2"))
    same("its commits", [one["title"] for one in newest.commits], ["More oil", "Oil it"])
    same("its diffs", [one["new_path"] for one in newest.diffs], ["a.txt", "oil.txt"])
    same("where it begins", newest.base_commit_sha, fresh.diff_refs["base_sha"])
    print("commits, changes, versions")


def talk():
    mr = hers.mergerequests.get(1)
    note = mr.notes.create({"body": "Looks good"})
    note.body = "Looks well"
    note.save()
    same("a note", mr.notes.get(note.id).body, "Looks well")
    same("on what", (note.noteable_type, note.noteable_iid), ("MergeRequest", 1))
    award = note.awardemojis.create({"name": "rocket"})
    same("a reaction to it", [one.name for one in note.awardemojis.list()], ["rocket"])
    award.delete()
    note.delete()
    same("no notes", [one.body for one in mr.notes.list(get_all=True) if not one.system], [])
    vote = mr.awardemojis.create({"name": "thumbsup"})
    same("a vote", project.mergerequests.get(1).upvotes, 1)
    vote.delete()

    refs = mr.diff_refs
    position = {"position_type": "text", "old_path": "a.txt", "new_path": "a.txt", "new_line": 2, **refs}
    thread = mr.discussions.create({"body": "Why?", "position": position})
    first = thread.attributes["notes"][0]
    same("on a line", (first["type"], first["resolvable"], first["resolved"]), ("DiffNote", True, False))
    line = {"new_path": "a.txt", "new_line": 2, "old_line": None}
    same("which one", {name: first["position"][name] for name in line}, line)
    wrong = {"body": "x", "position": {**position, "new_line": 99}}
    no_line = "400 Bad request - Note {:line_code=>[\"can't be blank\", \"must be a valid line code\"]}"
    refused("on no line", lambda: mr.discussions.create(wrong), 400, no_line)
    answer = project.mergerequests.get(1).discussions.get(thread.id).notes.create({"body": "So"})
    answer.body = "Because"
    answer.save()
    same("an answer", [one["body"] for one in mr.discussions.get(thread.id).attributes["notes"]], ["Why?", "Because"])
    thread = project.mergerequests.get(1).discussions.get(thread.id)
    thread.resolved = True
    thread.save()
    notes = mr.discussions.get(thread.id).attributes["notes"]
    same("resolved", [(one["resolved"], one["resolved_by"]["username"]) for one in notes], [(True, "root")] * 2)
    thread.resolved = False
    thread.save()
    same("unresolved", mr.discussions.get(thread.id).attributes["notes"][0]["resolved"], False)
    plain = mr.discussions.create({"body": "A thread"})
    threads = [one.id for one in mr.discussions.list(get_all=True) if not one.individual_note]
    same("threads", threads, [thread.id, plain.id])
    answer.delete()
    same("an answer less", len(mr.discussions.get(thread.id).attributes["notes"]), 1)
    print("notes, reactions, threads on lines")


def approve():
    mr, as_her = project.mergerequests.get(1), hers.mergerequests.get(1)
    settings = project.approvals.get()
    settings.reset_approvals_on_push = True
    settings.merge_requests_author_approval = False
    settings.save()
    same("settings", project.approvals.get().reset_approvals_on_push, True)
    rule = project.approvalrules.create({"name": "Two", "approvals_required": 1, "user_ids": [jane.id]})
    rule.approvals_required = 2
    rule.save()
    same("rules", [(one.name, one.approvals_required) for one in project.approvalrules.list()], [("Two", 2)])
    rule.approvals_required = 1
    rule.save()
    state = mr.approval_state.get()
    same("what is asked", [(one["name"], one["approved"]) for one in state.rules], [("Two", False)])
    same("not yet", project.mergerequests.get(1).detailed_merge_status, "not_approved")
    refused("a stale sha", lambda: as_her.approve(sha="0" * 40), 409, "SHA does not match HEAD of source branch")
    given = as_her.approve(sha=as_her.sha)
    same("approved", (given["approved"], given["approvals_left"]), (True, 0))
    same("by whom", given["approved_by"][0]["user"]["username"], "jane")
    state = mr.approval_state.get()
    same("whose rule", [(one["approved"], one["approved_by"][0]["id"]) for one in state.rules], [(True, jane.id)])
    refused("twice", as_her.approve, 401, "401 Unauthorized")
    as_her.unapprove()
    same("no more", mr.approvals.get().approved, False)
    as_her.approve()
    commit("oil", "Yet more", {"yet.txt": "more\n"})
    same("reset by a push", mr.approvals.get().approved_by, [])
    own = mr.approvals.set_approvers(1, approver_ids=[jane.id], approval_rule_name="Own")
    same("a rule of its own", (own.name, own.approvals_required, own.users[0]["id"]), ("Own", 1, jane.id))
    # Saving a rule that it has, the client puts the project's id where the rule's belongs.
    wish = {"name": "Own", "approvals_required": 0, "user_ids": []}
    ids = {"id": project.id, "merge_request_iid": 1, "approval_rule_id": own.id}
    mr.approval_rules.update(own.id, {**wish, **ids})
    changed = mr.approval_rules.get(own.id)
    same("changed", (changed.name, changed.approvals_required, changed.users), ("Own", 0, []))
    mr.approval_rules.delete(own.id)
    same("gone", "Own" in [one.name for one in mr.approval_rules.list()], False)
    rule.delete()
    same("no rules", project.approvalrules.list(), [])
    print("approvals, rules, state")


def merge():
    mr = project.mergerequests.get(1)
    for thread in mr.discussions.list(get_all=True):
        if thread.attributes["notes"][0].get("resolvable"):
            thread.resolved = True
            thread.save()
    commit("master", "Meanwhile", {"meanwhile.txt": "x\n"})
    behind = project.mergerequests.get(1, include_diverged_commits_count=True)
    same("behind", behind.diverged_commits_count, 1)
    trial = project.commits.get(mr.merge_ref()["commit_id"])
    same("a trial", trial.parent_ids, [project.branches.get("master").commit["id"], mr.sha])
    same("rebasing", mr.rebase(), {"rebase_in_progress": True})
    until("rebased", lambda: project.mergerequests.get(1, include_rebase_in_progress=True).rebase_in_progress is False)
    rebased = project.mergerequests.get(1, include_diverged_commits_count=True)
    same("not behind", (rebased.diverged_commits_count, rebased.merge_error), (0, None))
    same("its commits", [one.title for one in rebased.commits(get_all=True)], ["Yet more", "More oil", "Oil it"])
    refused("a stale sha", lambda: rebased.merge(sha=mr.sha), 409, "SHA does not match HEAD of source branch")

    def report(state):
        project.commits.get(rebased.sha).statuses.create({"state": state, "name": "build", "ref": "oil"})

    report("running")
    waiting = rebased.merge(merge_when_pipeline_succeeds=True, should_remove_source_branch=True)
    same("waiting", (waiting["state"], waiting["merge_when_pipeline_succeeds"]), ("opened", True))
    rebased.cancel_merge_when_pipeline_succeeds()
    same("not waiting", project.mergerequests.get(1).merge_when_pipeline_succeeds, False)
    rebased.merge(merge_when_pipeline_succeeds=True, should_remove_source_branch=True)
    report("success")
    until("merged by itself", lambda: project.mergerequests.get(1).state == "merged")
    merged = project.mergerequests.get(1)
    same("by whom", (merged.merged_by["username"], merged.merge_user["username"]), ("root", "root"))
    same("where", project.branches.get("master").commit["id"], merged.merge_commit_sha)
    until("the branch is gone", lambda: "oil" not in [one.name for one in project.branches.list(get_all=True)])

    # The client has no name for what must be merged before another.
    branch("first")
    first = request("first")
    blocks = f"/projects/{project.id}/merge_requests/2/blocks"
    block = gl.http_post(blocks, post_data={"blocking_merge_request_id": first.id})
    same("what it waits for", block["blocking_merge_request"]["iid"], first.iid)
    same("its status", project.mergerequests.get(2).detailed_merge_status, "merge_request_blocked")
    refused("one that waits", project.mergerequests.get(2).merge, 405, "405 Method Not Allowed")
    first.merge()
    same("it waits no more", [one["id"] for one in gl.http_list(blocks)], [block["id"]])
    gl.http_delete(f"{blocks}/{block['id']}")
    same("nothing to wait for", gl.http_list(blocks), [])

    other = project.mergerequests.get(2)
    done = other.merge(merge_commit_message="Rust, at last", squash=True)
    same("merged", (done["state"], other.state, done["merge_error"]), ("merged", "merged", None))
    same("its message", project.commits.get(done["merge_commit_sha"]).message, "Rust, at last")
    same("squashed", project.commits.get(done["squash_commit_sha"]).title, "Rust")
    refused("twice", other.merge, 406, "Method Not Allowed")
    squashed = project.commits.get(done["squash_commit_sha"])
    same("of a commit now", [one["iid"] for one in squashed.merge_requests()], [2])

    branch("clash", **{"c.txt": "x\n"})
    clash = request("clash")
    commit("master", "Clash", {"c.txt": "y\n"})
    until("in conflict", lambda: project.mergerequests.get(clash.iid).has_conflicts)
    same("its status", project.mergerequests.get(clash.iid).merge_status, "cannot_be_merged")
    refused("a conflict", clash.merge, 405, "Branch cannot be merged")
    clash.delete()
    refused("a deleted one", lambda: project.mergerequests.get(clash.iid), 404, "404 Not found")
    print("rebased, waited, merged, deleted")


for part in (make_and_find, change, read_changes, talk, approve, merge):
    part()
print("python-gitlab", gitlab.__version__, "is content")
