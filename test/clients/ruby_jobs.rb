# Drives a started Mortise that runs jobs with ruby-gitlab: what becomes of jobs, and who runs them.

require_relative 'ruby_checks'

URL, TOKEN = ARGV
GL = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: TOKEN)

# What is all ASCII would be taken for JSON by this client.
CONFIG = <<~'YAML'
  stages: [build, deploy]
  build:
    stage: build
    script:
      - echo "made by $CI_JOB_NAME"
      - mkdir out
      - printf 'hi\377' > out/a.bin
    artifacts: { paths: [out], expire_in: 1 day }
  ship: { stage: deploy, script: echo shipped, when: manual, environment: live }
  wait: { stage: deploy, script: sleep 600, when: manual }
YAML

made = GL.create_project('Rb Forge')
PROJECT = made.id
GL.create_file(PROJECT, '.gitlab-ci.yml', 'master', CONFIG, 'CI')
pipeline = GL.pipelines(PROJECT).first
JOBS = GL.pipeline_jobs(PROJECT, pipeline.id).to_h { |job| [job.name, job.id] }

def becomes(id, status)
  until_so("job #{id} is #{status}") { GL.job(PROJECT, id).status == status }
end

build = JOBS['build']
becomes(build, 'success')
same('the log', GL.job_trace(PROJECT, build).include?("\nmade by build\n"), true)
same('the archive', GL.job_artifacts_download(PROJECT, 'master', 'build').to_h[:data].read[0, 2], 'PK')
same('one file', GL.download_job_artifact_file(PROJECT, build, 'out/a.bin').to_h[:data].read, "hi\xFF".b)
same('of the branch', GL.download_branch_artifact_file(PROJECT, 'master', 'out/a.bin', 'build').to_h[:data].read, "hi\xFF".b)
same('kept for good', GL.job_artifacts_keep(PROJECT, build).artifacts_expire_at, nil)
again = GL.job_retry(PROJECT, build).id
becomes(again, 'success')
GL.job_artifacts_delete(PROJECT, build)
same('erased', GL.job_erase(PROJECT, build).erased_at.nil?, false)
same('its report', GL.pipeline_test_report(PROJECT, pipeline.id).total_count, 0)
same('its bridges', GL.pipeline_bridges(PROJECT, pipeline.id).map(&:name), [])

GL.job_play(PROJECT, JOBS['ship'])
becomes(JOBS['ship'], 'success')
deployment = GL.deployments(PROJECT).first
same('its deployment', GL.deployment(PROJECT, deployment.id).deployable.name, 'ship')
GL.job_play(PROJECT, JOBS['wait'])
becomes(JOBS['wait'], 'running')
GL.job_cancel(PROJECT, JOBS['wait'])
becomes(JOBS['wait'], 'canceled')

mine = GL.register_runner(made.runners_token, description: 'mine', tag_list: 'a,b')
same('it is one', GL.verify_auth_registered_runner(mine.token).id, mine.id)
same('a changed one', GL.update_runner(mine.id, description: 'yours', locked: false).description, 'yours')
same('runners of mine', GL.runners.map(&:description), ['yours'])
same('all of them', GL.all_runners.map(&:is_shared).sort_by(&:to_s), [false, true])
other = GL.create_project('Rb Other').id
GL.project_enable_runner(other, mine.id)
same('of the other', GL.project_runners(other, type: 'project_type').map(&:id), [mine.id])
GL.project_disable_runner(other, mine.id)
shared = GL.all_runners.find(&:is_shared)
same('what it ran', GL.runner_jobs(shared.id).map(&:name).include?('ship'), true)
GL.delete_registered_runner(mine.token)
refused('what is gone', 404, '404 Runner Not Found') { GL.runner(mine.id) }
group = GL.create_group('Rb Forges', 'rb-forges').id
same('of a group', GL.group_runners(group).map(&:id), [])

sha = GL.commits(PROJECT).first.id
GL.update_commit_status(PROJECT, sha, 'running', name: 'outside')
same('a status', GL.update_commit_status(PROJECT, sha, 'success', name: 'outside').status, 'success')
same('statuses', GL.commit_status(PROJECT, sha, name: 'outside').map(&:status), ['success'])

trigger = GL.create_trigger(PROJECT, 'robot')
same('a changed trigger', GL.update_trigger(PROJECT, trigger.id, description: 'another').description, 'another')
schedule = GL.create_pipeline_schedule(PROJECT, description: 'nightly', ref: 'master', cron: '0 1 * * *').id
same('a changed one', GL.edit_pipeline_schedule(PROJECT, schedule, active: false).active, false)
same('its owner', GL.pipeline_schedule_take_ownership(PROJECT, schedule).owner.username, 'root')
GL.create_pipeline_schedule_variable(PROJECT, schedule, key: 'SHAPE', value: 'oval')
same('another value', GL.edit_pipeline_schedule_variable(PROJECT, schedule, 'SHAPE', value: 'round').value, 'round')
GL.delete_pipeline_schedule_variable(PROJECT, schedule, 'SHAPE')
live = GL.environments(PROJECT).first.id
same('its place', GL.edit_environment(PROJECT, live, external_url: 'https://x.example').external_url, 'https://x.example')
GL.delete_pipeline(PROJECT, pipeline.id)
puts "ruby-gitlab #{Gitlab::VERSION} is content"
