"""Drives a started Mortise with python-gitlab: groups, projects, members and all that hangs on them."""

import sys

import gitlab
from gitlab.const import AccessLevel

from python_checks import attributes, refused, same, until

url, token, picture = sys.argv[1], sys.argv[2], sys.argv[3]

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()


def person(name):
    """Their account, and the API as they see it."""
    secret = {"password": "correct horse", "skip_confirmation": True}
    user = gl.users.create({"username": name, "name": name, "email": f"{name}@example.com", **secret})
    key = user.impersonationtokens.create({"name": "tests", "scopes": ["api"]})
    return user, gitlab.Gitlab(url, private_token=key.token)


def names(things):
    return [thing.path for thing in things]


def levels(members):
    return sorted((member.username, member.access_level) for member in members)


jane, as_jane = person("py-jane")
john, as_john = person("py-john")


def groups():
    shop = gl.groups.create({"name": "Py Shop", "path": "py-shop", "visibility": "public", "description": "tools"})
    same("a new group", (shop.full_path, shop.visibility, shop.parent_id), ("py-shop", "public", None))
    bench = gl.groups.create({"name": "Bench", "path": "bench", "parent_id": shop.id})
    vice = gl.groups.create({"name": "Vice", "path": "vice", "parent_id": bench.id})
    same("a nested group", (vice.full_path, vice.full_name), ("py-shop/bench/vice", "Py Shop / Bench / Vice"))
    for n in range(5):
        gl.groups.create({"name": f"Drawer {n}", "path": f"drawer-{n}", "parent_id": shop.id})

    same("a group by its path", gl.groups.get("py-shop/bench/vice").id, vice.id)
    drawers = [f"drawer-{n}" for n in range(5)]
    same("every page of the list", names(gl.groups.list(iterator=True)), ["bench", *drawers, "py-shop", "vice"])
    page = gl.groups.list(iterator=True, page=2)
    same("the list's own figures", (page.total, page.total_pages, page.current_page, page.next_page), (8, 3, 2, 3))
    same("a search", names(gl.groups.list(search="DRAWER", get_all=True)), drawers)
    same("an order", names(gl.groups.list(order_by="path", sort="desc", per_page=2, get_all=False)), ["vice", "py-shop"])
    same("all but some", names(gl.groups.list(skip_groups=[shop.id, bench.id], get_all=True)), [*drawers, "vice"])
    same("those at the top", names(gl.groups.list(top_level_only=True)), ["py-shop"])
    same("subgroups", names(shop.subgroups.list(get_all=True)), ["bench", *drawers])
    same("all below", names(shop.descendant_groups.list(get_all=True)), ["bench", *drawers, "vice"])

    wish = {"name": "Py Shed", "path": "py-shed", "description": "wood", "request_access_enabled": True}
    for name, value in wish.items():
        setattr(shop, name, value)
    shop.save()
    same("a changed group", attributes(gl.groups.get(shop.id), wish), wish)
    same("a group moved along", gl.groups.get(vice.id).full_path, "py-shed/bench/vice")
    with open(picture, "rb") as file:
        shop.avatar = file
        shop.save()
    same("an avatar", gl.groups.get(shop.id).avatar_url, f"{url}/uploads/-/system/group/avatar/{shop.id}/avatar.png")
    refused(
        "a path that is taken",
        lambda: gl.groups.create({"name": "Other", "path": "py-shed"}),
        400,
        {"path": ["has already been taken"]},
    )

    vice.delete()
    refused("a deleted group", lambda: gl.groups.get(vice.id), 404, "404 Group Not Found")
    return gl.groups.get(shop.id), bench


def members(thing):
    """Of a group or of a project."""
    member = thing.members.create({"user_id": jane.id, "access_level": AccessLevel.DEVELOPER})
    same("a new member", (member.id, member.username, member.access_level), (jane.id, "py-jane", 30))
    member.access_level = AccessLevel.MAINTAINER
    member.expires_at = "2999-12-31"
    member.save()
    seen = thing.members.get(jane.id)
    same("a changed member", (seen.access_level, seen.expires_at), (40, "2999-12-31"))
    same("a member found", levels(thing.members.list(query="jane")), [("py-jane", 40)])
    same("one of all members", thing.members_all.get(jane.id).access_level, 40)
    refused(
        "a member twice",
        lambda: thing.members.create({"user_id": jane.id, "access_level": 10}),
        409,
        "Member already exists",
    )
    member.delete()
    refused("a member who left", lambda: thing.members.get(jane.id), 404, "404 Not found")


