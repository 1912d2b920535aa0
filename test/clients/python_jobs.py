"""Drives a started Mortise that runs jobs with python-gitlab: what becomes of jobs, and who runs them."""

import io
import sys
import zipfile

import gitlab

from python_checks import refused, same, until

url, token = sys.argv[1], sys.argv[2]

CONFIG = """
stages: [build, deploy]
build:
  stage: build
  script: [echo "made by $CI_JOB_NAME", mkdir out, echo hello > out/a.txt]
  artifacts: { paths: [out], expire_in: 1 day }
ship: { stage: deploy, script: echo shipped, when: manual, environment: live, resource_group: live }
wait: { stage: deploy, script: sleep 600, when: manual }
"""

gl = gitlab.Gitlab(url, private_token=token)
project = gl.projects.create({"name": "Py Forge"})
action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}
sha = project.commits.create({"branch": "master", "commit_message": "CI", "actions": [action]}).id


def job_named(name):
    return project.jobs.get(next(one.id for one in project.jobs.list(get_all=True) if one.name == name))


def becomes(id, status):
    until(f"job {id} is {status}", lambda: project.jobs.get(id).status == status)


build = job_named("build")
becomes(build.id, "success")
build = project.jobs.get(build.id)
same("the log", b"\nmade by build\n" in build.trace(), True)
archive = zipfile.ZipFile(io.BytesIO(build.artifacts()))
same("the archive", archive.read("out/a.txt"), b"hello\n")
same("one file", build.artifact("out/a.txt"), b"hello\n")
same("of the branch", project.artifacts.raw("master", "out/a.txt", "build"), b"hello\n")
downloaded = project.artifacts.download(ref_name="master", job="build")
same("the archive of the branch", zipfile.ZipFile(io.BytesIO(downloaded)).namelist(), archive.namelist())
same("who ran it", (build.runner["is_shared"], build.queued_duration is not None), (True, True))
same("it ends some day", build.artifacts_expire_at is not None, True)
build.keep_artifacts()
same("kept for good", project.jobs.get(build.id).artifacts_expire_at, None)
again = build.retry()
becomes(again["id"], "success")
build.delete_artifacts()
refused("no artifacts", build.artifacts, 404, "404 Not found")
build.erase()
same("when it was erased", project.jobs.get(build.id).erased_at is not None, True)
refused("twice", build.erase, 403, "403 Forbidden - Job is not erasable!")
print("logs and artifacts")

ship = job_named("ship")
ship.play()
becomes(ship.id, "success")
refused("played again", job_named("build").play, 400, '400 (Bad request) "Unplayable Job" not given')
deployment = project.deployments.list()[0]
same("its deployment", (deployment.status, deployment.deployable["id"]), ("success", ship.id))
wait = job_named("wait")
wait.play()
becomes(wait.id, "running")
wait.cancel()
becomes(wait.id, "canceled")
print("manual jobs")

mine = gl.runners.create({"token": project.runners_token, "description": "mine", "tag_list": "a,b", "run_untagged": False})
gl.runners.verify(mine.token)
refused("another token", lambda: gl.runners.verify("wrong"), 403, "403 Forbidden")
runner = gl.runners.get(mine.id)
same("a runner", (runner.description, sorted(runner.tag_list), runner.runner_type), ("mine", ["a", "b"], "project_type"))
runner.description = "yours"
runner.locked = False
runner.save()
same("runners of mine", [one.description for one in gl.runners.list()], ["yours"])
same("all of them", {one.runner_type for one in gl.runners_all.list(get_all=True)}, {"project_type", "instance_type"})
same("of the project", {one.is_shared for one in project.runners.list()}, {True, False})
other = gl.projects.create({"name": "Py Other"})
other.runners.create({"runner_id": mine.id})
refused("twice", lambda: other.runners.create({"runner_id": mine.id}), 409, "Runner was already enabled for this project")
other.runners.delete(mine.id)
shared = next(one for one in project.runners.list() if one.is_shared)
jobs = gl.runners.get(shared.id).jobs.list(get_all=True)
same("what it ran", "ship" in {one.name for one in jobs}, True)
runner.delete()
refused("what is gone", lambda: gl.runners.get(mine.id), 404, "404 Runner Not Found")
print("runners")

commit = project.commits.get(sha)
status = commit.statuses.create({"state": "running", "name": "outside", "target_url": "https://ci.example.com/1"})
same("a status", (status.status, status.name), ("running", "outside"))
commit.statuses.create({"state": "success", "name": "outside", "coverage": 12.5})
found = {one.name: one.status for one in commit.statuses.list(get_all=True)}
same("statuses", (found["outside"], found["build"]), ("success", "success"))
print(f"python-gitlab {gitlab.__version__} is content")
