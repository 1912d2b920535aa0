"""Drives a started Mortise with python-gitlab: pipelines, jobs and what they are started by and run with."""

import sys

import gitlab

from python_checks import refused, same, until

url, token = sys.argv[1], sys.argv[2]

CONFIG = """
compile: { stage: build, script: make }
check: { stage: test, script: make check }
release:
  stage: deploy
  script: make release
  when: manual
  environment: { name: live, url: 'https://live.example.com' }
"""

gl = gitlab.Gitlab(url, private_token=token, per_page=3)
gl.auth()
group = gl.groups.create({"name": "Works", "path": "py-works"})
project = gl.projects.create({"name": "Mill", "namespace_id": group.id})
action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}
project.commits.create({"branch": "master", "commit_message": "CI", "actions": [action]})

for place in (project, group, gl):
    variables = place.variables
    variable = variables.create({"key": "COLOUR", "value": "red"})
    same("a new variable", (variable.key, variable.value, variable.protected), ("COLOUR", "red", False))
    variable.value = "hunter2hunter2"
    variable.masked = True
    variable.save()
    same("a changed variable", variables.get("COLOUR").masked, True)
    same("variables", [one.key for one in variables.list()], ["COLOUR"])
    refused("a second one", lambda: variables.create({"key": "COLOUR", "value": ""}), 400, {"key": ["has already been taken"]})
scoped = project.variables.create({"key": "COLOUR", "value": "blue", "environment_scope": "live"})
same("by scope", project.variables.get("COLOUR", filter={"environment_scope": "live"}).value, "blue")
project.variables.delete("COLOUR", filter={"environment_scope": "live"})
gl.variables.delete("COLOUR")
print("variables")

pushed = project.pipelines.list(get_all=True)
same("of the push", [(one.source, one.status, one.ref) for one in pushed], [("push", "pending", "master")])
pipeline = project.pipelines.create({"ref": "master", "variables": [{"key": "SHAPE", "value": "round"}]})
same("by hand", (pipeline.source, pipeline.user["username"]), ("api", "root"))
same("its variables", [(one.key, one.value) for one in pipeline.variables.list()], [("SHAPE", "round")])
same("its jobs", sorted(one.name for one in pipeline.jobs.list(get_all=True)), ["check", "compile", "release"])
same("the latest", project.pipelines.get("latest").id, pipeline.id)
job = project.jobs.get(next(one.id for one in pipeline.jobs.list(get_all=True) if one.name == "compile"))
same("a job", (job.stage, job.status, job.pipeline["id"]), ("build", "pending", pipeline.id))
job.cancel()
same("a canceled job", project.jobs.get(job.id).status, "canceled")
job.retry()
pipeline.cancel()
same("a canceled pipeline", project.pipelines.get(pipeline.id).status, "canceled")
pipeline.retry()
same("a retried one", project.pipelines.get(pipeline.id).status in ("pending", "running"), True)
same("a report", project.pipelines.get(pipeline.id).test_report.get().total_count, 0)
pipeline.delete()
refused("what is gone", lambda: project.pipelines.get(pipeline.id), 404, "404 Not found")
print("pipelines and jobs")

trigger = project.triggers.create({"description": "robot"})
started = project.trigger_pipeline("master", trigger.token, variables={"SHAPE": "square"})
same("by a trigger", started.source, "trigger")
trigger.description = "another"
trigger.save()
same("triggers", [one.description for one in project.triggers.list()], ["another"])
trigger.delete()

schedule = project.pipelineschedules.create({"ref": "master", "description": "nightly", "cron": "0 1 * * *"})
schedule.variables.create({"key": "SHAPE", "value": "oval"})
schedule = project.pipelineschedules.get(schedule.id)
same("its variables", [one["value"] for one in schedule.attributes["variables"]], ["oval"])
schedule.cron_timezone = "Europe/Berlin"
schedule.save()
schedule.take_ownership()
# What it answers is no schedule, and stands in for one afterwards.
project.pipelineschedules.get(schedule.id).play()
same("its pipeline", len(project.pipelines.list(source="schedule")), 1)
refused(
    "a strange time",
    lambda: project.pipelineschedules.create({"ref": "master", "description": "x", "cron": "soon"}),
    400,
    {"cron": [" is invalid syntax"]},
)
schedule.variables.delete("SHAPE")
schedule.delete()
print("triggers and schedules")

same("environments", [(one.name, one.state) for one in project.environments.list()], [("live", "available")])
test = project.environments.create({"name": "test", "external_url": "https://test.example.com"})
test.external_url = "https://other.example.com"
test.save()
test.stop()
test.delete()
sha = project.commits.list()[0].id
wish = {"environment": "live", "sha": sha, "ref": "master", "tag": False, "status": "running"}
deployment = project.deployments.create(wish)
deployment.status = "success"
deployment.save()
same("deployments", [(one.iid, one.status) for one in project.deployments.list()], [(1, "success")])
live = project.environments.get(project.environments.list()[0].id)
same("the last deployment", live.last_deployment["id"], deployment.id)
print("environments and deployments")

found = project.ci_lint.get()
same("the file of the project", (found.valid, found.errors), (True, []))
found = project.ci_lint.create({"content": "a: { script: make, colour: red }"})
same("another file", (found.valid, len(found.errors)), (False, 1))
same("of no project", gl.ci_lint.create({"content": CONFIG}).status, "valid")
print(f"python-gitlab {gitlab.__version__} is content")
