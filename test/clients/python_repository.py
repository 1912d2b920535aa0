"""Drives a started Mortise with python-gitlab: branches, tags, commits, files and what else is read from them."""

import base64
import io
import subprocess
import sys
import tarfile
import zipfile

import gitlab

from python_checks import attributes, refused, same, until

url, token, folder = sys.argv[1], sys.argv[2], sys.argv[3]

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()


def names(things):
    return [thing.name for thing in things]


def titles(commits):
    return [commit.title for commit in commits]


def commit(project, message, actions, **wish):
    return project.commits.create({"branch": "master", "commit_message": message, "actions": actions, **wish})


def create(path, content, **more):
    return {"action": "create", "file_path": path, "content": content, **more}


def paths(project, ref):
    tree = project.repository_tree(ref=ref, recursive=True, get_all=True)
    return {entry["path"]: entry["mode"] for entry in tree if entry["type"] != "tree"}


def commits():
    project = gl.projects.create({"name": "Py Code"})
    same("an empty repository", (project.empty_repo, project.commits.list(), project.branches.list()), (True, [], []))
    jane = {"author_name": "Jane Doe", "author_email": "jane@example.com"}
    first = commit(
        project,
        "First\n\nOf many.\n\nReviewed-by: John\n",
        [
            create("README.md", "# Code\n"),
            create("src/main.c", "int main() {\n  return 0;\n}\n"),
            create("bin/run", base64.b64encode(b"#!/bin/sh\n").decode(), encoding="base64"),
            create("old.txt", "old\n"),
        ],
        **jane,
    )
    expected = {"title": "First", "parent_ids": [], "status": None, "committer_email": gl.user.email, **jane}
    same("a new commit", attributes(first, expected), expected)
    same("its message", first.message, "First\n\nOf many.\n\nReviewed-by: John\n")
    same("its lines", first.stats, {"additions": 6, "deletions": 0, "total": 6})
    same("the default branch", gl.projects.get(project.id).default_branch, "master")

    actions = [
        {"action": "update", "file_path": "README.md", "content": "# Code\n\nMore.\n"},
        {"action": "move", "file_path": "lib/main.c", "previous_path": "src/main.c"},
        {"action": "delete", "file_path": "old.txt"},
        {"action": "chmod", "file_path": "bin/run", "execute_filemode": True},
        create("docs/a/b/deep.txt", "deep\n"),
    ]
    second = commit(project, "Second", actions, stats=False)
    same("a commit without a count", hasattr(second, "stats"), False)
    same(
        "what every kind of action left",
        paths(project, "master"),
        {"README.md": "100644", "bin/run": "100755", "docs/a/b/deep.txt": "100644", "lib/main.c": "100644"},
    )
    same("a moved file", project.files.raw("lib/main.c", "master"), b"int main() {\n  return 0;\n}\n")
    for change, message in [
        ({"action": "update", "file_path": "none"}, "A file with this name doesn't exist"),
        ({"action": "create", "file_path": "README.md"}, "A file with this name already exists"),
        ({"action": "create", "file_path": "../x"}, "Path cannot include directory traversal"),
    ]:
        refused(message, lambda: commit(project, "No", [{"content": "x", **change}]), 400, message)
    same("nothing of the refused", titles(project.commits.list(get_all=True)), ["Second", "First"])
    commit(project, "On a branch", [create("topic.txt", "1\n")], branch="topic", start_branch="master")
    commit(project, "At a commit", [create("past.txt", "1\n")], branch="past", start_sha=first.id)
    same("a branch that began at a commit", project.branches.get("past").commit["parent_ids"], [first.id])
    return project, first.id, second.id


