import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { bool, longText, text } from '../../../api/wire.ts'
import { forbidden, notFound } from '../../../errors.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { readConfiguration } from '../pipelines/configuration.ts'
import { ciProject } from '../pipelines/queries.ts'
import { InstanceLintEntity, LintEntity, NOTHING_TO_CHECK, presentFault, presentLint } from './entity.ts'
import { lintPolicy } from './policy.ts'
import { lintAlone, lintFor, lintRef } from './service.ts'

const lintedProject = { ...ciProject, policy: lintPolicy }

export const lint = endpoint({
  method: 'POST',
  path: '/ci/lint',
  summary: 'Validate a CI configuration',
  by: 'visitor',
  allow: 'anyone',
  readsOnly: true,
  input: z.object({ content: longText, include_merged_yaml: bool.nullish(), include_jobs: bool.nullish() }),
  output: InstanceLintEntity,
  status: 200,
  async handle({ app, input }) {
    const withJobs = input.include_jobs ?? false
    const found =
      input.content.trim() === ''
        ? presentFault(NOTHING_TO_CHECK)
        : presentLint(await lintAlone(app, input.content), { url: app.url, withJobs })
    const { valid, errors, warnings, merged_yaml, includes, jobs } = found
    return {
      status: valid ? ('valid' as const) : ('invalid' as const),
      errors,
      warnings,
      includes,
      ...(input.include_merged_yaml && { merged_yaml }),
      ...(jobs && { jobs }),
    }
  },
})

export const lintForProject = endpoint({
  method: 'POST',
  path: '/projects/:id/ci/lint',
  summary: 'Validate a CI configuration in the context of a project',
  on: lintedProject,
  allow: 'run',
  whileReadOnly: true,
  readsOnly: true,
  status: 200,
  limiter: 'git',
  input: z.object({ content: longText, dry_run: bool.nullish(), include_jobs: bool.nullish(), ref: text.nullish() }),
  output: LintEntity,
  async handle({ app, subject, input: { content, dry_run, include_jobs, ref } }) {
    if (content.trim() === '') return presentFault(NOTHING_TO_CHECK)
    const target = await lintRef(subject, ref)
    if (!target) return presentFault('Reference not found')
    const checked = await lintFor(app, subject, content, target, { dryRun: dry_run ?? false })
    return presentLint(checked, { url: app.url, withJobs: include_jobs ?? false })
  },
})

export const lintOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/ci/lint',
  summary: 'Validate the CI configuration of a project',
  on: lintedProject,
  allow: 'readConfiguration',
  alsoAsks: ['run pipelines, for a dry run'],
  limiter: 'git',
  input: z.object({
    content_ref: text.nullish(),
    sha: text.nullish(), // the former name of `content_ref`
    dry_run: bool.nullish(),
    dry_run_ref: text.nullish(),
    ref: text.nullish(), // the former name of `dry_run_ref`
    include_jobs: bool.nullish(),
  }),
  output: LintEntity,
  async handle({ app, subject, input }) {
    const dryRun = input.dry_run ?? false
    if (dryRun && !lintPolicy.run(subject)) throw forbidden()
    const revision = input.content_ref || input.sha || subject.project.default_branch
    const sha = (await repositoryExists(subject.dir)) ? await resolveCommit(subject.dir, revision) : null
    if (sha === null) throw notFound('Commit')
    const content = await readConfiguration(subject, sha)
    if (content === null) return presentFault(NOTHING_TO_CHECK)
    const target = await lintRef(subject, input.dry_run_ref || input.ref)
    if (!target) return presentFault('Reference not found')
    const checked = await lintFor(app, subject, content, { ...target, sha }, { dryRun })
    return presentLint(checked, { url: app.url, withJobs: input.include_jobs ?? false })
  },
})