def requests(thing, theirs):
    """Of a group or of a project; `theirs` are the requests as two strangers make them."""
    for api in theirs:
        api.create({})
    same("requests", sorted(asked.username for asked in thing.accessrequests.list()), ["py-jane", "py-john"])
    for asked in thing.accessrequests.list():
        if asked.username == "py-jane":
            asked.approve(access_level=AccessLevel.REPORTER)
        else:
            asked.delete()
    same("nobody waits", thing.accessrequests.list(), [])
    same("who was let in", thing.members.get(jane.id).access_level, 20)
    refused("who was not", lambda: thing.members.get(john.id), 404, "404 Not found")
    thing.members.delete(jane.id)


def invitations(thing):
    invitation = {"email": "py-guest@example.com", "access_level": AccessLevel.GUEST}
    same("an invitation", thing.invitations.create(invitation).status, "success")
    same("who is invited", [one.invite_email for one in thing.invitations.list()], ["py-guest@example.com"])
    thing.invitations.update("py-guest@example.com", {"access_level": AccessLevel.DEVELOPER})
    same("a changed invitation", [one.access_level for one in thing.invitations.list()], [30])
    try:
        thing.invitations.create(invitation)
        raise AssertionError("an invitation twice: was accepted")
    except gitlab.exceptions.GitlabInvitationError as error:
        same("an invitation twice", list(error.error_message), ["py-guest@example.com"])
    thing.invitations.delete("py-guest@example.com")
    same("nobody is invited", thing.invitations.list(), [])


def directory_links(group):
    link = {"cn": "carpenters", "provider": "ldapmain", "group_access": 30}
    group.ldap_group_links.create(link)
    group.ldap_group_links.create({**link, "cn": "all staff"})
    seen = [(one.cn, one.group_access) for one in group.ldap_group_links.list()]
    same("links", seen, [("carpenters", 30), ("all staff", 30)])
    group.ldap_sync()
    for one in group.ldap_group_links.list():
        one.delete()
    same("no link", group.ldap_group_links.list(), [])


def projects(group):
    own = gl.projects.create({"name": "Py Own"})
    same("a personal project", (own.path_with_namespace, own.visibility), ("root/py-own", "private"))
    for n in range(7):
        wish = {"name": f"Py Tool {n}", "namespace_id": group.id, "visibility": "public" if n < 4 else "private"}
        gl.projects.create(wish)
    of_john = gl.users.get(john.id).projects.create({"name": "Py Gift"})
    same("a project for somebody", of_john.path_with_namespace, "py-john/py-gift")
    tool = gl.projects.get("py-shed/py-tool-0")
    same("a project by its path and id", gl.projects.get(tool.id).path_with_namespace, "py-shed/py-tool-0")
    refused("a name that is taken", lambda: gl.projects.create({"name": "Py Own"}), 400, {
        "name": ["has already been taken"],
        "path": ["has already been taken"],
        "limit_reached": [],
    })

    tools = [f"py-tool-{n}" for n in range(7)]
    same("every page, newest first", names(gl.projects.list(iterator=True)), ["py-gift", *reversed(tools), "py-own"])
    ids = [one.id for one in gl.projects.list(iterator=True, order_by="id", sort="asc", pagination="keyset")]
    same("every page by keyset", (len(ids), ids), (9, sorted(ids)))
    page = gl.projects.list(iterator=True, page=3)
    same("the list's own figures", (page.total, page.total_pages, page.current_page, page.next_page), (9, 3, 3, None))
    for filters, expected in [
        ({"search": "tool 3"}, ["py-tool-3"]),
        ({"visibility": "public"}, ["py-tool-3", "py-tool-2", "py-tool-1"]),
        ({"owned": True, "search": "own"}, ["py-own"]),
        ({"order_by": "name", "sort": "asc", "per_page": 2}, ["py-gift", "py-own"]),
        ({"id_after": ids[-2]}, ["py-gift"]),
        ({"archived": True}, []),
        ({"starred": True}, []),
    ]:
        same(f"projects {filters}", names(gl.projects.list(**filters, get_all=False)), expected)
    simple = gl.projects.list(simple=True, search="own")[0]
    same("a simple record", (hasattr(simple, "visibility"), simple.name), (False, "Py Own"))
    same("projects of a group", len(group.projects.list(get_all=True)), 7)
    same("projects of a user", names(gl.users.get(john.id).projects.list()), ["py-gift"])
    same("who sees a private one", names(as_jane.projects.list(get_all=True)), [f"py-tool-{n}" for n in (3, 2, 1, 0)])
    return tool, own