def reading_commits(project, first, second):
    for n in range(5):
        commit(project, f"Line {n}", [{"action": "update", "file_path": "README.md", "content": f"# Code\n{n}\n"}])
    lines = [f"Line {n}" for n in (4, 3, 2, 1, 0)]
    same("every page", titles(project.commits.list(iterator=True)), [*lines, "Second", "First"])
    same("all of them", titles(project.commits.list(get_all=True, per_page=2)), [*lines, "Second", "First"])
    same("a page", titles(project.commits.list(page=2, per_page=4)), ["Line 0", "Second", "First"])
    for filters, expected in [
        ({"ref_name": "topic"}, ["On a branch", "Second", "First"]),
        ({"path": "lib/main.c"}, ["Second", "First"]),
        ({"path": "docs"}, ["Second"]),
        ({"author": "jane"}, ["First"]),
        ({"all": True, "author": "jane"}, ["First"]),
        ({"all": True, "path": "past.txt"}, ["At a commit"]),
        ({"since": "2999-01-01T00:00:00Z"}, []),
        ({"until": "2001-01-01T00:00:00Z"}, []),
        ({"since": "2001-01-01T00:00:00Z", "path": "bin"}, ["Second", "First"]),
        ({"ref_name": "master~4", "first_parent": True, "order": "topo"}, ["Line 0", "Second", "First"]),
        ({"ref_name": f"{first}..{second}"}, ["Second"]),
        ({"ref_name": "nowhere"}, []),
    ]:
        # The client has a meaning of its own for `all`, so the filters go as they are.
        same(f"commits {filters}", titles(project.commits.list(query_parameters=filters, get_all=True)), expected)
    rich = project.commits.list(query_parameters={"ref_name": first, "with_stats": True, "trailers": True})[0]
    same("counted lines", rich.stats["total"], 6)
    same("trailers", rich.trailers, {"Reviewed-by": "John"})

    one = project.commits.get("topic")
    same("a commit by its branch", (one.title, one.parent_ids, one.short_id), ("On a branch", [second], one.id[:8]))
    same("a commit by its short id", project.commits.get(first[:10]).id, first)
    refused("an unknown commit", lambda: project.commits.get("0" * 40), 404, "404 Commit Not Found")
    diff = {file["new_path"]: file for file in project.commits.get(second).diff(get_all=True)}
    same("the files of a diff", sorted(diff), ["README.md", "bin/run", "docs/a/b/deep.txt", "lib/main.c", "old.txt"])
    same("a change", diff["README.md"]["diff"], "--- a/README.md\n+++ b/README.md\n@@ -1 +1,3 @@\n # Code\n+\n+More.\n")
    moved = diff["lib/main.c"]
    same("a move", (moved["old_path"], moved["renamed_file"], moved["diff"]), ("src/main.c", True, ""))
    same("a mode", (diff["bin/run"]["a_mode"], diff["bin/run"]["b_mode"]), ("100644", "100755"))
    same("a removal", (diff["old.txt"]["deleted_file"], diff["old.txt"]["diff"]), (True, "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"))
    whole = project.commits.get(first).diff(per_page=3, page=2)
    same("the second page of a diff", [(one["new_path"], one["new_file"]) for one in whole], [("src/main.c", True)])
    marked = project.commits.get(second).diff(unidiff=True, get_all=True)[0]["diff"]
    same("a diff that names its files", marked.split("\n")[:2], ["--- a/README.md", "+++ b/README.md"])


def around_commits(project, first, second):
    one = project.commits.get(second)
    one.comments.create({"note": "Nice"})
    anchored = one.comments.create({"note": "Why?", "path": "README.md", "line": 3, "line_type": "new"})
    same("a comment on a line", (anchored.path, anchored.line, anchored.line_type), ("README.md", 3, "new"))
    said = [(comment.note, comment.line, comment.author["username"]) for comment in one.comments.list()]
    same("comments", said, [("Nice", None, "root"), ("Why?", 3, "root")])

    wish = {"name": "build", "target_url": "https://ci.example/1", "description": "all well", "coverage": 81.5}
    status = one.statuses.create({"state": "running", "ref": "master", **wish})
    same("a new status", attributes(status, wish) | {"state": status.status}, {**wish, "state": "running"})
    one.statuses.create({"state": "success", "ref": "master", **wish})
    one.statuses.create({"state": "pending", "ref": "master", "context": "deploy"})
    seen = sorted((status.name, status.status, status.author["username"]) for status in one.statuses.list())
    same("statuses", seen, [("build", "success", "root"), ("deploy", "pending", "root")])
    same("a status by its name", [status.status for status in one.statuses.list(name="build")], ["success"])
    refused(
        "a status twice",
        lambda: one.statuses.create({"state": "pending", "ref": "master", "context": "deploy"}),
        400,
        'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")',
    )
    same("the status of the commit", project.commits.get(second).status, "running")

    project.tags.create({"tag_name": "v0", "ref": second})
    refs = [(ref["type"], ref["name"]) for ref in one.refs(get_all=True)]
    same("refs of a commit", refs, [("branch", "master"), ("branch", "topic"), ("tag", "v0")])
    same("its tags", [ref["name"] for ref in one.refs("tag", get_all=True)], ["v0"])
    same("its merge requests", one.merge_requests(), [])
    refused("no signature", one.signature, 404, "404 Signature Not Found")

    picked = project.commits.get("topic")
    picked.cherry_pick("past")
    head = project.commits.get("past")
    same("a picked commit", head.message, f"On a branch\n\n(cherry picked from commit {picked.id})")
    same("what it brought", project.files.raw("topic.txt", "past"), b"1\n")
    undone = head.revert("past")
    same("a reverted commit", undone["message"], f'Revert "On a branch"\n\nThis reverts commit {head.id}')
    same("what is left", "topic.txt" in paths(project, "past"), False)
    for what, call in [("picked", lambda: picked.cherry_pick("none")), ("reverted", lambda: picked.revert("none"))]:
        refused(f"{what} on no branch", call, 404, "404 Branch Not Found")
    try:
        head.revert("past")
        raise AssertionError("reverted twice: was accepted")
    except gitlab.exceptions.GitlabRevertError as error:
        same("reverted twice", (error.response_code, "revert" in error.error_message), (400, True))


