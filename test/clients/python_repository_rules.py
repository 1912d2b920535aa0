"""Drives a started Mortise with python-gitlab: what stands around a repository, from protection to the wiki."""

import subprocess
import sys

import gitlab

from python_checks import attributes, refused, same, until

url, token, folder = sys.argv[1], sys.argv[2], sys.argv[3]

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()

secret = {"password": "correct horse", "skip_confirmation": True}
jane = gl.users.create({"username": "py-jane", "name": "Jane Doe", "email": "py-jane@example.com", **secret})
as_jane = gitlab.Gitlab(
    url, private_token=jane.impersonationtokens.create({"name": "tests", "scopes": ["api"]}).token
)


def names(things):
    return [thing.name for thing in things]


def levels(entries):
    return [(entry["access_level"], entry["access_level_description"], entry["user_id"]) for entry in entries]


def new_key(name):
    """A file with the private half, and the text of the other."""
    file = f"{folder}/{name}"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file], check=True)
    with open(f"{file}.pub") as public:
        return file, public.read().strip()


def git(*args, **more):
    return subprocess.run(["git", *args], capture_output=True, text=True, **more)


def begin():
    project = gl.projects.create({"name": "Py Rules"})
    project.members.create({"user_id": jane.id, "access_level": 30})
    project.files.create(
        {"file_path": "README.md", "branch": "master", "content": "# Rules\n", "commit_message": "Begin"}
    )
    return project


def protected_branches(project):
    [default] = project.protectedbranches.list()
    same("the default branch", (default.name, levels(default.push_access_levels)), ("master", [(40, "Masters", None)]))
    rule = project.protectedbranches.create(
        {"name": "release/*", "push_access_level": 0, "merge_access_level": 30, "unprotect_access_level": 40}
    )
    same("who may push", levels(rule.push_access_levels), [(0, "No one", None)])
    same("who may merge", levels(rule.merge_access_levels), [(30, "Developers + Masters", None)])
    same("who may unprotect", levels(rule.unprotect_access_levels), [(40, "Masters", None)])
    project.protectedbranches.create(
        {"name": "hers", "allowed_to_push": [{"user_id": jane.id}], "allow_force_push": True}
    )
    hers = project.protectedbranches.get("hers")
    same("a person who may push", levels(hers.push_access_levels), [(None, "Jane Doe", jane.id)])
    same("by force even", (hers.allow_force_push, hers.code_owner_approval_required), (True, False))
    same("rules", names(project.protectedbranches.list(get_all=True)), ["master", "release/*", "hers"])
    same("a rule found", names(project.protectedbranches.list(search="rel")), ["release/*"])
    same("a rule with a star", project.protectedbranches.get("release/*").id, rule.id)

    hers_api = as_jane.projects.get(project.id)
    same("what she may", hers_api.branches.create({"branch": "hers", "ref": "master"}).can_push, True)
    refused(
        "what she may not",
        lambda: hers_api.branches.create({"branch": "release/1", "ref": "master"}),
        400,
        "You are not allowed to push code to protected branches on this project.",
    )
    refused(
        "a commit to what she may not",
        lambda: hers_api.files.create(
            {"file_path": "x", "branch": "master", "content": "x", "commit_message": "x"}
        ),
        400,
        "You are not allowed to push into this branch",
    )
    refused(
        "a rule twice",
        lambda: project.protectedbranches.create({"name": "hers"}),
        409,
        "Protected branch 'hers' already exists",
    )
    rule.delete()
    refused("a deleted rule", lambda: project.protectedbranches.get("release/*"), 404, "404 Not found")
    same("what she may now", hers_api.branches.create({"branch": "release/1", "ref": "master"}).protected, False)


def protected_tags(project):
    rule = project.protectedtags.create({"name": "v*", "create_access_level": 40})
    same("who may tag", levels(rule.create_access_levels), [(40, "Masters", None)])
    project.protectedtags.create({"name": "w*", "allowed_to_create": [{"user_id": jane.id}]})
    seen = {rule.name: levels(rule.create_access_levels) for rule in project.protectedtags.list(get_all=True)}
    same("rules", seen, {"v*": [(40, "Masters", None)], "w*": [(None, "Jane Doe", jane.id)]})
    same("a rule with a star", project.protectedtags.get("v*").name, "v*")
    hers = as_jane.projects.get(project.id)
    same("a tag she may make", hers.tags.create({"tag_name": "w1", "ref": "master"}).protected, True)
    refused(
        "a tag she may not",
        lambda: hers.tags.create({"tag_name": "v1", "ref": "master"}),
        400,
        "You are not allowed to create this tag as it is protected.",
    )
    rule.delete()
    same("rules left", names(project.protectedtags.list()), ["w*"])


