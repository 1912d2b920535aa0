"""Drives a started Mortise with python-gitlab: users, keys, emails, tokens, paging, refusals."""

import sys

import gitlab

url, token, ssh_key, gpg_key = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()
assert gl.user.username == "root"
assert gl.user.is_admin
version, revision = gl.version()
assert [int(part) for part in version.split(".")] >= [13, 9, 0], version
print("signed in to", version, revision)

# users: create, page through, search, update, block, unblock
names = [f"py{i}" for i in range(8)]
for name in names:
    gl.users.create({"email": f"{name}@example.com", "username": name, "name": name, "password": "correct horse", "skip_confirmation": True})
paged = [user.username for user in gl.users.list(iterator=True)]
assert paged == list(reversed(names)) + ["root"], paged
everything = gl.users.list(get_all=True)
assert len(everything) == 9
page = gl.users.list(page=2, per_page=4, iterator=True)
assert (page.total, page.total_pages, page.current_page, page.per_page) == (9, 3, 2, 4)
assert [u.username for u in gl.users.list(search="py3")] == ["py3"]
user = gl.users.list(username="py0")[0]
user.name = "Renamed"
user.bio = "by python"
user.save()
assert gl.users.get(user.id).name == "Renamed"
assert user.block() is True
assert gl.users.get(user.id).state == "blocked"
assert user.unblock() is True

# keys, gpg keys, emails: of somebody else, and of oneself
key = user.keys.create({"title": "laptop", "key": ssh_key})
assert [k.title for k in user.keys.list()] == ["laptop"]
assert gl.keys.get(key.id).user["username"] == "py0"
key.delete()
assert user.keys.list() == []
own = gl.user.keys.create({"title": "own", "key": ssh_key})
try:
    gl.user.keys.create({"title": "again", "key": ssh_key})
    raise AssertionError("a duplicate key was accepted")
except gitlab.exceptions.GitlabCreateError as error:
    assert error.response_code == 400
    assert error.error_message["fingerprint"] == ["has already been taken"], error.error_message
own.delete()
gpg = user.gpgkeys.create({"key": gpg_key})
assert user.gpgkeys.get(gpg.id).key.startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")
gpg.delete()
assert gl.user.gpgkeys.list() == []
email = user.emails.create({"email": "second@example.com", "skip_confirmation": True})
assert [e.email for e in user.emails.list()] == ["second@example.com"]
email.delete()
mine = gl.user.emails.create({"email": "root2@example.com"})
assert gl.user.emails.get(mine.id).email == "root2@example.com"
mine.delete()

# tokens
impersonation = user.impersonationtokens.create({"name": "bot", "scopes": ["api"]})
assert impersonation.active and impersonation.impersonation
as_user = gitlab.Gitlab(url, private_token=impersonation.token)
as_user.auth()
assert as_user.user.username == "py0"
assert [t.id for t in user.impersonationtokens.list(state="active")] == [impersonation.id]
impersonation.delete()
assert [t.revoked for t in user.impersonationtokens.list()] == [True]
try:
    as_user.auth()
    raise AssertionError("a revoked token still opens")
except gitlab.exceptions.GitlabAuthenticationError:
    pass
personal = user.personal_access_tokens.create({"name": "cli", "scopes": ["read_user"]})
bearer = gitlab.Gitlab(url, oauth_token=personal.token)
assert bearer.http_get("/user")["username"] == "py0"
try:
    bearer.http_post("/user/emails", post_data={"email": "x@example.com"})
    raise AssertionError("read_user wrote")
except gitlab.exceptions.GitlabHttpError as error:
    assert error.response_code == 403
assert [t.name for t in gl.personal_access_tokens.list(user_id=user.id)] == ["cli"]
gl.personal_access_tokens.delete(personal.id)

# sudo
assert gl.http_get("/user", query_data={"sudo": "py0"})["username"] == "py0"
assert gl.users.get(user.id, sudo="py0").username == "py0"

# the instance
settings = gl.settings.get()
settings.default_projects_limit = 42
settings.save()
assert gl.settings.get().default_projects_limit == 42
feature = gl.features.set("shiny", True)
assert feature.state == "on"
assert [f.name for f in gl.features.list()] == ["shiny"]
gl.features.delete("shiny")
message = gl.broadcastmessages.create({"message": "hello"})
message.message = "hello again"
message.save()
assert gl.broadcastmessages.get(message.id).message == "hello again"
message.delete()
assert sorted(n.path for n in gl.namespaces.list(search="py0", get_all=True)) == ["py0"]
application = gl.applications.create({"name": "app", "redirect_uri": "https://app.example/callback", "scopes": "api", "confidential": True})
assert [a.application_name for a in gl.applications.list()] == ["app"]
gl.applications.delete(application.id)
assert gl.user_activities.list(query_parameters={"from": "2020-01-01"}) == []

# refusals
try:
    gl.users.create({"email": "py1@example.com", "username": "other", "name": "x", "password": "correct horse"})
    raise AssertionError("a duplicate email was accepted")
except gitlab.exceptions.GitlabCreateError as error:
    assert (error.response_code, error.error_message) == (409, "Email has already been taken")
try:
    gl.users.get(99999)
    raise AssertionError("a missing user was found")
except gitlab.exceptions.GitlabGetError as error:
    assert (error.response_code, error.error_message) == (404, "404 User Not Found")

for name in names:
    gl.users.delete(gl.users.list(username=name)[0].id, hard_delete=True)
assert [u.username for u in gl.users.list(iterator=True)] == ["root"]
print("python-gitlab", gitlab.__version__, "is content")