def branches(project):
    branch = project.branches.create({"branch": "feature/saw.json", "ref": "master"})
    same("a new branch", (branch.name, branch.protected, branch.default), ("feature/saw.json", False, False))
    same("its head", branch.commit["id"], project.commits.get("master").id)
    master = project.branches.get("master")
    same("the default branch", (master.default, master.protected, master.can_push), (True, True, True))
    everything = ["feature/saw.json", "master", "past", "topic"]
    same("branches", names(project.branches.list(get_all=True)), everything)
    same("every page", names(project.branches.list(iterator=True, per_page=1)), everything)
    for filters, expected in [
        ({"search": "SAW"}, ["feature/saw.json"]),
        ({"search": "^fea"}, ["feature/saw.json"]),
        ({"search": "st$"}, ["past"]),
        ({"regex": "^.as"}, ["master", "past"]),
    ]:
        same(f"branches {filters}", names(project.branches.list(**filters)), expected)
    page = project.branches.list(iterator=True, page=2)
    same("the list's own figures", (page.total, page.total_pages, page.prev_page), (4, 2, 1))
    for wish, message in [
        ({"branch": "past", "ref": "master"}, "Branch already exists"),
        ({"branch": "a..b", "ref": "master"}, "Branch name is invalid"),
    ]:
        refused(message, lambda: project.branches.create(wish), 400, message)
    refused("an unknown branch", lambda: project.branches.get("none"), 404, "404 Branch Not Found")
    gl.http_put(f"/projects/{project.id}/repository/branches/past/protect", post_data={"developers_can_push": True})
    past = project.branches.get("past")
    same("protected", (past.protected, past.developers_can_push, past.developers_can_merge), (True, True, False))
    gl.http_put(f"/projects/{project.id}/repository/branches/past/unprotect")
    same("not any more", project.branches.get("past").protected, False)

    project.branches.create({"branch": "merged", "ref": "master~1"})
    same("a merged branch", project.branches.get("merged").merged, True)
    project.delete_merged_branches()
    until("merged branches are gone", lambda: not project.branches.list(search="merged"))
    branch.delete()
    same("branches left", names(project.branches.list()), ["master", "past", "topic"])


def tags(project):
    light = project.tags.create({"tag_name": "v1.0", "ref": "master~1"})
    same("a light tag", (light.message, light.target), (None, project.commits.get("master~1").id))
    heavy = project.tags.create({"tag_name": "rel/1.1", "ref": "master", "message": "The saw"})
    same("a tag with a message", (heavy.message, heavy.target == heavy.commit["id"]), ("The saw", False))
    same("its commit", heavy.commit["id"], project.commits.get("master").id)
    same("a tag", project.tags.get("rel/1.1").message, "The saw")
    by_name = project.tags.list(order_by="name", sort="asc", iterator=True)
    same("tags by name", names(by_name), ["rel/1.1", "v0", "v1.0"])
    same("tags by version", names(project.tags.list(order_by="version", sort="desc", search="^v")), ["v1.0", "v0"])
    again = {"tag_name": "v0", "ref": "master"}
    refused("a tag twice", lambda: project.tags.create(again), 400, "Tag v0 already exists")
    light.delete()
    refused("a deleted tag", lambda: project.tags.get("v1.0"), 404, "404 Tag Not Found")