def releases(project):
    links = [{"name": "Handbook", "url": "https://docs.example/1", "link_type": "runbook"}]
    made = project.releases.create(
        {
            "tag_name": "r/1.0",
            "ref": "master",
            "name": "One",
            "description": "**First**",
            "assets": {"links": links},
        }
    )
    same("a new release", (made.name, made.description, made.upcoming_release), ("One", "**First**", False))
    same("its tag", project.tags.get("r/1.0").release, {"tag_name": "r/1.0", "description": "**First**"})
    same("its commit", made.commit["id"], project.commits.get("master").id)
    same("its sources", [one["format"] for one in made.assets["sources"]], ["zip", "tar.gz", "tar.bz2", "tar"])
    source = made.assets["sources"][0]["url"]
    same("one of them", gl.http_get(source.removeprefix(f"{url}/api/v4"), raw=True).content[:2], b"PK")
    release = project.releases.get("r/1.0")
    release.name = "The first"
    release.released_at = "2020-02-02T02:02:02Z"
    release.save()
    seen = project.releases.get("r/1.0")
    same("a changed release", (seen.name, seen.released_at), ("The first", "2020-02-02T02:02:02.000Z"))
    project.releases.create({"tag_name": "w1", "description": "On a tag that was"})
    same("releases", [one.tag_name for one in project.releases.list()], ["w1", "r/1.0"])
    oldest = project.releases.list(order_by="released_at", sort="asc")
    same("releases, oldest first", [one.tag_name for one in oldest], ["r/1.0", "w1"])
    refused(
        "a release twice",
        lambda: project.releases.create({"tag_name": "w1", "description": ""}),
        409,
        "Release already exists",
    )
    release_links(project.releases.get("r/1.0"))
    project.releases.delete("w1")
    refused("a deleted release", lambda: project.releases.get("w1"), 404, "404 Not Found")
    same("its tag stays", project.tags.get("w1").release, None)


def release_links(release):
    wish = {"name": "Saw", "url": "https://files.example/saw.zip", "link_type": "package"}
    link = release.links.create({**wish, "filepath": "/bin/saw.zip"})
    same("a new link", attributes(link, wish), wish)
    same("its own address", link.direct_asset_url.endswith("/r%2F1.0/downloads/bin/saw.zip"), True)
    link.name = "The saw"
    link.save()
    same("a changed link", release.links.get(link.id).name, "The saw")
    same("links", sorted(names(release.links.list())), ["Handbook", "The saw"])
    link.delete()
    same("links left", names(release.links.list()), ["Handbook"])


def deploy_keys(project):
    file, public = new_key("robot")
    key = project.keys.create({"title": "robot", "key": public, "can_push": False})
    same("a new key", (key.title, key.key, key.can_push), ("robot", public, False))
    pushing = lambda: git(
        "push", "--quiet", project.ssh_url_to_repo, "HEAD:refs/heads/robot",
        cwd=f"{folder}/work", env={"PATH": "/usr/bin:/bin", "GIT_SSH_COMMAND": ssh_with(file)},
    )
    git("clone", "--quiet", project.http_url_to_repo.replace("://", f"://root:{token}@"), f"{folder}/work", check=True)
    denied = pushing()
    same("a key that may not push", "does not have write access to this project" in denied.stderr, True)
    key.title = "robot 2"
    key.can_push = True
    key.save()
    seen = project.keys.get(key.id)
    same("a changed key", (seen.title, seen.can_push), ("robot 2", True))
    same("a key that may push", pushing().returncode, 0)
    same("what it pushed", project.branches.get("robot").commit["id"], project.commits.get("master").id)

    other = gl.projects.create({"name": "Py Other"})
    same("a key enabled elsewhere", other.keys.enable(key.id)["id"], key.id)
    same("keys of a project", [one.id for one in other.keys.list()], [key.id])
    everywhere = {one.id: one for one in gl.deploykeys.list(get_all=True)}[key.id]
    where = lambda projects: [one["path_with_namespace"] for one in projects]
    same("where it may write", where(everywhere.projects_with_write_access), ["root/py-rules"])
    same("where it may read", where(everywhere.projects_with_readonly_access), ["root/py-other"])
    key.delete()
    same("no key", project.keys.list(), [])
    refused("a deleted key", lambda: project.keys.get(key.id), 404, "404 Not found")
    other.delete()


def ssh_with(key):
    return f"ssh -i {key} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -F none"


