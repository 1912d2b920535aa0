# Drives a started Mortise with ruby-gitlab: pipelines, jobs and what they are started by and run with.

require_relative 'ruby_checks'

URL, TOKEN = ARGV
GL = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: TOKEN)

CONFIG = "compile: { stage: build, script: make, environment: live }\n"

project = GL.create_project('Rb Mill').id
GL.create_file(project, '.gitlab-ci.yml', 'master', CONFIG, 'CI')

GL.create_variable(project, 'COLOUR', 'red')
same('a changed variable', GL.update_variable(project, 'COLOUR', 'blue').value, 'blue')
same('variables', GL.variables(project).map(&:key), ['COLOUR'])
GL.remove_variable(project, 'COLOUR')
group = GL.create_group('Rb Works', 'rb-works').id
GL.create_group_variable(group, 'COLOUR', 'red')
same('of a group', GL.group_variable(group, 'COLOUR').value, 'red')

same('of the push', GL.pipelines(project).map(&:source), ['push'])
pipeline = GL.create_pipeline(project, 'master')
same('by hand', [pipeline.source, GL.pipeline(project, pipeline.id).status], %w[api pending])
job = GL.pipeline_jobs(project, pipeline.id).first
same('its job', [job.name, GL.job(project, job.id).status], %w[compile pending])
GL.job_cancel(project, job.id)
same('a retried job', GL.job_retry(project, job.id).status, 'pending')
same('a canceled pipeline', GL.cancel_pipeline(project, pipeline.id).status, 'canceled')
same('a retried one', GL.retry_pipeline(project, pipeline.id).status, 'running')
refused('a missing branch', 400, "'base' Reference not found") { GL.create_pipeline(project, 'nowhere') }

trigger = GL.create_trigger(project, 'robot')
same('by a trigger', GL.run_trigger(project, trigger.token, 'master', SHAPE: 'round').status, 'pending')
same('triggers', GL.triggers(project).map(&:description), ['robot'])
GL.remove_trigger(project, trigger.id)

schedule = GL.create_pipeline_schedule(project, description: 'nightly', ref: 'master', cron: '0 1 * * *')
GL.create_pipeline_schedule_variable(project, schedule.id, key: 'SHAPE', value: 'oval')
same('a schedule', GL.pipeline_schedule(project, schedule.id).variables.map { |one| one['value'] }, ['oval'])
GL.delete_pipeline_schedule(project, schedule.id)

same('environments', GL.environments(project).map(&:name), ['live'])
test = GL.create_environment(project, 'test')
same('a stopped one', GL.stop_environment(project, test.id).state, 'stopped')
GL.delete_environment(project, test.id)
same('deployments', GL.deployments(project).map(&:id), [])
puts "ruby-gitlab #{Gitlab::VERSION} is content"