def attributes_of(project):
    booleans = (
        "issues_enabled merge_requests_enabled jobs_enabled wiki_enabled snippets_enabled container_registry_enabled"
        " shared_runners_enabled lfs_enabled public_builds resolve_outdated_diff_discussions request_access_enabled"
        " only_allow_merge_if_pipeline_succeeds only_allow_merge_if_all_discussions_are_resolved"
        " remove_source_branch_after_merge"
    ).split()
    before = gl.projects.get(project.id)
    read = {"public_builds": "public_jobs"}
    wish = {name: not getattr(before, read.get(name, name)) for name in booleans}
    wish |= {
        "name": "Py Saw",
        "path": "py-saw",
        "description": "cuts",
        "visibility": "internal",
        "ci_config_path": "ci/main.yml",
        "approvals_before_merge": 2,
        "merge_method": "ff",
        "squash_option": "always",
        "topics": ["wood", "sharp"],
    }
    for name, value in wish.items():
        setattr(project, name, value)
    project.save()
    seen = gl.projects.get(project.id)
    same("changed attributes", {name: getattr(seen, read.get(name, name)) for name in wish}, wish)
    same("topics under their old name", seen.tag_list, ["wood", "sharp"])

    with open(picture, "rb") as file:
        project.avatar = file
        project.save()
    avatar = gl.projects.get(project.id).avatar_url
    same("an avatar", avatar, f"{url}/uploads/-/system/project/avatar/{project.id}/avatar.png")
    gl.projects.update(project.id, {"visibility": "public", "merge_requests_enabled": True, "issues_enabled": True})


def standing(project, own):
    project.star()
    same("a star", [one.id for one in gl.projects.list(starred=True)], [project.id])
    refused("a star twice", project.star, 304, "")
    project.unstar()
    same("no star", gl.projects.get(project.id).star_count, 0)
    project.archive()
    same("an archived project", names(gl.projects.list(archived=True)), ["py-saw"])
    project.unarchive()
    same("no archived project", gl.projects.list(archived=True), [])

    friends = gl.groups.create({"name": "Py Friends", "path": "py-friends"})
    own.share(friends.id, AccessLevel.DEVELOPER, expires_at="2999-01-01")
    shared = gl.projects.get(own.id).shared_with_groups
    same("a share", [(one["group_id"], one["group_access_level"]) for one in shared], [(friends.id, 30)])
    same("a shared project", names(friends.projects.list()), ["py-own"])
    own.unshare(friends.id)
    same("no share", gl.projects.get(own.id).shared_with_groups, [])
    friends.transfer_project(own.id)
    same("a transferred project", gl.projects.get(own.id).path_with_namespace, "py-friends/py-own")
    own.housekeeping()
    friends.delete()
    refused("a project that went with its group", lambda: gl.projects.get(own.id), 404, "404 Project Not Found")


def forks(project):
    fork = as_jane.projects.get(project.id).forks.create({})
    same("a fork", (fork.path_with_namespace, fork.forked_from_project["id"]), ("py-jane/py-saw", project.id))
    until("the fork is there", lambda: gl.projects.get(fork.id).import_status == "finished")
    same("forks", [one.id for one in project.forks.list()], [fork.id])
    fork = gl.projects.get(fork.id)
    fork.delete_fork_relation()
    same("no source", hasattr(gl.projects.get(fork.id), "forked_from_project"), False)
    fork.create_fork_relation(project.id)
    same("a source again", gl.projects.get(fork.id).forked_from_project["id"], project.id)
    gl.projects.delete(fork.id)
    refused("a deleted fork", lambda: gl.projects.get(fork.id), 404, "404 Project Not Found")