def deploy_tokens(project):
    wish = {"name": "reader", "scopes": ["read_repository"], "username": "reader"}
    made = project.deploytokens.create({**wish, "expires_at": "2999-01-01T00:00:00Z"})
    same("a new token", attributes(made, wish), wish)
    same("until when", (made.expires_at, made.revoked, made.expired), ("2999-01-01T00:00:00.000Z", False, False))
    address = project.http_url_to_repo.replace("://", f"://reader:{made.token}@")
    same("a fetch with it", "refs/heads/master" in git("ls-remote", address).stdout, True)
    seen = project.deploytokens.get(made.id)
    same("its value is told once", (seen.name, hasattr(seen, "token")), ("reader", False))
    same("tokens", names(project.deploytokens.list()), ["reader"])
    same("tokens everywhere", names(gl.deploytokens.list()), ["reader"])
    group = gl.groups.create({"name": "Py Tokens", "path": "py-tokens"})
    theirs = group.deploytokens.create({"name": "of a group", "scopes": ["read_repository"]})
    same("a token of a group", group.deploytokens.get(theirs.id).username, f"gitlab+deploy-token-{theirs.id}")
    same("tokens of a group", names(group.deploytokens.list()), ["of a group"])
    theirs.delete()
    same("no token", group.deploytokens.list(), [])
    made.delete()
    same("a fetch without it", git("ls-remote", address, env={"GIT_TERMINAL_PROMPT": "0"}).returncode, 128)
    group.delete()


def keys():
    _, public = new_key("laptop")
    key = jane.keys.create({"title": "laptop", "key": public})
    found = gl.keys.get(key.id)
    same("a key by its id", (found.title, found.user["username"]), ("laptop", "py-jane"))
    fingerprint = subprocess.run(
        ["ssh-keygen", "-lf", f"{folder}/laptop.pub"], check=True, capture_output=True, text=True
    ).stdout.split()[1]
    same("a key by its fingerprint", gl.keys.get(fingerprint=fingerprint).id, key.id)
    old = subprocess.run(
        ["ssh-keygen", "-E", "md5", "-lf", f"{folder}/laptop.pub"], check=True, capture_output=True, text=True
    ).stdout.split()[1]
    same("by its older one", gl.keys.get(fingerprint=old.removeprefix("MD5:")).id, key.id)
    refused("an unknown key", lambda: gl.keys.get(99999), 404, "404 Not found")


def wikis(project):
    home = project.wikis.create({"title": "home", "content": "# Welcome\n"})
    same("a new page", (home.slug, home.title, home.format, home.content), ("home", "home", "markdown", "# Welcome\n"))
    page = project.wikis.create({"title": "How to/Saw wood", "content": "With a saw", "format": "asciidoc"})
    same("a page in a folder", (page.slug, page.title, page.format), ("How-to/Saw-wood", "Saw wood", "asciidoc"))
    same("pages", sorted(page.slug for page in project.wikis.list()), ["How-to/Saw-wood", "home"])
    full = {page.slug: page.content for page in project.wikis.list(with_content=True)}
    same("pages with content", full, {"home": "# Welcome\n", "How-to/Saw-wood": "With a saw"})
    page = project.wikis.get("How-to/Saw-wood")
    page.content = "With a sharp saw"
    page.title = "How to/Cut wood"
    page.save()
    moved = project.wikis.get("How-to/Cut-wood")
    same("a changed page", (moved.content, moved.format), ("With a sharp saw", "asciidoc"))
    refused("its old place", lambda: project.wikis.get("How-to/Saw-wood"), 404, "404 Wiki Page Not Found")
    moved.delete()
    same("pages left", [page.slug for page in project.wikis.list()], ["home"])
    address = project.http_url_to_repo.replace("://", f"://root:{token}@").replace(".git", ".wiki.git")
    git("clone", "--quiet", address, f"{folder}/wiki", check=True)
    with open(f"{folder}/wiki/home.md") as file:
        same("a page as a file", file.read(), "# Welcome\n")
    before = git("rev-parse", "HEAD~1", cwd=f"{folder}/wiki", check=True).stdout.strip()
    same("a page that was", project.wikis.get("How-to/Cut-wood", version=before).content, "With a sharp saw")


def upkeep(project):
    project.housekeeping()
    counted = lambda: gl.projects.get(project.id, statistics=True).statistics
    until("commits are counted", lambda: counted()["commit_count"] == 1)
    sizes = counted()
    same("the repository's size", sizes["repository_size"] > 0, True)
    parts = [sizes[part] for part in ("repository_size", "lfs_objects_size", "job_artifacts_size")]
    same("the whole size", sizes["storage_size"] >= sum(parts), True)


rules = begin()
protected_branches(rules)
protected_tags(rules)
print("protected branches and tags: made, listed, kept to, deleted")
releases(rules)
print("releases and their links: made, listed, changed, deleted")
deploy_keys(rules)
deploy_tokens(rules)
keys()
print("deploy keys, deploy tokens, keys: made, used, deleted")
wikis(rules)
upkeep(rules)
print("the wiki; housekeeping and sizes")
rules.delete()
print("python-gitlab", gitlab.__version__, "is content")