def files(project):
    path = "docs/näh maschine.txt"
    made = project.files.create(
        {
            "file_path": path,
            "branch": "topic",
            "content": base64.b64encode("eins\nzwei\n".encode()).decode(),
            "encoding": "base64",
            "commit_message": "Add a file",
            "author_name": "Jane Doe",
            "author_email": "jane@example.com",
        }
    )
    same("a new file", (made.file_path, made.branch), (path, "topic"))
    file = project.files.get(path, ref="topic")
    same("its content", file.decode(), "eins\nzwei\n".encode())
    facts = {"file_name": "näh maschine.txt", "size": 10, "encoding": "base64", "ref": "topic"}
    same("its facts", attributes(file, facts), facts)
    head = project.commits.get("topic")
    same("its commit", (file.commit_id, file.last_commit_id, head.author_name), (head.id, head.id, "Jane Doe"))
    address = f"/projects/{project.id}/repository/files/{file.encoded_id}"
    told = gl.http_request("head", address, query_data={"ref": "topic"}).headers
    same("the facts alone", (told["X-Gitlab-Blob-Id"], told["X-Gitlab-Size"]), (file.blob_id, "10"))

    file.content = "eins\ndrei\n"
    file.encoding = "text"
    file.save(branch="topic", commit_message="Change a file")
    same("a changed file", project.files.raw(path, ref="topic"), b"eins\ndrei\n")
    project.files.update(path, {"branch": "topic", "content": "eins\ndrei\nvier\n", "commit_message": "Add a line"})
    chunks = []
    project.files.raw(path, ref="topic", streamed=True, chunk_size=4, action=chunks.append)
    same("a streamed file", b"".join(chunks), b"eins\ndrei\nvier\n")
    blame = [(part["commit"]["message"], part["lines"]) for part in project.files.blame(path, ref="topic")]
    same("who wrote what", blame, [("Add a file", ["eins"]), ("Change a file", ["drei"]), ("Add a line", ["vier"])])
    stale = {"branch": "topic", "content": "x", "commit_message": "x", "last_commit_id": head.id}
    refused(
        "a change of what has changed",
        lambda: project.files.update(path, stale),
        400,
        "You are attempting to update a file that has changed since you started editing it.",
    )
    project.files.get(path, ref="topic").delete(branch="topic", commit_message="Remove a file")
    refused("a deleted file", lambda: project.files.get(path, ref="topic"), 404, "404 File Not Found")


def trees(project):
    entry = lambda one: (one["type"], one["path"])
    top = [("tree", "bin"), ("tree", "docs"), ("tree", "lib"), ("blob", "README.md")]
    same("the top", [entry(one) for one in project.repository_tree(get_all=True)], top)
    inner = project.repository_tree(path="docs/a", ref="master")
    same("a folder", [entry(one) for one in inner], [("tree", "docs/a/b")])
    everything = [*top[:2], ("tree", "docs/a"), ("tree", "docs/a/b"), top[2]]
    everything += [("blob", path) for path in ("README.md", "bin/run", "docs/a/b/deep.txt", "lib/main.c")]
    same("all below", [entry(one) for one in project.repository_tree(recursive=True, iterator=True)], everything)
    keyed = project.repository_tree(recursive=True, iterator=True, pagination="keyset", per_page=2)
    same("all below by keyset", [entry(one) for one in keyed], everything)
    refused("a tree of nothing", lambda: project.repository_tree(ref="none"), 404, "404 Tree Not Found")

    [run] = project.repository_tree(path="bin")
    blob = project.repository_blob(run["id"])
    same("a blob", (base64.b64decode(blob["content"]), blob["size"], blob["sha"]), (b"#!/bin/sh\n", 10, run["id"]))
    same("its bytes", project.repository_raw_blob(run["id"]), b"#!/bin/sh\n")
    same("its bytes in parts", b"".join(project.repository_raw_blob(run["id"], iterator=True)), b"#!/bin/sh\n")
    refused("no blob", lambda: project.repository_blob("0" * 40), 404, "404 Blob Not Found")