def hooks(project):
    wish = {"url": "https://ci.example/hook", "push_events": False, "note_events": True, "job_events": True}
    hook = project.hooks.create({**wish, "token": "secret"})
    same("a new hook", attributes(hook, wish), wish)
    hook.issues_events = True
    hook.enable_ssl_verification = False
    hook.save()
    wish |= {"issues_events": True, "enable_ssl_verification": False}
    same("a changed hook", attributes(project.hooks.get(hook.id), wish), wish)
    same("hooks", [one.id for one in project.hooks.list()], [hook.id])
    refused("a bad address", lambda: project.hooks.create({"url": "ftp://ci.example"}), 422, "Invalid url given")
    hook.delete()
    same("no hook", project.hooks.list(), [])


def push_rules(project):
    wish = {"deny_delete_tag": True, "commit_message_regex": "^[A-Z]", "max_file_size": 10}
    same("a new push rule", attributes(project.pushrules.create(wish), wish), wish)
    rule = project.pushrules.get()
    rule.prevent_secrets = True
    rule.branch_name_regex = "^(fix|feature)/"
    rule.save()
    wish |= {"prevent_secrets": True, "branch_name_regex": "^(fix|feature)/"}
    same("a changed push rule", attributes(project.pushrules.get(), wish), wish)
    rule.delete()
    same("no push rule", project.manager.gitlab.http_get(f"/projects/{project.id}/push_rule"), None)


def uploads(project):
    text = project.upload("plan.txt", filedata=b"saw it in half")
    same("an uploaded text", (text["alt"], text["markdown"]), ("plan.txt", f"[plan.txt]({text['url']})"))
    image = project.upload("view.png", filepath=picture)
    same("an uploaded picture", image["markdown"], f"![view]({image['url']})")
    secret = text["url"].split("/")[2]
    answer = gl.http_get(f"/projects/{project.id}/uploads/{secret}/plan.txt", raw=True)
    same("what was uploaded", answer.content, b"saw it in half")


def namespaces(group):
    same("a namespace by id", gl.namespaces.get(group.id).full_path, "py-shed")
    same("a namespace by path", gl.namespaces.get("py-jane").kind, "user")
    same("namespaces", [one.full_path for one in gl.namespaces.list(search="py-j", get_all=True)], ["py-jane", "py-john"])
    same("a path that is taken", gl.namespaces.exists("py-shed").exists, True)
    same("a path that is free", gl.namespaces.exists("py-barn").exists, False)


def templates():
    for manager, key, part in [
        (gl.licenses, "mit", "MIT License"),
        (gl.gitignores, "Ruby", "*.gem"),
        (gl.gitlabciymls, "Ruby", "script"),
        (gl.dockerfiles, "Binary", "FROM"),
    ]:
        listed = [one.get_id() for one in manager.list(get_all=True)]
        same(f"{key} among {listed}", key in listed, True)
        same(f"the text of {key}", part in manager.get(key).content, True)
    license = gl.licenses.get("mit", project="Py Saw", fullname="Jane Doe")
    same("a filled license", "Jane Doe" in license.content, True)


shed, bench = groups()
print("groups: made, nested, listed, searched, changed, deleted")
members(shed)
same("inherited members", levels(bench.members_all.list()), [("root", 50)])
requests(shed, [as_jane.groups.get(shed.id).accessrequests, as_john.groups.get(shed.id).accessrequests])
invitations(shed)
directory_links(shed)
print("people of groups: members, access requests, invitations, directory links")

saw, own = projects(shed)
attributes_of(saw)
print("projects: made, listed, changed")
members(saw)
same("inherited members of a project", levels(saw.members_all.list()), [("root", 50)])
requests(saw, [as_jane.projects.get(saw.id).accessrequests, as_john.projects.get(saw.id).accessrequests])
invitations(saw)
print("people of projects: members, access requests, invitations")
standing(saw, own)
forks(saw)
hooks(saw)
push_rules(saw)
uploads(saw)
print("projects: starred, archived, shared, transferred, forked; hooks, push rules, uploads")
namespaces(shed)
templates()
print("namespaces and templates")

shed.delete()
until("all groups are gone", lambda: gl.groups.list() == [])
same("projects that are left", names(gl.projects.list(get_all=True)), ["py-gift"])
for user in (jane, john):
    gl.users.delete(user.id, hard_delete=True)
print("python-gitlab", gitlab.__version__, "is content")