def archives(project):
    head = project.commits.get("master").id
    top = f"py-code-master-{head}"
    everything = sorted(f"{top}/{path}" for path in paths(project, "master"))
    for form in (None, "tar.gz", "tgz", "tar.bz2", "tbz", "tar", "zip"):
        file = f"{folder}/archive"
        with open(file, "wb") as sink:
            project.repository_archive(sha="master", format=form, streamed=True, action=sink.write)
        listing = ["unzip", "-Z1", file] if form == "zip" else ["tar", "--list", "--file", file]
        held = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
        same(f"the files of {form}", sorted(name for name in held if not name.endswith("/")), everything)
    with zipfile.ZipFile(io.BytesIO(project.repository_archive(format="zip"))) as archive:
        same("an unpacked file", archive.read(archive.namelist()[-1]), b"int main() {\n  return 0;\n}\n")
    with tarfile.open(fileobj=io.BytesIO(project.repository_archive(sha="master", path="bin"))) as archive:
        [run] = [member for member in archive.getmembers() if member.isfile()]
        same("a part of it", (run.name.split("/", 1)[1], run.mode & 0o111), ("bin/run", 0o111))
    part = project.repository_archive(sha="master", exclude_paths="docs,lib")
    with tarfile.open(fileobj=io.BytesIO(part)) as archive:
        left = sorted(member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile())
        same("all but some", left, ["README.md", "bin/run"])
    refused("an archive of nothing", lambda: project.repository_archive(sha="none"), 404, "404 File Not Found")


def comparisons(project, first, second):
    seen = project.repository_compare("topic", "master")
    lines = [f"Line {n}" for n in range(5)]
    same("what came", ([one["title"] for one in seen["commits"]], seen["commit"]["title"]), (lines, "Line 4"))
    same("what changed", [one["new_path"] for one in seen["diffs"]], ["README.md"])
    straight = project.repository_compare("topic", "master", straight=True)
    same("what differs", [one["new_path"] for one in straight["diffs"]], ["README.md", "topic.txt"])
    same("the same", project.repository_compare("master", "master")["compare_same_ref"], True)
    same("the last in common", project.repository_merge_base(["master", "topic"])["id"], second)
    same("of three", project.repository_merge_base(["master", "topic", "past"])["id"], first)
    refused("one alone", lambda: project.repository_merge_base(["master"]), 400, "Provide at least 2 refs")
    people = project.repository_contributors(order_by="commits", sort="desc", get_all=True)
    seen = [(one["email"], one["commits"]) for one in people]
    same("contributors", seen, [(gl.user.email, 6), ("jane@example.com", 1)])


def submodules(project, first, second):
    """The client can move a submodule, not make one: git makes it."""
    at = f"{folder}/submodules"
    remote = project.http_url_to_repo.replace("://", f"://root:{token}@")
    who = ["-c", "user.name=Jane", "-c", "user.email=jane@example.com"]
    git = lambda *args: subprocess.run(["git", "-C", at, *who, *args], check=True, capture_output=True)
    subprocess.run(["git", "clone", "--quiet", remote, at], check=True, capture_output=True)
    git("update-index", "--add", "--cacheinfo", f"160000,{first},vendor/saw")
    git("commit", "--quiet", "--message", "Add a submodule")
    git("push", "--quiet", "origin", "HEAD:refs/heads/vendored")
    moved = project.update_submodule("vendor/saw", "vendored", second, commit_message="Move the saw")
    same("a moved submodule", (moved["title"], moved["parent_ids"][0] != moved["id"]), ("Move the saw", True))
    seen = project.repository_tree(path="vendor", ref="vendored")
    same("where it stands", [(one["type"], one["mode"], one["id"]) for one in seen], [("commit", "160000", second)])
    try:
        project.update_submodule("README.md", "vendored", second)
        raise AssertionError("a file as a submodule: was accepted")
    except gitlab.exceptions.GitlabUpdateError as error:
        same("a file as a submodule", error.response_code, 400)


code, first, second = commits()
print("commits: made, with every kind of action")
reading_commits(code, first, second)
around_commits(code, first, second)
print("commits: listed, compared, commented, judged, picked, reverted")
branches(code)
tags(code)
files(code)
print("branches, tags and files: made, listed, changed, deleted")
trees(code)
archives(code)
comparisons(code, first, second)
submodules(code, first, second)
print("trees, blobs, archives, comparisons, submodules")
code.delete()
print("python-gitlab", gitlab.__version__, "is content")
